//! The empty topic: three spellings in requests, two in responses (docs/api/topics.md#topic-names).

use crate::support::{Channel, Param, Params, TestServer, TestUser};
use reqwest::Method;
use serde_json::{Value, json};

const DISPLAY_NAME: &str = "general chat";

async fn say(who: &TestUser, channel: &Channel, topic: &str) -> crate::support::ApiResponse {
    let params: Params<'_> =
        &[("type", &"channel"), ("to", &channel.id), ("topic", &topic), ("content", &"hi")];
    who.post("/messages", params).await
}

#[tokio::test]
async fn empty_topic_name_by_client_capability() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let mut modern = hamlet.register().modern().events(&["message"]).await;
    let mut older = hamlet.register().events(&["message"]).await;
    let mut ids = Vec::new();
    for topic in ["", "(no topic)", " general chat "] {
        ids.push(say(&iago, &verona, topic).await.ok()["id"].clone());
        assert_eq!(modern.next().await["message"]["subject"], "");
        assert_eq!(older.next().await["message"]["subject"], DISPLAY_NAME);
    }
    // Only in exactly this spelling.
    assert_eq!(say(&iago, &verona, "General chat").await.status, 200);
    assert_eq!(modern.next().await["message"]["subject"], "General chat");
    older.next().await;
    let shown = |value: bool| if value { "" } else { DISPLAY_NAME };
    for allows in [true, false] {
        let narrow = json!([["channel", "Verona"], ["topic", ""]]);
        let params: Params<'_> = &[
            ("anchor", &"newest"),
            ("num_before", &10),
            ("narrow", &narrow),
            ("allow_empty_topic_name", &allows),
        ];
        let body = hamlet.get("/messages", params).ok().await;
        let messages = body["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 3, "{body}");
        assert!(messages.iter().all(|message| message["subject"] == shown(allows)));
        let one = format!("/messages/{}", ids[0]);
        let one = hamlet.get(&one, &[("allow_empty_topic_name", &allows)]).ok().await;
        assert_eq!(one["message"]["subject"], shown(allows));
        let topics = format!("/users/me/{}/topics", verona.id);
        let topics = hamlet.get(&topics, &[("allow_empty_topic_name", &allows)]).ok().await;
        let names: Vec<&Value> =
            topics["topics"].as_array().unwrap().iter().map(|topic| &topic["name"]).collect();
        assert_eq!(names[..2], [&json!("General chat"), &json!(shown(allows))]);
    }
    // Narrows find it by each of its names.
    for topic in ["", "(no topic)", DISPLAY_NAME] {
        let narrow = json!([["channel", "Verona"], ["topic", topic]]);
        assert_eq!(hamlet.message_ids(narrow).await.len(), 3, "{topic}");
    }
}

#[tokio::test]
async fn empty_topic_in_typing_flags_and_unread() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let mut ids = Vec::new();
    for topic in ["", "(no topic)", DISPLAY_NAME, "General chat"] {
        ids.push(say(&iago, &verona, topic).await.ok()["id"].clone());
    }
    let kinds = ["update_message_flags", "typing"];
    let mut modern = hamlet.register().modern().events(&kinds).await;
    let typing = json!({"stream_typing_notifications": true});
    let mut older = hamlet.register().events(&kinds).set("client_capabilities", typing).await;
    for (topic, op) in [("(no topic)", "start"), (DISPLAY_NAME, "stop")] {
        let params: Params<'_> =
            &[("type", &"channel"), ("op", &op), ("stream_id", &verona.id), ("topic", &topic)];
        iago.post("/typing", params).ok().await;
        assert_eq!(modern.next().await["topic"], "");
        assert_eq!(older.next().await["topic"], DISPLAY_NAME);
    }
    let params: Params<'_> = &[("stream_id", &verona.id), ("topic_name", &DISPLAY_NAME)];
    hamlet.post("/mark_topic_as_read", params).ok().await;
    assert_eq!(modern.next().await["messages"].as_array().unwrap().len(), 3);
    older.next().await;
    hamlet.flag("remove", "read", &[ids[0].as_u64().unwrap()]).await;
    let detail = |event: &Value| event["message_details"][ids[0].to_string()]["topic"].clone();
    assert_eq!(detail(&modern.next().await), "");
    assert_eq!(detail(&older.next().await), DISPLAY_NAME);
    for (registration, expected) in [(hamlet.register().modern(), ""), (hamlet.register(), DISPLAY_NAME)] {
        let state = registration.await.state;
        let topics = state["unread_msgs"]["streams"].as_array().unwrap().iter();
        let topic = topics.map(|unread| &unread["topic"]).find(|topic| *topic != "General chat");
        assert_eq!(topic, Some(&json!(expected)));
    }
}

#[tokio::test]
async fn empty_topic_in_moves_and_deletions() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let id = say(&iago, &verona, "named").await.ok()["id"].clone();
    let kinds = ["update_message", "delete_message"];
    let mut modern = hamlet.register().modern().events(&kinds).await;
    let mut older = hamlet.register().events(&kinds).await;
    let path = format!("/messages/{id}");
    let quiet: [Param<'_>; 2] =
        [("send_notification_to_new_thread", &false), ("send_notification_to_old_thread", &false)];
    for (topic, before, after) in
        [("(no topic)", "named", ""), ("named", "", "named"), (DISPLAY_NAME, "named", "")]
    {
        let params = [&quiet[..], &[("topic", &topic)]].concat();
        iago.call(Method::PATCH, &path, &params).ok().await;
        let event = modern.next().await;
        assert_eq!((&event["orig_subject"], &event["subject"]), (&json!(before), &json!(after)));
        let event = older.next().await;
        let shown = |topic: &'static str| json!(if topic.is_empty() { DISPLAY_NAME } else { topic });
        assert_eq!((&event["orig_subject"], &event["subject"]), (&shown(before), &shown(after)));
    }
    for (allows, expected) in [(true, ""), (false, DISPLAY_NAME)] {
        let allow: Params<'_> = &[("allow_empty_topic_name", &allows)];
        let message = &hamlet.get(&path, allow).ok().await["message"];
        let newest = &message["edit_history"][0];
        assert_eq!(
            (&newest["topic"], &newest["prev_topic"]),
            (&json!(expected), &json!("named")),
            "{message}"
        );
        assert_eq!(message["edit_history"][1]["prev_topic"], expected);
        let history = hamlet.get(&format!("{path}/history"), allow).ok().await;
        let snapshots = history["message_history"].as_array().unwrap();
        let topics: Vec<&Value> = snapshots.iter().map(|snapshot| &snapshot["topic"]).collect();
        assert_eq!(topics, [&json!("named"), &json!(expected), &json!("named"), &json!(expected)]);
        assert_eq!(snapshots[2]["prev_topic"], expected);
    }
    iago.delete(&path, &[]).ok().await;
    assert_eq!(modern.next().await["topic"], "");
    assert_eq!(older.next().await["topic"], DISPLAY_NAME);
}

#[tokio::test]
async fn empty_topic_by_topics_policy() {
    let t = TestServer::start().await;
    let [desdemona, iago] = t.users(["desdemona", "iago"]);
    let named = iago.create_channel("named").set("topics_policy", json!("disable_empty_topic")).await;
    let alone = iago.create_channel("alone").set("topics_policy", json!("empty_topic_only")).await;
    let plain = iago.create_channel("plain").await;
    let open = iago.create_channel("open").set("topics_policy", json!("allow_empty_topic")).await;
    let refused =
        |msg: &str| json!({"msg": msg, "code": "BAD_REQUEST", "empty_topic_display_name": DISPLAY_NAME});
    let no_empty = refused("Sending messages to the general chat is not allowed in this channel.");
    let no_named = refused("Only the general chat topic is allowed in this channel.");
    for topic in ["", "(no topic)", DISPLAY_NAME] {
        say(&iago, &named, topic).await.refused(400, no_empty.clone());
        say(&iago, &alone, topic).await.ok();
        say(&iago, &plain, topic).await.ok();
    }
    say(&iago, &named, "t").await.ok();
    say(&iago, &alone, "t").await.refused(400, no_named);
    // The organization's policy applies where the channel has none.
    let policy: Params<'_> = &[("topics_policy", &"disable_empty_topic")];
    desdemona.call(Method::PATCH, "/realm", policy).ok().await;
    say(&iago, &plain, "").await.refused(400, no_empty);
    say(&iago, &open, "").await.ok();
    say(&iago, &alone, "").await.ok();
    let state = iago.register().await.state;
    assert_eq!(
        (&state["realm_topics_policy"], &state["realm_mandatory_topics"]),
        (&json!("disable_empty_topic"), &json!(true))
    );
    assert_eq!(state["realm_empty_topic_display_name"], DISPLAY_NAME);
}

#[tokio::test]
async fn topic_names_truncated_and_case_insensitive() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let verona = iago.create_channel("Verona").await;
    let id = say(&iago, &verona, &format!(" {} ", "é".repeat(61))).await.ok()["id"].clone();
    let message = iago.get(&format!("/messages/{id}"), &[]).ok().await;
    assert_eq!(message["message"]["subject"], format!("{}...", "é".repeat(57)));
    for topic in ["Lunch", "LUNCH", "lunch"] {
        say(&iago, &verona, topic).await.ok();
    }
    let topics = iago.get(&format!("/users/me/{}/topics", verona.id), &[]).ok().await;
    let names: Vec<&Value> =
        topics["topics"].as_array().unwrap().iter().map(|topic| &topic["name"]).collect();
    assert_eq!(names[0], "lunch");
    assert_eq!(names.iter().filter(|name| name.as_str().unwrap().to_lowercase() == "lunch").count(), 1);
    assert_eq!(iago.message_ids(json!([["channel", "Verona"], ["topic", "lUNCH"]])).await.len(), 3);
    for (topic, msg) in [
        ("a\nb", "Invalid character in topic, at position 2!"),
        ("\u{0}", "Invalid character in topic, at position 1!"),
        ("ab\u{fffe}", "Invalid character in topic, at position 3!"),
    ] {
        say(&iago, &verona, topic).await.refused(400, json!({"msg": msg, "code": "BAD_REQUEST"}));
    }
}
