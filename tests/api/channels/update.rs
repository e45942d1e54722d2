//! `PATCH /streams/{id}`: changes, notices to the channel, and the order of errors.

use crate::support::call::Call;
use crate::support::{Channel, Params, TestServer, TestUser};
use reqwest::Method;
use serde_json::{Value, json};

fn patch(person: &TestUser, channel: &Channel, params: Params<'_>) -> Call {
    person.call(Method::PATCH, &format!("/streams/{}", channel.id), params)
}

/// The channel as a user sees it.
async fn seen(person: &TestUser, channel: &Channel) -> Value {
    person.get(&format!("/streams/{}", channel.id), &[]).ok().await["stream"].clone()
}

/// The notices to the channel as Markdown, oldest first, without that of its creation.
async fn notices(person: &TestUser, channel: &Channel) -> Vec<String> {
    let narrow = json!([["channel", channel.name], ["topic", "channel events"]]);
    let params: Params<'_> = &[
        ("anchor", &"newest"),
        ("num_before", &100),
        ("num_after", &0),
        ("narrow", &narrow),
        ("apply_markdown", &false),
    ];
    let body = person.get("/messages", params).ok().await;
    let messages = body["messages"].as_array().expect("messages");
    let contents = messages.iter().skip(1).map(|message| message["content"].as_str().expect("Markdown"));
    contents.map(str::to_owned).collect()
}

/// Parameter, value, the resulting field of the channel, and the notice after the name of the user.
type Case = (&'static str, Value, Value, Option<&'static str>);

/// Changes one property after another, and compares the channel and its newest notice each time.
async fn change_each(owner: &TestUser, reader: &TestUser, mut channel: Channel, cases: Vec<Case>) {
    let mut received = Vec::new();
    for (name, value, expected, notice) in cases {
        let text = value.as_str().map_or(value.to_string(), str::to_owned);
        let body = patch(owner, &channel, &[(name, &text)]).ok().await;
        assert_eq!(body, json!({"result": "success", "msg": ""}));
        let after = seen(reader, &channel).await;
        channel.name = after["name"].as_str().expect("a name").to_owned();
        for (key, value) in expected.as_object().expect("properties") {
            assert_eq!(&after[key], value, "{name}: {key}");
        }
        received.extend(notice.map(|text| format!("@_**{}|{}** {text}", owner.full_name, owner.id)));
        assert_eq!(notices(reader, &channel).await, received, "{name}");
        // Setting the same value again is no change and sends no notice.
        if !["new_name", "can_send_message_group"].contains(&name) {
            patch(owner, &channel, &[(name, &text)]).ok().await;
            assert_eq!(notices(reader, &channel).await, received, "{name}");
        }
    }
    // Notices of changes are unread for the user who made them; that of the creation is read.
    let unread = |messages: Vec<Value>| messages.iter().filter(|m| m["flags"] == json!([])).count();
    let narrow = json!([["channel", channel.name]]);
    assert_eq!(unread(owner.messages(narrow.clone()).await), received.len());
    assert_eq!(unread(reader.messages(narrow).await), received.len() + 1);
}

#[tokio::test]
async fn update_channel_name_description_and_privacy() {
    let t = TestServer::start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let channel = desdemona.create_channel("Verona").with(&hamlet).await;
    let cases: Vec<Case> = vec![
        (
            "description",
            json!("two\n**lines**"),
            json!({"description": "two **lines**", "rendered_description": "<p>two <strong>lines</strong></p>"}),
            Some(
                "changed the description for this channel.\n\n* **Old description:**\n\
                 ```` quote\n*No description.*\n````\n* **New description:**\n```` quote\ntwo **lines**\n````",
            ),
        ),
        (
            "new_name",
            json!(" Padua "),
            json!({"name": "Padua"}),
            Some("renamed channel **Verona** to **Padua**."),
        ),
        (
            "is_private",
            json!(true),
            json!({"invite_only": true, "history_public_to_subscribers": false}),
            Some(
                "changed the [access permissions](/help/channel-permissions) for this channel from **Public** to \
                 **Private, protected history**.",
            ),
        ),
        (
            "history_public_to_subscribers",
            json!(true),
            json!({"invite_only": true, "history_public_to_subscribers": true}),
            Some(
                "changed the [access permissions](/help/channel-permissions) for this channel from \
                 **Private, protected history** to **Private, shared history**.",
            ),
        ),
    ];
    change_each(&desdemona, &hamlet, channel, cases).await;
}

#[tokio::test]
async fn update_channel_settings() {
    let t = TestServer::start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let channel = desdemona.create_channel("Verona").with(&hamlet).await;
    let folder = desdemona.post("/channel_folders/create", &[("name", &"Italy"), ("description", &"")]);
    let folder = folder.ok().await["channel_folder_id"].clone();
    let cases: Vec<Case> = vec![
        (
            "message_retention_days",
            json!(3),
            json!({"message_retention_days": 3}),
            Some(
                "has changed the [message retention period](/help/message-retention-policy) for this \
                 channel:\n* **Old retention period**: Forever\n* **New retention period**: 3 days\n\n\
                 Messages in this channel will now be automatically deleted 3 days after they are sent.",
            ),
        ),
        (
            "can_send_message_group",
            json!({"new": 3, "old": 7}),
            json!({"can_send_message_group": 3, "stream_post_policy": 2, "is_announcement_only": true}),
            Some(
                "changed the [posting permissions](/help/channel-posting-policy) for this channel:\n\n\
                 * **Old**: @_*role:everyone*\n\
                 * **New**: @_*role:administrators*",
            ),
        ),
        (
            "topics_policy",
            json!("disable_empty_topic"),
            json!({"topics_policy": "disable_empty_topic"}),
            None,
        ),
        ("folder_id", folder.clone(), json!({"folder_id": folder}), None),
        (
            "can_subscribe_group",
            json!({"new": {"direct_members": [hamlet.id], "direct_subgroups": [4]}}),
            json!({"can_subscribe_group": {"direct_members": [hamlet.id], "direct_subgroups": [4]}}),
            None,
        ),
    ];
    change_each(&desdemona, &hamlet, channel, cases).await;
}

#[tokio::test]
async fn update_channel_accepts_plain_and_json_strings() {
    let t = TestServer::start().await;
    let desdemona = t.user("desdemona");
    let channel = desdemona.create_channel("Verona").await;
    for (name, value, key, expected) in [
        ("topics_policy", "\"allow_empty_topic\"", "topics_policy", json!("allow_empty_topic")),
        ("topics_policy", "inherit", "topics_policy", json!("inherit")),
        ("message_retention_days", "\"unlimited\"", "message_retention_days", json!(-1)),
        ("message_retention_days", "12", "message_retention_days", json!(12)),
        ("message_retention_days", "realm_default", "message_retention_days", Value::Null),
        ("folder_id", "null", "folder_id", Value::Null),
    ] {
        patch(&desdemona, &channel, &[(name, &value)]).ok().await;
        assert_eq!(seen(&desdemona, &channel).await[key], expected, "{name} {value}");
    }
}

#[tokio::test]
async fn update_channel_permissions() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet, othello, polonius] =
        t.users(["desdemona", "iago", "hamlet", "othello", "polonius"]);
    let open = desdemona.create_channel("open").await;
    let secret = hamlet.create_channel("secret").private().with(&polonius).await;
    let not_yours = "You do not have permission to administer this channel.";
    for (who, channel, msg) in [
        (&hamlet, &open, Some(not_yours)),
        (&polonius, &open, Some("Invalid channel ID")),
        (&othello, &secret, Some("Invalid channel ID")),
        (&polonius, &secret, Some(not_yours)),
        (&iago, &secret, None),
        (&hamlet, &secret, None),
    ] {
        let text = format!("by {}", who.full_name);
        let call = patch(who, channel, &[("description", &text)]);
        match msg {
            Some(msg) => call.bad(msg).await,
            None => drop(call.ok().await),
        }
    }
    let nowhere = Channel { id: 999, name: "nowhere".into() };
    patch(&iago, &nowhere, &[("description", &"x")]).bad("Invalid channel ID").await;
    // An administrator outside a private channel cannot change its privacy.
    let outside = "Channel content access is required.";
    patch(&iago, &secret, &[("is_private", &false)]).bad(outside).await;
    patch(&iago, &secret, &[("history_public_to_subscribers", &true)]).bad(outside).await;
    for permission in ["can_subscribe_group", "can_add_subscribers_group"] {
        let change = json!({"new": {"direct_members": [iago.id], "direct_subgroups": []}});
        patch(&iago, &secret, &[(permission, &change)]).bad(outside).await;
    }
    let seen = seen(&iago, &secret).await;
    assert_eq!(seen["can_subscribe_group"], json!(1));
    assert_eq!(seen["history_public_to_subscribers"], json!(false));
}

#[tokio::test]
async fn update_channel_errors() {
    let t = TestServer::start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let channel = hamlet.create_channel("Verona").await;
    desdemona.create_channel("Padua").await;
    hamlet.send(&channel, "named", "x").await;
    let (long, long_name) = ("x".repeat(1025), "x".repeat(61));
    let change = |new: Value| json!({"new": new}).to_string();
    let named = change(json!(99));
    let cases: Vec<(&TestUser, &str, &str, &str)> = vec![
        (&hamlet, "description", &long, "description is too long (limit: 1024 characters)"),
        (&hamlet, "new_name", "Verona ", "Channel already has that name."),
        (&hamlet, "new_name", " ", "Channel name can't be empty."),
        (&hamlet, "new_name", &long_name, "Channel name too long (limit: 60 characters)."),
        (&hamlet, "new_name", "a\u{7}", "Invalid character in channel name, at position 2."),
        (&hamlet, "topics_policy", "sometimes", "Invalid topics_policy"),
        (&hamlet, "is_web_public", "true", "Web-public channels are not enabled."),
        (&hamlet, "history_public_to_subscribers", "false", "Invalid parameters"),
        (&hamlet, "is_default_stream", "true", "You do not have permission to change default channels."),
        (&hamlet, "is_archived", "false", "Channel is not currently deactivated"),
        (&hamlet, "folder_id", "99", "Invalid channel folder ID"),
        (&hamlet, "can_delete_any_message_group", &named, "Insufficient permission"),
        (&hamlet, "can_send_message_group", "5", "can_send_message_group is not a dict"),
        (&hamlet, "can_send_message_group", "{}", "Invalid can_send_message_group"),
        (&hamlet, "can_send_message_group", &named, "Invalid user group"),
        (
            &desdemona,
            "topics_policy",
            "empty_topic_only",
            "To enable this configuration, all messages in this channel must be in the general chat topic. \
             Consider renaming or deleting other topics.",
        ),
    ];
    let before = seen(&hamlet, &channel).await;
    for (who, name, value, msg) in cases {
        let answer = patch(who, &channel, &[(name, &value)]).await;
        assert_eq!((answer.status, &answer.body["msg"]), (400, &json!(msg)), "{name}={value}");
        assert_eq!(answer.body["code"], "BAD_REQUEST", "{name}={value}");
    }
    assert_eq!(seen(&hamlet, &channel).await, before);
}

#[tokio::test]
async fn update_channel_errors_with_extra_fields() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    let channel = hamlet.create_channel("Verona").await;
    desdemona.create_channel("Padua").await;
    let before = seen(&hamlet, &channel).await;
    let forbidden =
        |setting: &str, group: &str| format!("'{setting}' setting cannot be set to '{group}' group.");
    for (setting, group, name) in [
        ("can_send_message_group", 8, "role:internet"),
        ("can_subscribe_group", 7, "role:everyone"),
        ("can_administer_channel_group", 7, "role:everyone"),
        ("can_add_subscribers_group", 7, "role:everyone"),
    ] {
        let new = json!({"new": group});
        patch(&hamlet, &channel, &[(setting, &new)]).bad(&forbidden(setting, name)).await;
    }
    let owner = json!({"msg": "Must be an organization owner", "code": "UNAUTHORIZED_PRINCIPAL"});
    patch(&iago, &channel, &[("message_retention_days", &3)]).refused(400, owner).await;
    for bad in ["0", "-1", "\"sometimes\"", "3.5"] {
        let (text, value) = (bad.trim_matches('"'), serde_json::from_str::<Value>(bad).unwrap());
        let body = json!({
            "msg": format!("Bad value for 'message_retention_days': {text}"),
            "code": "REQUEST_VARIABLE_INVALID", "var_name": "message_retention_days", "bad_value": value,
        });
        patch(&desdemona, &channel, &[("message_retention_days", &bad)]).refused(400, body).await;
    }
    let taken = json!({
        "msg": "Channel 'PADUA' already exists", "code": "CHANNEL_ALREADY_EXISTS", "channel_name": "PADUA"
    });
    patch(&hamlet, &channel, &[("new_name", &"PADUA")]).refused(409, taken).await;
    let mismatch = json!({
        "msg": "'old' value does not match the expected value.", "code": "EXPECTATION_MISMATCH",
        "field_name": "old",
    });
    let stale = json!({"new": 3, "old": 4});
    patch(&hamlet, &channel, &[("can_send_message_group", &stale)]).refused(400, mismatch).await;
    assert_eq!(seen(&hamlet, &channel).await, before);
}

#[tokio::test]
async fn update_channel_applies_parameters_before_the_first_error() {
    let t = TestServer::start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let channel = hamlet.create_channel("Verona").with(&desdemona).await;
    let params: Params<'_> =
        &[("description", &"new"), ("new_name", &"Padua"), ("folder_id", &99), ("is_private", &true)];
    patch(&hamlet, &channel, params).bad("Invalid channel folder ID").await;
    let after = seen(&desdemona, &channel).await;
    for (key, value) in
        [("description", json!("new")), ("name", json!("Padua")), ("invite_only", json!(true))]
    {
        assert_eq!(after[key], value, "{key}");
    }
    // Invalid combinations of parameters are refused before any is applied.
    let params: Params<'_> = &[("description", &"newer"), ("is_web_public", &true)];
    patch(&hamlet, &channel, params).bad("Invalid parameters").await;
    assert_eq!(seen(&desdemona, &channel).await["description"], json!("new"));
}

#[tokio::test]
async fn update_channel_to_private_removes_access() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let channel = hamlet.create_channel("Verona").await;
    let id = hamlet.send(&channel, "t", "x").await;
    othello.get(&format!("/messages/{id}"), &[]).ok().await;
    patch(&hamlet, &channel, &[("is_private", &true)]).ok().await;
    othello.get(&format!("/messages/{id}"), &[]).bad("Invalid message(s)").await;
    othello.get(&format!("/streams/{}", channel.id), &[]).bad("Invalid channel ID").await;
    // Being an administrator shows that the channel exists, not its content.
    assert_eq!(seen(&iago, &channel).await["invite_only"], json!(true));
    iago.get(&format!("/messages/{id}"), &[]).bad("Invalid message(s)").await;
    patch(&hamlet, &channel, &[("is_private", &false)]).ok().await;
    othello.get(&format!("/messages/{id}"), &[]).ok().await;
    assert_eq!(seen(&othello, &channel).await["history_public_to_subscribers"], json!(true));
}

#[tokio::test]
async fn update_channel_notice_in_empty_topic() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let channel = hamlet.create_channel("Verona").set("topics_policy", json!("empty_topic_only")).await;
    patch(&hamlet, &channel, &[("new_name", &"Padua")]).ok().await;
    let messages = hamlet.messages(json!([["channel", "Padua"]])).await;
    let topics: Vec<&Value> = messages.iter().map(|message| &message["subject"]).collect();
    assert_eq!(topics, [&json!("general chat"), &json!("general chat")]);
}

/// The newest notice to the channel as HTML.
async fn newest_notice(person: &TestUser, channel: &Channel) -> String {
    let narrow = json!([
        {"operator": "channel", "operand": channel.id},
        {"operator": "topic", "operand": "channel events"},
    ]);
    let messages = person.messages(narrow).await;
    messages.last().expect("a notice")["content"].as_str().expect("HTML").to_owned()
}

#[tokio::test]
async fn notices_of_changes_have_formulas_of_descriptions_and_none_of_names() {
    let t = TestServer::start().await;
    let desdemona = t.user("desdemona");
    let channel = desdemona.create_channel("Verona").await;
    for (text, formulas) in [("area $$a_{notice}^2$$", 1), ("volume $$a_{notice}^3$$", 2)] {
        patch(&desdemona, &channel, &[("description", &text)]).ok().await;
        let html = newest_notice(&desdemona, &channel).await;
        assert_eq!(html.matches("class=\"katex\"").count(), formulas, "{html}");
    }
    // Rendering a new formula would hold up all that the organization decides.
    patch(&desdemona, &channel, &[("new_name", &"$$n_{notice}$$")]).ok().await;
    let html = newest_notice(&desdemona, &channel).await;
    assert!(html.contains("$$n_{notice}$$") && !html.contains("katex"), "{html}");
}
