//! `POST /channels/create`.

use crate::support::shape::fields;
use crate::support::{Params, TestServer};
use serde_json::{Value, json};

#[tokio::test]
async fn create_channel_notice() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let cases = [
        ("a", json!({}), "Public"),
        ("b", json!({"invite_only": true}), "Private, protected history"),
        ("c", json!({"invite_only": true, "history_public_to_subscribers": true}), "Private, shared history"),
    ];
    for (name, more, kind) in cases {
        let mut create = iago.create_channel(name).with(&hamlet);
        for (key, value) in more.as_object().unwrap() {
            create = create.set(
                if key == "invite_only" { "invite_only" } else { "history_public_to_subscribers" },
                value.clone(),
            );
        }
        let channel = create.await;
        let messages = hamlet.messages(json!([{"operator": "channel", "operand": channel.id}])).await;
        assert_eq!(messages.len(), 1);
        let notice = &messages[0];
        assert_eq!(
            (&notice["subject"], &notice["sender_full_name"]),
            (&json!("channel events"), &json!("Notification Bot"))
        );
        let path = format!("/messages/{}", notice["id"]);
        let raw = hamlet.get(&path, &[("apply_markdown", &false)]).ok().await["message"]["content"].clone();
        let expected = format!(
            "**{kind}** channel created by @_**Iago|{}**. **Description:**\n```` quote\n*No description.*\n````",
            iago.id
        );
        assert_eq!(raw, expected);
        // The notice is read for the creator and unread for other subscribers.
        let mine = iago.messages(json!([{"operator": "id", "operand": notice["id"]}])).await;
        assert_eq!(mine[0]["flags"], json!(["read"]));
        assert_eq!(notice["flags"], json!([]));
    }
}

#[tokio::test]
async fn create_channel_without_subscribers_sends_no_notice() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let params: Params<'_> = &[("name", &" empty "), ("subscribers", &"[]")];
    let body = iago.post("/channels/create", params).ok().await;
    assert_eq!(fields(&body), ["id"]);
    let stream = iago.get(&format!("/streams/{}", body["id"]), &[]).ok().await["stream"].clone();
    assert_eq!((&stream["name"], &stream["subscriber_count"]), (&json!("empty"), &json!(0)));
    assert_eq!(stream["first_message_id"], Value::Null);
}

#[tokio::test]
async fn create_channel_with_settings() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let params: Params<'_> = &[
        ("name", &"Verona"),
        ("subscribers", &"[]"),
        ("description", &"two\nlines"),
        ("topics_policy", &"\"disable_empty_topic\""),
        ("can_send_message_group", &3),
        ("can_administer_channel_group", &json!({"direct_members": [], "direct_subgroups": [4]})),
        ("is_default_stream", &true),
    ];
    let id = iago.post("/channels/create", params).ok().await["id"].clone();
    let body = iago.get("/streams", &[("include_default", &true)]).ok().await;
    let stream = &body["streams"][0];
    let expected = json!({
        "stream_id": id, "description": "two lines", "topics_policy": "disable_empty_topic",
        "can_send_message_group": 3, "can_administer_channel_group": 4, "is_default": true,
        "stream_post_policy": 2, "is_announcement_only": true,
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&stream[key], value, "{key}");
    }
}

#[tokio::test]
async fn create_channel_duplicate_names() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    iago.create_channel("Verona").private().await;
    for name in ["Verona", "VERONA", " verona "] {
        let body = json!({
            "msg": format!("Channel '{}' already exists", name.trim()), "code": "CHANNEL_ALREADY_EXISTS",
            "channel_name": name.trim(),
        });
        let params: Params<'_> = &[("name", &name), ("subscribers", &"[]")];
        let answer = hamlet.post("/channels/create", params).await;
        assert_eq!((answer.status, &answer.body["code"]), (409, &body["code"]), "{answer:?}");
        if name == "Verona" {
            answer.refused(409, body);
        }
    }
}

#[tokio::test]
async fn create_channel_errors() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius, ghost] = t.users(["iago", "hamlet", "polonius", "ghost"]);
    let create: Params<'_> = &[("name", &"Verona"), ("subscribers", &"[]")];
    polonius.post("/channels/create", create).bad("Not allowed for guest users").await;
    let missing = |name: &str| {
        json!({
            "msg": format!("Missing '{name}' argument"), "code": "REQUEST_VARIABLE_MISSING", "var_name": name
        })
    };
    hamlet.post("/channels/create", &[("subscribers", &"[]")]).refused(400, missing("name")).await;
    hamlet.post("/channels/create", &[("name", &"Verona")]).refused(400, missing("subscribers")).await;
    let long = "x".repeat(61);
    for (name, msg) in [
        ("  ", "name cannot be blank"),
        (&long, "Channel name too long (limit: 60 characters)."),
        ("a\nb", "Invalid character in channel name, at position 2."),
    ] {
        hamlet.post("/channels/create", &[("name", &name), ("subscribers", &"[]")]).bad(msg).await;
    }
    let description = "x".repeat(1025);
    let unknown = json!([99_999]);
    let deactivated = json!([ghost.id]);
    let (deep, bad_member) = (json!(999), json!({"direct_members": [99_999], "direct_subgroups": []}));
    let cases: &[(&str, &(dyn std::fmt::Display + Sync), &str)] = &[
        ("description", &description, "description is too long (limit: 1024 characters)"),
        ("subscribers", &unknown, "Invalid user ID: 99999"),
        ("subscribers", &deactivated, "User is deactivated"),
        ("subscribers", &"5", "subscribers is not a list"),
        ("topics_policy", &"\"sometimes\"", "Invalid topics_policy"),
        ("is_default_stream", &true, "Insufficient permission"),
        ("invite_only", &"yes", "invite_only is not valid JSON"),
        ("can_send_message_group", &deep, "Invalid user group"),
        ("can_send_message_group", &bad_member, "Invalid user ID: 99999"),
    ];
    for (name, value, msg) in cases {
        let mut params: Vec<_> = create.iter().copied().filter(|(other, _)| other != name).collect();
        params.push((name, *value));
        hamlet.post("/channels/create", &params).bad(msg).await;
    }
    let private: Params<'_> =
        &[("name", &"x"), ("subscribers", &"[]"), ("invite_only", &true), ("is_default_stream", &true)];
    iago.post("/channels/create", private).bad("A default channel cannot be private.").await;
    let body = iago.get("/streams", &[("include_all", &true)]).ok().await;
    assert_eq!(body["streams"], json!([]), "a refusal leaves nothing behind");
}

#[tokio::test]
async fn create_channel_announcement() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let news = iago.create_channel("news").with(&hamlet).await;
    let chosen: Params<'_> = &[("new_stream_announcements_stream_id", &news.id)];
    iago.call(reqwest::Method::PATCH, "/realm", chosen).ok().await;
    let received = json!([["channel", "news"], ["topic", "new channels"]]);
    hamlet.create_channel("quiet").await;
    hamlet.create_channel("Verona").set("announce", json!(true)).await;
    let messages = iago.messages(received.clone()).await;
    assert_eq!(messages.len(), 1);
    let path = format!("/messages/{}", messages[0]["id"]);
    let raw = iago.get(&path, &[("apply_markdown", &false)]).ok().await["message"]["content"].clone();
    assert_eq!(raw, format!("@_**King Hamlet|{}** created a new channel #**Verona**.", hamlet.id));
    assert_eq!(messages[0]["flags"], json!([]));
    // The creator has read the announcement.
    assert_eq!(hamlet.messages(received).await[0]["flags"], json!(["read"]));
}

#[tokio::test]
async fn create_channel_retention_is_for_owners() {
    let t = TestServer::start().await;
    let [desdemona, iago] = t.users(["desdemona", "iago"]);
    let create = |who: &crate::support::TestUser, name: &'static str, days: &'static str| {
        let params: Params<'_> =
            &[("name", &name), ("subscribers", &"[]"), ("message_retention_days", &days)];
        who.post("/channels/create", params)
    };
    let owner = json!({"msg": "Must be an organization owner", "code": "UNAUTHORIZED_PRINCIPAL"});
    create(&iago, "a", "3").refused(400, owner.clone()).await;
    create(&iago, "a", "\"unlimited\"").refused(400, owner).await;
    create(&iago, "a", "\"realm_default\"").ok().await;
    let bad = json!({
        "msg": "Bad value for 'message_retention_days': 0", "code": "REQUEST_VARIABLE_INVALID",
        "var_name": "message_retention_days", "bad_value": 0,
    });
    create(&desdemona, "b", "0").refused(400, bad).await;
    for (name, days, expected) in [("b", "3", json!(3)), ("c", "\"unlimited\"", json!(-1))] {
        let id = create(&desdemona, name, days).ok().await["id"].clone();
        let stream = desdemona.get(&format!("/streams/{id}"), &[]).ok().await["stream"].clone();
        assert_eq!(stream["message_retention_days"], expected, "{days}");
    }
}
