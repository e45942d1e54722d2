//! `PATCH /realm`.

use crate::api::groups::group_id;
use crate::support::shape::fields;
use crate::support::{Param, Params, TestServer, TestUser};
use reqwest::Method;
use serde_json::{Value, json};

/// The realm settings in the state of a registration.
async fn settings(person: &TestUser) -> Vec<(String, Value)> {
    let state = person.register().set("fetch_event_types", json!(["realm"])).await.state;
    let all = state.as_object().expect("an object").clone().into_iter();
    all.filter(|(name, _)| name.starts_with("realm_")).collect()
}

#[tokio::test]
async fn update_realm_settings_events() {
    let t = TestServer::start().await;
    let [iago, polonius] = t.users(["iago", "polonius"]);
    let mut queue = polonius.register().modern().events(&["realm"]).await;
    let moderators = group_id(&t, "role:moderators");
    let listed = json!({"direct_members": [iago.id], "direct_subgroups": [moderators]});
    let params: Params<'_> = &[
        ("name", &" Elsinore "),
        ("description", &"A castle."),
        ("allow_message_editing", &false),
        ("message_content_edit_limit_seconds", &300),
        ("message_content_delete_limit_seconds", &"\"unlimited\""),
        ("move_messages_within_stream_limit_seconds", &"unlimited"),
        ("move_messages_between_streams_limit_seconds", &"null"),
        ("message_edit_history_visibility_policy", &"moves"),
        ("topics_policy", &"disable_empty_topic"),
        ("enable_read_receipts", &false),
        ("can_add_subscribers_group", &json!({"new": moderators, "old": group_id(&t, "role:members")})),
        ("direct_message_permission_group", &json!({"new": listed})),
        ("can_resolve_topics_group", &moderators),
        ("odd", &1),
    ];
    let body = iago.call(Method::PATCH, "/realm", params).ok().await;
    assert_eq!(
        (fields(&body), &body["ignored_parameters_unsupported"]),
        (vec!["ignored_parameters_unsupported"], &json!(["odd"]))
    );
    let expected = json!({
        "name": "Elsinore",
        "description": "A castle.",
        "allow_message_editing": false,
        "message_content_edit_limit_seconds": 300,
        "message_content_delete_limit_seconds": null,
        "move_messages_within_stream_limit_seconds": null,
        "move_messages_between_streams_limit_seconds": null,
        "message_edit_history_visibility_policy": "moves",
        "topics_policy": "disable_empty_topic",
        "mandatory_topics": true,
        "enable_read_receipts": false,
        "can_add_subscribers_group": moderators,
        "direct_message_permission_group": listed,
        "can_resolve_topics_group": moderators,
    });
    let mut received = json!({});
    for event in queue.now().await {
        assert_eq!((&event["type"], &event["op"]), (&json!("realm"), &json!("update_dict")));
        received.as_object_mut().unwrap().extend(event["data"].as_object().unwrap().clone());
    }
    let fresh = polonius.register().await.state;
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&received[name], value, "{name}");
        assert_eq!(&fresh[format!("realm_{name}")], value, "{name}");
    }
}

#[tokio::test]
async fn update_realm_without_change_sends_no_event() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let mut queue = iago.register().modern().events(&["realm"]).await;
    let members = group_id(&t, "role:members");
    let params: Params<'_> = &[
        ("allow_message_editing", &true),
        ("message_content_edit_limit_seconds", &600),
        ("can_add_subscribers_group", &json!({"new": members})),
        ("can_create_bots_group", &json!({"direct_members": [], "direct_subgroups": [members]})),
        ("mandatory_topics", &false),
    ];
    iago.call(Method::PATCH, "/realm", params).ok().await;
    iago.call(Method::PATCH, "/realm", &[]).ok().await;
    assert_eq!(queue.now().await, Vec::<Value>::new());
}

#[tokio::test]
async fn update_realm_notice_channels() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let news = iago.create_channel("news").with(&hamlet).await;
    let core = iago.create_channel("core").private().await;
    let mut queue = hamlet.register().modern().events(&["realm"]).await;
    let params: Params<'_> = &[
        ("new_stream_announcements_stream_id", &news.id),
        ("moderation_request_channel_id", &core.id),
        ("signup_announcements_stream_id", &-1),
    ];
    iago.call(Method::PATCH, "/realm", params).ok().await;
    let event = queue.next().await;
    let data =
        json!({"new_stream_announcements_stream_id": news.id, "moderation_request_channel_id": core.id});
    assert_eq!(event["data"], data);
    // New channels are announced there.
    iago.create_channel("balcony").set("announce", json!(true)).await;
    let messages = hamlet.messages(json!([{"operator": "channel", "operand": news.id}])).await;
    assert_eq!(messages.last().unwrap()["subject"], "new channels");
    iago.call(Method::PATCH, "/realm", &[("new_stream_announcements_stream_id", &-1)]).ok().await;
    assert_eq!(queue.next().await["data"], json!({"new_stream_announcements_stream_id": -1}));
    for (name, id, msg) in [
        ("new_stream_announcements_stream_id", 999, "Invalid channel ID"),
        ("moderation_request_channel_id", news.id, "Moderation request channel must be private."),
    ] {
        iago.call(Method::PATCH, "/realm", &[(name, &id)]).bad(msg).await;
    }
}

#[tokio::test]
async fn update_realm_rules_apply_immediately() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let role_nobody = group_id(&t, "role:nobody");
    let to = json!([cordelia.id]);
    let params: Params<'_> = &[("type", &"direct"), ("to", &to), ("content", &"hi")];
    hamlet.post("/messages", params).ok().await;
    let change = json!({"new": role_nobody});
    iago.call(Method::PATCH, "/realm", &[("direct_message_permission_group", &change)]).ok().await;
    hamlet.post("/messages", params).bad("Direct messages are disabled in this organization.").await;
    let members = json!({"new": group_id(&t, "role:administrators")});
    iago.call(Method::PATCH, "/realm", &[("can_create_public_channel_group", &members)]).ok().await;
    let params: Params<'_> = &[("name", &"new"), ("subscribers", &"[]")];
    hamlet.post("/channels/create", params).bad("Insufficient permission").await;
}

#[tokio::test]
async fn update_realm_owner_only_settings() {
    let t = TestServer::start().await;
    let [desdemona, iago, shiva] = t.users(["desdemona", "iago", "shiva"]);
    let owners = json!({"new": group_id(&t, "role:owners")});
    let cases: [Param<'_>; 8] = [
        ("message_retention_days", &30),
        ("waiting_period_threshold", &3),
        ("invite_required", &false),
        ("emails_restricted_to_domains", &true),
        ("disallow_disposable_email_addresses", &false),
        ("create_multiuse_invite_group", &owners),
        ("can_create_groups", &owners),
        ("can_manage_all_groups", &owners),
    ];
    let gate = |who: &str| json!({"msg": format!("Must be an organization {who}"), "code": "UNAUTHORIZED_PRINCIPAL"});
    for case in cases {
        shiva.call(Method::PATCH, "/realm", &[case]).refused(400, gate("administrator")).await;
        iago.call(Method::PATCH, "/realm", &[case]).refused(400, gate("owner")).await;
        desdemona.call(Method::PATCH, "/realm", &[case]).ok().await;
    }
    let state = desdemona.register().await.state;
    assert_eq!(
        (&state["realm_message_retention_days"], &state["realm_waiting_period_threshold"]),
        (&json!(30), &json!(3))
    );
    desdemona.call(Method::PATCH, "/realm", &[("message_retention_days", &"\"unlimited\"")]).ok().await;
    assert_eq!(desdemona.register().await.state["realm_message_retention_days"], -1);
}

#[tokio::test]
async fn update_realm_errors() {
    let t = TestServer::start().await;
    let desdemona = t.user("desdemona");
    let before = settings(&desdemona).await;
    let (everyone, members) = (group_id(&t, "role:everyone"), group_id(&t, "role:members"));
    for (name, value) in [
        ("message_content_edit_limit_seconds", "0"),
        ("message_content_delete_limit_seconds", "-5"),
        ("move_messages_within_stream_limit_seconds", "soon"),
        ("message_retention_days", "0"),
        ("message_retention_days", "true"),
    ] {
        let bad_value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
        let refusal = json!({
            "msg": format!("Bad value for '{name}': {value}"),
            "code": "REQUEST_VARIABLE_INVALID", "var_name": name, "bad_value": bad_value,
        });
        // With one invalid parameter, valid ones are not applied either.
        let params: Params<'_> = &[("allow_message_editing", &false), (name, &value)];
        desdemona.call(Method::PATCH, "/realm", params).refused(400, refusal).await;
    }
    let long = "n".repeat(1001);
    for (name, value, msg) in [
        ("name", "".to_owned(), "name cannot be blank".to_owned()),
        ("name", long[..41].to_owned(), "name is too long (limit: 40 characters)".to_owned()),
        ("name", "A\nB".to_owned(), "Invalid characters in name!".to_owned()),
        ("description", long, "description is too long (limit: 1000 characters)".to_owned()),
        ("allow_message_editing", "1".to_owned(), "allow_message_editing is not a boolean".to_owned()),
        ("topics_policy", "any".to_owned(), "Invalid topics_policy".to_owned()),
        (
            "message_edit_history_visibility_policy",
            "some".to_owned(),
            "Invalid message_edit_history_visibility_policy".to_owned(),
        ),
        ("default_language", "Klingon".to_owned(), "Invalid default_language".to_owned()),
        ("digest_weekday", "7".to_owned(), "digest_weekday is too large".to_owned()),
        ("waiting_period_threshold", "-1".to_owned(), "waiting_period_threshold is too small".to_owned()),
        ("video_chat_provider", "9".to_owned(), "Invalid video_chat_provider".to_owned()),
        ("can_add_subscribers_group", "{\"new\":999}".to_owned(), "Invalid user group".to_owned()),
        (
            "can_add_subscribers_group",
            json!({"new": everyone}).to_string(),
            "'can_add_subscribers_group' setting cannot be set to 'role:everyone' group.".to_owned(),
        ),
        (
            "can_create_web_public_channel_group",
            json!({"new": members}).to_string(),
            "'can_create_web_public_channel_group' setting cannot be set to 'role:members' group.".to_owned(),
        ),
    ] {
        let params: Params<'_> = &[("enable_read_receipts", &false), (name, &value)];
        desdemona.call(Method::PATCH, "/realm", params).bad(&msg).await;
    }
    assert_eq!(settings(&desdemona).await, before);
}

#[tokio::test]
async fn update_realm_errors_with_extra_fields() {
    let t = TestServer::start().await;
    let desdemona = t.user("desdemona");
    let (everyone, members) = (group_id(&t, "role:everyone"), group_id(&t, "role:members"));
    let only = json!({"direct_members": [desdemona.id], "direct_subgroups": []});
    let refusal = json!({
        "msg": "'can_create_web_public_channel_group' must be a system user group.",
        "code": "SYSTEM_GROUP_REQUIRED", "setting_name": "can_create_web_public_channel_group",
    });
    let params: Params<'_> = &[("can_create_web_public_channel_group", &json!({"new": only}))];
    desdemona.call(Method::PATCH, "/realm", params).refused(400, refusal).await;
    let refusal = json!({
        "msg": "'old' value does not match the expected value.",
        "code": "EXPECTATION_MISMATCH", "field_name": "old",
    });
    let params: Params<'_> = &[("can_add_subscribers_group", &json!({"new": members, "old": everyone}))];
    desdemona.call(Method::PATCH, "/realm", params).refused(400, refusal).await;
}

#[tokio::test]
async fn update_realm_setting_groups_omit_deactivated_users() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let ghost = t.user("ghost").id;
    let listed = json!({"new": {"direct_members": [iago.id, ghost], "direct_subgroups": []}});
    let msg = format!("Invalid user ID: {ghost}");
    iago.call(Method::PATCH, "/realm", &[("can_add_subscribers_group", &listed)]).bad(&msg).await;
}
