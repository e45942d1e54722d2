//! `POST /messages`: recipients, content, and effects.

use super::{channel_message_keys, direct_message_keys};
use crate::support::shape::fields;
use crate::support::{Param, Params, TestServer, keys};
use serde_json::{Value, json};

#[tokio::test]
async fn send_to_channel_by_id_name_and_json_name() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    let id = channel.id.to_string();
    let spellings = ["Verona", "\"Verona\"", "[\"Verona\"]", &id, &format!("[{id}]"), "verona"];
    let mut sent = Vec::new();
    for (index, to) in spellings.iter().enumerate() {
        let kind = ["stream", "channel"][index % 2];
        let params: Params<'_> = &[("type", &kind), ("to", to), ("topic", &"t"), ("content", &index)];
        sent.push(iago.post("/messages", params).ok().await["id"].clone());
    }
    let messages = iago.messages(json!([["channel", "Verona"], ["topic", "t"]])).await;
    let found: Vec<Value> = messages.iter().map(|message| message["id"].clone()).collect();
    assert_eq!(found, sent);
    assert!(messages.iter().all(|message| message["display_recipient"] == "Verona"));
}

#[tokio::test]
async fn send_direct_by_id_and_email() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let ids = json!([hamlet.id, cordelia.id]).to_string();
    let addresses = json!([hamlet.api_email, cordelia.api_email]).to_string();
    let raw = format!("{}, {}", hamlet.api_email, cordelia.api_email);
    let with_self = json!([iago.id, hamlet.id, cordelia.id, hamlet.id]).to_string();
    for (kind, to) in [("direct", &ids), ("private", &addresses), ("direct", &raw), ("direct", &with_self)] {
        let params: Params<'_> = &[("type", &kind), ("to", to), ("content", &"hello")];
        let body = iago.post("/messages", params).ok().await;
        assert_eq!(fields(&body), ["id"]);
    }
    let messages = cordelia.messages(json!([{"operator": "dm", "operand": [iago.id, hamlet.id]}])).await;
    assert_eq!(messages.len(), 4);
    for message in &messages {
        assert_eq!(keys(message), direct_message_keys());
        assert_eq!((&message["type"], &message["subject"]), (&json!("private"), &json!("")));
        assert_eq!(message["recipient_id"], messages[0]["recipient_id"]);
        let recipients = message["display_recipient"].as_array().unwrap();
        let mut everybody = [iago.id, hamlet.id, cordelia.id];
        everybody.sort_unstable();
        let ids: Vec<u64> = recipients.iter().map(|user| user["id"].as_u64().unwrap()).collect();
        assert_eq!(ids, everybody.map(u64::from));
        assert_eq!(keys(&recipients[0]), ["email", "full_name", "id", "is_mirror_dummy"]);
    }
}

#[tokio::test]
async fn send_direct_to_self() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let id = iago.send_direct(&[&iago], "a note").await;
    let messages = iago.messages(json!([{"operator": "dm", "operand": [iago.id]}])).await;
    assert_eq!((messages.len(), &messages[0]["id"]), (1, &json!(id)));
}

#[tokio::test]
async fn send_channel_message_shape() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let params: Params<'_> = &[
        ("type", &"channel"),
        ("to", &channel.id),
        ("topic", &"  red pens "),
        ("content", &"\n\n  hello @**King Hamlet**  \n "),
        ("read_by_sender", &true),
    ];
    let call = iago.post("/messages", params).header("User-Agent", "ZulipTests/3.1 (here)");
    let body = call.ok().await;
    assert_eq!(fields(&body), ["automatic_new_visibility_policy", "id"]);
    assert_eq!(body["automatic_new_visibility_policy"], 3);
    let messages = hamlet.messages(json!([["channel", "Verona"], ["topic", "red pens"]])).await;
    let message = &messages[0];
    assert_eq!(keys(message), channel_message_keys());
    let expected = json!({
        "id": body["id"], "client": "ZulipTests", "content_type": "text/html", "type": "stream",
        "display_recipient": "Verona", "stream_id": channel.id, "subject": "red pens", "sender_id": iago.id,
        "sender_email": iago.api_email, "sender_full_name": "Iago", "sender_realm_str": "",
        "is_me_message": false, "reactions": [], "submessages": [], "topic_links": [],
        "flags": ["mentioned"],
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&message[key], value, "{key}");
    }
    let mention = format!(
        "<p>hello <span class=\"user-mention\" data-user-id=\"{}\">@King Hamlet</span></p>",
        hamlet.id
    );
    assert_eq!(message["content"], mention);
    let mine = iago.messages(json!([{"operator": "id", "operand": body["id"]}])).await;
    assert_eq!(mine[0]["flags"], json!(["read"]));
    // The topic exists by now.
    let again = iago.post("/messages", params).ok().await;
    assert_eq!(fields(&again), ["id"]);
}

#[tokio::test]
async fn send_marks_read_by_client() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    iago.create_channel("Verona").await;
    let base: [Param<'_>; 4] = [("type", &"stream"), ("to", &"Verona"), ("topic", &"t"), ("content", &"x")];
    let cases = [
        ("ZulipMobile/30.0 (iOS 17)", None, json!(["read"])),
        ("my-script/1", None, json!([])),
        ("my-script/1", Some("true"), json!(["read"])),
        ("ZulipMobile/30.0", Some("false"), json!([])),
    ];
    for (agent, read, flags) in cases {
        let mut params = base.to_vec();
        params.extend(read.as_ref().map(|read| ("read_by_sender", read as &(dyn std::fmt::Display + Sync))));
        let id = iago.post("/messages", &params).header("User-Agent", agent).ok().await["id"].clone();
        let message = iago.messages(json!([{"operator": "id", "operand": id}])).await.remove(0);
        assert_eq!(message["flags"], flags, "{agent} {read:?}");
        assert_eq!(message["client"], agent.split('/').next().unwrap());
    }
}

#[tokio::test]
async fn send_truncates_long_content_and_topic() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    let (topic, content) = ("é".repeat(61), "é".repeat(10_001));
    let id = iago.send(&channel, &topic, &content).await;
    let raw = iago.get(&format!("/messages/{id}"), &[("apply_markdown", &false)]).ok().await;
    let marker = "\n[message truncated]";
    let kept = 10_000 - marker.chars().count();
    assert_eq!(raw["message"]["content"], format!("{}{marker}", "é".repeat(kept)));
    assert_eq!(raw["message"]["subject"], format!("{}...", "é".repeat(57)));
    // A message of exactly the maximum length is not truncated.
    let id = iago.send(&channel, &"é".repeat(60), &"é".repeat(10_000)).await;
    let raw = iago.get(&format!("/messages/{id}"), &[("apply_markdown", &false)]).ok().await;
    assert_eq!(raw["message"]["content"], "é".repeat(10_000));
    assert_eq!(raw["message"]["subject"], "é".repeat(60));
}

#[tokio::test]
async fn send_empty_topic_aliases() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    for topic in ["", "(no topic)", "general chat", "  "] {
        iago.send(&channel, topic, "x").await;
    }
    let narrow = json!([["channel", "Verona"], ["topic", ""]]);
    assert_eq!(iago.messages(narrow.clone()).await.len(), 4);
    let params: Params<'_> =
        &[("anchor", &"newest"), ("num_before", &9), ("num_after", &0), ("narrow", &narrow)];
    for (allow, shown) in [(false, "general chat"), (true, "")] {
        let call = iago.get("/messages", params).query(&[("allow_empty_topic_name", &allow)]);
        let body = call.ok().await;
        let messages = body["messages"].as_array().unwrap();
        let subjects: Vec<&Value> = messages.iter().map(|message| &message["subject"]).collect();
        assert_eq!(subjects, [shown; 4]);
    }
}

#[tokio::test]
async fn send_legacy_parameter_names() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    iago.create_channel("Verona").await;
    let params: Params<'_> =
        &[("type", &"stream"), ("to", &"Verona"), ("subject", &"old"), ("content", &"x")];
    iago.post("/messages", params).ok().await;
    assert_eq!(iago.messages(json!([["stream", "Verona"], ["topic", "old"]])).await.len(), 1);
}

#[tokio::test]
async fn send_by_unsubscribed_sender_gets_no_copy() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").await;
    let mut queue = hamlet.register().events(&["message"]).await;
    let id = hamlet.send(&channel, "t", "from outside").await;
    assert_eq!(queue.now().await, [] as [Value; 0]);
    // Its sender can read it, and it counts as read.
    let message = hamlet.messages(json!([["channel", "Verona"]])).await.pop().unwrap();
    assert_eq!((&message["id"], &message["flags"]), (&json!(id), &json!(["read", "historical"])));
    assert!(hamlet.message_ids(json!([["sender", hamlet.api_email], ["is", "unread"]])).await.is_empty());
}

#[tokio::test]
async fn send_local_echo_reaches_one_queue() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    iago.create_channel("Verona").await;
    let mut mine = iago.register().events(&["message"]).await;
    let mut other = iago.register().events(&["message"]).await;
    let params: Params<'_> = &[
        ("type", &"stream"),
        ("to", &"Verona"),
        ("topic", &"t"),
        ("content", &"echo"),
        ("queue_id", &mine.id),
        ("local_id", &"501.02"),
    ];
    iago.post("/messages", params).ok().await;
    let event = mine.next().await;
    assert_eq!(keys(&event), ["flags", "id", "local_message_id", "message", "type"]);
    assert_eq!(event["local_message_id"], "501.02");
    assert_eq!(keys(&other.next().await), ["flags", "id", "message", "type"]);
    // An expired queue id, or one of the two parameters alone, is no error.
    for (name, value) in [("queue_id", "nonsense:1"), ("queue_id", mine.id.as_str())] {
        let params: Params<'_> =
            &[("type", &"stream"), ("to", &"Verona"), ("topic", &"t"), ("content", &"x")];
        let call = iago.post("/messages", params).query(&[(name, &value)]);
        call.ok().await;
    }
}

/// 10,000 emoji are 10,000 characters and 900 KB of HTML; they can be sent, read and edited.
#[tokio::test]
async fn send_content_with_large_html() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let tada = "🎉".repeat(10_000);
    let id = iago.send_direct(&[&hamlet], &tada).await;
    let read = hamlet.get(&format!("/messages/{id}"), &[]).ok().await;
    let html = read["message"]["content"].as_str().unwrap();
    assert_eq!(html.matches("emoji-1f389").count(), 10_000);
    iago.edit(id, &[("content", &"🐙".repeat(10_000))]).ok().await;
    let read = hamlet.get(&format!("/messages/{id}"), &[]).ok().await;
    assert_eq!(read["message"]["content"].as_str().unwrap().matches("emoji-1f419").count(), 10_000);
}
