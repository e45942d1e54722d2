//! `message_retention_days`: messages really go, in every place that says so, and nothing else does.

use crate::support::{Channel, Person, TestServer};
use actors::ManualClock;
use model::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};

const DAY_SECS: u64 = 24 * 3600;

fn clock() -> ManualClock {
    ManualClock::new(Timestamp(1_900_000_000_000))
}

async fn keep(owner: &Person, channel: &Channel, days: i64) {
    let path = format!("/streams/{}", channel.id);
    owner.call(Method::PATCH, &path, &[("message_retention_days", &days)]).ok().await;
}

fn ids(event: &Value) -> Vec<u64> {
    event["message_ids"].as_array().expect("ids").iter().filter_map(Value::as_u64).collect()
}

#[tokio::test]
async fn what_was_kept_long_enough_is_deleted_and_told() {
    let clock = clock();
    let t = TestServer::plan().clock(&clock).start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let channel = desdemona.create_channel("Verona").with(&hamlet).await;
    let forever = desdemona.create_channel("Rome").with(&hamlet).await;
    keep(&desdemona, &channel, 2).await;
    let mut old = desdemona.message_ids(json!([["channel", channel.name]])).await;
    let kept_elsewhere = hamlet.send(&forever, "t", "stays").await;
    // More than one piece of work, in two topics.
    for number in 0..120 {
        old.push(hamlet.send(&channel, if number % 2 == 0 { "even" } else { "odd" }, "goes").await);
    }
    clock.advance_secs(DAY_SECS);
    let young = hamlet.send(&channel, "even", "stays").await;
    // A queue that does not mind that days pass.
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
async fn archived_channels_and_restarts_are_no_excuse() {
    let clock = clock();
    let t = TestServer::plan().clock(&clock).start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let channel = desdemona.create_channel("Verona").with(&hamlet).await;
    keep(&desdemona, &channel, 1).await;
    let id = hamlet.send(&channel, "t", "goes").await;
    desdemona.delete(&format!("/streams/{}", channel.id), &[]).ok().await;
    let folder = t.stop().await;
    clock.advance_secs(2 * DAY_SECS);
    let t = TestServer::plan().clock(&clock).on(folder).start().await;
    let hamlet = t.user("hamlet");
    let mut queue = hamlet.register().modern().events(&["delete_message"]).await;
    // The first look is due at once; it may have been over before the queue was there.
    let is_there = || async { hamlet.get(&format!("/messages/{id}"), &[]).await.status == 200 };
    while is_there().await {
        queue.next().await;
    }
    assert_eq!(hamlet.message_ids(json!([["channel", channel.name]])).await, Vec::<u64>::new());
}

#[tokio::test]
async fn a_channel_nobody_writes_in_becomes_inactive_and_wakes() {
    let clock = clock();
    let t = TestServer::plan().clock(&clock).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = hamlet.create_channel("Verona").with(&iago).await;
    let path = format!("/streams/{}", channel.id);
    let folder = t.stop().await;
    clock.advance_secs(181 * DAY_SECS);
    let t = TestServer::plan().clock(&clock).on(folder).start().await;
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
    // A change of its record is told in it, so somebody wrote.
    hamlet.call(Method::PATCH, &path, &[("description", &"x")]).ok().await;
    assert!(is_active().await);
}

#[tokio::test]
async fn what_the_organization_says_is_for_channels_without_a_word_of_their_own_and_for_people() {
    let clock = clock();
    let t = TestServer::plan().clock(&clock).start().await;
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
    // The channel's first notice goes with its topic.
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
