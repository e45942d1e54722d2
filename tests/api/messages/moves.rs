//! `PATCH /messages/{id}` with a topic or a channel: moved messages, their readers, and topic policies.

use super::one;
use crate::support::{Channel, Param, Params, TestServer, TestUser};
use serde_json::{Value, json};

async fn in_topic(person: &TestUser, channel: &Channel, topic: &str) -> Vec<u64> {
    person.message_ids(json!([["channel", channel.name], ["topic", topic]])).await
}

/// A user's policies, by topic.
async fn policies(person: &TestUser) -> Vec<(u64, String, u64)> {
    let queue = person.register().modern().events(&["user_topic"]).await;
    let topics = queue.state["user_topics"].as_array().expect("topics").clone();
    let row = |topic: &Value| {
        let name = topic["topic_name"].as_str().expect("a name").to_owned();
        (topic["stream_id"].as_u64().expect("an id"), name, topic["visibility_policy"].as_u64().expect("one"))
    };
    let mut rows: Vec<_> = topics.iter().map(row).collect();
    rows.sort_unstable();
    rows
}

async fn set_policy(person: &TestUser, channel: &Channel, topic: &str, policy: u8) {
    let params: Params<'_> = &[("stream_id", &channel.id), ("topic", &topic), ("visibility_policy", &policy)];
    person.post("/user_topics", params).ok().await;
}

const SILENT: Param<'static> = ("send_notification_to_new_thread", &false);
const ALL: Param<'static> = ("propagate_mode", &"change_all");
const LATER: Param<'static> = ("propagate_mode", &"change_later");

#[tokio::test]
async fn move_one_later_or_all() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let verona = iago.create_channel("Verona").await;
    let mut ids = Vec::new();
    for topic in ["lunch", "Lunch", "tea", "LUNCH", "lunch"] {
        ids.push(iago.send(&verona, topic, "x").await);
    }
    iago.edit(ids[1], &[("topic", &"one"), SILENT]).ok().await;
    assert_eq!(in_topic(&iago, &verona, "one").await, [ids[1]]);
    iago.edit(ids[3], &[("topic", &"later"), SILENT, LATER]).ok().await;
    assert_eq!(in_topic(&iago, &verona, "LATER").await, [ids[3], ids[4]]);
    assert_eq!(in_topic(&iago, &verona, "lunch").await, [ids[0]]);
    iago.edit(ids[4], &[("subject", &"one"), SILENT, ALL]).ok().await;
    assert_eq!(in_topic(&iago, &verona, "one").await, [ids[1], ids[3], ids[4]]);
    let moved = one(&iago, ids[3]).await;
    assert_eq!(moved["subject"], "one");
    let received: Vec<(&Value, &Value)> = moved["edit_history"]
        .as_array()
        .expect("a history")
        .iter()
        .map(|entry| (&entry["prev_topic"], &entry["topic"]))
        .collect();
    assert_eq!(received, [(&json!("later"), &json!("one")), (&json!("LUNCH"), &json!("later"))]);
    assert!(moved["last_moved_timestamp"].is_u64() && moved.get("last_edit_timestamp").is_none());
}

#[tokio::test]
async fn resolve_topic_is_not_limited_as_move() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let verona = iago.create_channel("Verona").await;
    let id = iago.send(&verona, "lunch", "x").await;
    iago.edit(id, &[("topic", &"✔ lunch"), ALL]).ok().await;
    let message = one(&iago, id).await;
    assert_eq!(message["subject"], "✔ lunch");
    assert!(message.get("last_moved_timestamp").is_none());
    assert_eq!(message["edit_history"][0]["prev_topic"], "lunch");
    iago.edit(id, &[("topic", &"  Supper  "), ALL]).ok().await;
    assert!(one(&iago, id).await["last_moved_timestamp"].is_u64());
}

#[tokio::test]
async fn move_truncates_long_topic_and_accepts_empty() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let verona = iago.create_channel("Verona").await;
    let id = iago.send(&verona, "t", "x").await;
    iago.edit(id, &[("topic", &"é".repeat(61)), SILENT]).ok().await;
    assert_eq!(one(&iago, id).await["subject"], format!("{}...", "é".repeat(57)));
    iago.edit(id, &[("topic", &"(no topic)"), SILENT]).ok().await;
    assert_eq!(one(&iago, id).await["subject"], "");
    iago.edit(id, &[("topic", &"general chat"), SILENT]).bad("Nothing to change").await;
}

/// With the prefix the name is too long; it is truncated, and the request still counts as resolving.
#[tokio::test]
async fn resolve_topic_of_maximum_length() {
    let t = TestServer::start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let verona = hamlet.create_channel("Verona").await;
    let role_nobody =
        json!({"new": t.realm().directory().group_by_name("role:nobody").expect("a group").id.0});
    desdemona.patch("/realm", &[("can_move_messages_between_topics_group", &role_nobody)]).ok().await;
    let administrators = json!({
        "new": t.realm().directory().group_by_name("role:administrators").expect("a group").id.0
    });
    let path = format!("/streams/{}", verona.id);
    desdemona.patch(&path, &[("can_administer_channel_group", &administrators)]).ok().await;
    for length in [58, 59, 60] {
        let topic = "é".repeat(length);
        let id = hamlet.send(&verona, &topic, "x").await;
        hamlet.edit(id, &[("topic", &format!("✔ {topic}")), ALL]).ok().await;
        let message = one(&hamlet, id).await;
        let name = message["subject"].as_str().expect("a topic").to_owned();
        assert!(name.starts_with("✔ é") && name.chars().count() == 60, "{name}");
        assert!(message.get("last_moved_timestamp").is_none(), "{message}");
        let notice = in_topic(&hamlet, &verona, &name).await.pop().expect("a notice");
        let text = one(&hamlet, notice).await["content"].to_string();
        assert!(text.contains("has marked this topic as resolved"), "{text}");
        // Resolving is the only permitted change of the topic.
        let refusal = "You don't have permission to edit this message";
        hamlet.edit(id, &[("topic", &"another"), ALL]).bad(refusal).await;
    }
}

#[tokio::test]
async fn move_to_same_channel_is_noop() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let verona = iago.create_channel("Verona").await;
    let id = iago.send(&verona, "lunch", "x").await;
    let before = one(&iago, id).await;
    iago.edit(id, &[("stream_id", &verona.id), ALL]).ok().await;
    assert_eq!(one(&iago, id).await, before);
    assert_eq!(in_topic(&iago, &verona, "lunch").await, [id]);
}

#[tokio::test]
async fn edit_own_message_after_unsubscribing() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let id = hamlet.send(&verona, "lunch", "x").await;
    hamlet.unsubscribe(&verona).await;
    hamlet.edit(id, &[("content", &"y")]).ok().await;
    assert_eq!(one(&iago, id).await["content"], "<p>y</p>");
}

#[tokio::test]
async fn edit_content_and_topic_is_one_history_entry() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let verona = iago.create_channel("Verona").await;
    let id = iago.send(&verona, "t", "x").await;
    iago.edit(id, &[("topic", &"u"), ("content", &"y"), SILENT]).ok().await;
    let history = one(&iago, id).await["edit_history"].clone();
    assert_eq!(history.as_array().map(Vec::len), Some(1), "{history}");
    assert_eq!((&history[0]["prev_content"], &history[0]["prev_topic"]), (&json!("x"), &json!("t")));
}

#[tokio::test]
async fn move_between_channels_changes_readers() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let verona = iago.create_channel("Verona").with(&hamlet).with(&cordelia).await;
    let secret = iago.create_channel("secret").shared_history().with(&cordelia).await;
    let id = hamlet.send(&verona, "lunch", "x").await;
    for person in [&hamlet, &cordelia] {
        set_policy(person, &verona, "lunch", 3).await;
    }
    iago.edit(id, &[("stream_id", &secret.id), SILENT]).ok().await;
    let message = one(&cordelia, id).await;
    assert_eq!((&message["stream_id"], &message["display_recipient"]), (&json!(secret.id), &json!("secret")));
    assert_eq!(message["flags"], json!([]), "what one had and has not read stays unread");
    let entry = &message["edit_history"][0];
    assert_eq!((&entry["prev_stream"], &entry["stream"]), (&json!(verona.id), &json!(secret.id)));
    hamlet.get(&format!("/messages/{id}"), &[]).bad("Invalid message(s)").await;
    assert_eq!(policies(&hamlet).await, []);
    assert_eq!(policies(&cordelia).await, [(secret.id, "lunch".to_owned(), 3)]);
    assert!(in_topic(&iago, &verona, "lunch").await.is_empty());
}

#[tokio::test]
async fn move_to_protected_history_marks_read() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").await;
    let secret = iago.create_channel("secret").protected_history().with(&hamlet).await;
    let id = iago.send(&verona, "lunch", "x").await;
    let late = t.user("cordelia");
    iago.edit(id, &[("stream_id", &secret.id), SILENT]).ok().await;
    assert_eq!(one(&hamlet, id).await["flags"], json!(["read"]));
    iago.subscribe_others(&secret, &[&late]).await;
    late.get(&format!("/messages/{id}"), &[]).bad("Invalid message(s)").await;
}

#[tokio::test]
async fn move_in_protected_history_moves_only_visible() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let secret = iago.create_channel("secret").protected_history().await;
    let early = iago.send(&secret, "lunch", "x").await;
    iago.subscribe_others(&secret, &[&hamlet]).await;
    let late = iago.send(&secret, "lunch", "y").await;
    hamlet.edit(early, &[("topic", &"dinner"), ALL]).bad("Invalid message(s)").await;
    hamlet.edit(late, &[("topic", &"dinner"), ALL, SILENT]).ok().await;
    assert_eq!(in_topic(&iago, &secret, "lunch").await, [early]);
    assert_eq!(in_topic(&iago, &secret, "dinner").await, [late]);
}

#[tokio::test]
async fn move_whole_topic_migrates_policies() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let verona = iago.create_channel("Verona").with(&hamlet).with(&cordelia).await;
    let first = iago.send(&verona, "lunch", "x").await;
    iago.send(&verona, "lunch", "y").await;
    iago.send(&verona, "tea", "z").await;
    set_policy(&hamlet, &verona, "lunch", 1).await;
    set_policy(&hamlet, &verona, "tea", 2).await;
    set_policy(&cordelia, &verona, "lunch", 3).await;
    iago.edit(first, &[("topic", &"part"), SILENT]).ok().await;
    assert_eq!(policies(&cordelia).await, [(verona.id, "lunch".to_owned(), 3)]);
    iago.edit(first, &[("topic", &"lunch"), SILENT]).ok().await;
    iago.edit(first, &[("topic", &"tea"), SILENT, ALL]).ok().await;
    assert_eq!(policies(&hamlet).await, [(verona.id, "tea".to_owned(), 2)]);
    assert_eq!(policies(&cordelia).await, [(verona.id, "tea".to_owned(), 3)]);
    iago.edit(first, &[("topic", &"TEA"), SILENT, ALL]).ok().await;
    let kept = policies(&cordelia).await;
    assert_eq!(
        kept.iter().map(|(_, topic, policy)| (topic.to_lowercase(), *policy)).collect::<Vec<_>>(),
        [("tea".to_owned(), 3)]
    );
}

#[tokio::test]
async fn move_follows_new_topic_for_first_author() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    iago.send(&verona, "lunch", "x").await;
    let second = hamlet.send(&verona, "lunch", "y").await;
    assert_eq!(policies(&hamlet).await, []);
    iago.edit(second, &[("topic", &"dinner"), SILENT]).ok().await;
    assert_eq!(policies(&hamlet).await, [(verona.id, "dinner".to_owned(), 3)]);
}

#[tokio::test]
async fn first_message_after_move_starts_topic_again() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let id = iago.send(&verona, "lunch", "x").await;
    iago.edit(id, &[("topic", &"dinner"), SILENT]).ok().await;
    let answer = hamlet.post(
        "/messages",
        &[("type", &"stream"), ("to", &verona.id), ("topic", &"lunch"), ("content", &"z")],
    );
    assert_eq!(answer.ok().await["automatic_new_visibility_policy"], 3);
}
