//! `message_retention_days`: expired messages are deleted everywhere with events, and no others are.

use crate::support::{Channel, TestServer, TestUser, poll_for};
use actors::ManualClock;
use model::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};

const DAY_SECS: u64 = 24 * 3600;

fn clock() -> ManualClock {
    ManualClock::new(Timestamp(1_900_000_000_000))
}

async fn keep(owner: &TestUser, channel: &Channel, days: i64) {
    let path = format!("/streams/{}", channel.id);
    owner.call(Method::PATCH, &path, &[("message_retention_days", &days)]).ok().await;
}

fn ids(event: &Value) -> Vec<u64> {
    event["message_ids"].as_array().expect("ids").iter().filter_map(Value::as_u64).collect()
}

#[tokio::test]
async fn retention_deletes_expired_messages_with_events() {
    let clock = clock();
    let t = TestServer::builder().clock(&clock).start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let channel = desdemona.create_channel("Verona").with(&hamlet).await;
    let forever = desdemona.create_channel("Rome").with(&hamlet).await;
    keep(&desdemona, &channel, 2).await;
    let mut old = desdemona.message_ids(json!([["channel", channel.name]])).await;
    let kept_elsewhere = hamlet.send(&forever, "t", "stays").await;
    // More messages than one batch, in two topics.
    for number in 0..120 {
        old.push(hamlet.send(&channel, if number % 2 == 0 { "even" } else { "odd" }, "goes").await);
    }
    clock.advance_secs(DAY_SECS);
    let young = hamlet.send(&channel, "even", "stays").await;
    // This queue outlives the days that pass.
    let week = json!(7 * DAY_SECS);
    let queue = hamlet.register().modern().events(&["delete_message"]).set("queue_lifespan_secs", week);
    let mut queue = queue.await;
    clock.advance_secs(DAY_SECS + 1);
    let mut gone = Vec::new();
    while gone.len() < old.len() {
        let event = queue.next().await;
        assert_eq!(event["stream_id"], json!(channel.id));
        gone.extend(ids(&event));
    }
    gone.sort_unstable();
    assert_eq!(gone, old);
    assert_eq!(hamlet.message_ids(json!([["channel", channel.name]])).await, [young]);
    let rome = hamlet.message_ids(json!([["channel", forever.name]])).await;
    assert!(rome.contains(&kept_elsewhere));
    hamlet.get(&format!("/messages/{}", old[0]), &[]).bad("Invalid message(s)").await;
    let stream = hamlet.get(&format!("/streams/{}", channel.id), &[]).ok().await["stream"].clone();
    assert_eq!(stream["first_message_id"], json!(young));
    assert_eq!(queue.now().await, Vec::<Value>::new());
}

#[tokio::test]
async fn retention_applies_to_archived_channels_and_after_restart() {
    let clock = clock();
    let t = TestServer::builder().clock(&clock).start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let channel = desdemona.create_channel("Verona").with(&hamlet).await;
    keep(&desdemona, &channel, 1).await;
    let id = hamlet.send(&channel, "t", "goes").await;
    desdemona.delete(&format!("/streams/{}", channel.id), &[]).ok().await;
    let folder = t.stop().await;
    clock.advance_secs(2 * DAY_SECS);
    let t = TestServer::builder().clock(&clock).on(folder).start().await;
    let hamlet = t.user("hamlet");
    let mut queue = hamlet.register().modern().events(&["delete_message"]).await;
    // The first retention sweep is due at once, and may have run before the queue was registered.
    let is_there = || async { hamlet.get(&format!("/messages/{id}"), &[]).await.status == 200 };
    while is_there().await {
        queue.next().await;
    }
    assert_eq!(hamlet.message_ids(json!([["channel", channel.name]])).await, Vec::<u64>::new());
}

#[tokio::test]
async fn channel_becomes_inactive_and_recently_active_again() {
    let clock = clock();
    let t = TestServer::builder().clock(&clock).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = hamlet.create_channel("Verona").with(&iago).await;
    let path = format!("/streams/{}", channel.id);
    let folder = t.stop().await;
    clock.advance_secs(181 * DAY_SECS);
    let t = TestServer::builder().clock(&clock).on(folder).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let mut queue = iago.register().modern().events(&["stream"]).await;
    let is_active = || async {
        let body = hamlet.get(&path, &[]).ok().await;
        body["stream"]["is_recently_active"].as_bool().expect("a boolean")
    };
    while is_active().await {
        let event = queue.next().await;
        assert_eq!((&event["property"], &event["value"]), (&json!("is_recently_active"), &json!(false)));
    }
    // Changing a channel's settings sends a notice to it, which counts as activity.
    hamlet.call(Method::PATCH, &path, &[("description", &"x")]).ok().await;
    assert!(is_active().await);
}

#[tokio::test]
async fn retention_realm_default_applies_to_channels_and_direct_messages() {
    let clock = clock();
    let t = TestServer::builder().clock(&clock).start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let inheriting = desdemona.create_channel("Verona").with(&hamlet).await;
    let own = desdemona.create_channel("Rome").with(&hamlet).await;
    keep(&desdemona, &own, 30).await;
    let stays = hamlet.send(&own, "t", "stays").await;
    let goes =
        [hamlet.send(&inheriting, "t", "goes").await, hamlet.send_direct(&[&desdemona], "goes too").await];
    desdemona.call(Method::PATCH, "/realm", &[("message_retention_days", &2)]).ok().await;
    let week = json!(7 * DAY_SECS);
    let queue = hamlet.register().modern().events(&["delete_message"]).set("queue_lifespan_secs", week);
    let mut queue = queue.await;
    clock.advance_secs(2 * DAY_SECS + 1);
    let mut kinds = Vec::new();
    // The notice of the channel's creation is deleted with its topic.
    while kinds.len() < 3 {
        let event = queue.next().await;
        kinds.push(event["message_type"].as_str().expect("a word").to_owned());
    }
    assert_eq!(kinds, ["stream", "stream", "private"]);
    for id in goes {
        hamlet.get(&format!("/messages/{id}"), &[]).bad("Invalid message(s)").await;
    }
    hamlet.get(&format!("/messages/{stays}"), &[]).ok().await;
}

#[tokio::test]
async fn expired_messages_are_not_found() {
    let clock = clock();
    let t = TestServer::builder().clock(&clock).set("search.write_secs", 0).start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let channel = desdemona.create_channel("Verona").with(&hamlet).await;
    keep(&desdemona, &channel, 1).await;
    let narrow = || json!([["channel", channel.name], ["search", "frobozz"]]);
    let old = hamlet.send(&channel, "t", "frobozz goes").await;
    let is_written = || async { (t.realm().search_behind() == 0).then_some(()) };
    poll_for("the index is written", is_written).await;
    assert_eq!(hamlet.message_ids(narrow()).await, [old]);
    let week = json!(7 * DAY_SECS);
    let queue = hamlet.register().modern().events(&["delete_message"]).set("queue_lifespan_secs", week);
    let mut queue = queue.await;
    clock.advance_secs(DAY_SECS + 1);
    // The notice of the new channel expires, too.
    while !ids(&queue.next().await).contains(&old) {}
    let young = hamlet.send(&channel, "t", "frobozz stays").await;
    for _ in 0..2 {
        assert_eq!(hamlet.message_ids(narrow()).await, [young]);
        poll_for("the index is written", is_written).await;
    }
}
