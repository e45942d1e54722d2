//! Scheduled messages and reminders are sent when they are due, by the rights that the sender has then.

use crate::support::{Params, Queue, TestServer, TestUser, poll_for};
use actors::ManualClock;
use model::Timestamp;
use serde_json::{Value, json};

/// When the tests begin, in seconds.
const START: u64 = 1_900_000_000;

async fn start() -> (ManualClock, TestServer) {
    let clock = ManualClock::new(Timestamp(START * 1000));
    let t = TestServer::builder().clock(&clock).start().await;
    (clock, t)
}

async fn schedule(who: &TestUser, to: u64, content: &str, secs: u64) -> u64 {
    let params: Params<'_> = &[
        ("type", &"channel"),
        ("to", &to),
        ("topic", &"plans"),
        ("content", &content),
        ("scheduled_delivery_timestamp", &secs),
    ];
    who.post("/scheduled_messages", params).ok().await["scheduled_message_id"].as_u64().unwrap()
}

async fn queue(who: &TestUser) -> Queue {
    who.register().modern().set("event_types", json!(["message", "scheduled_messages", "reminders"])).await
}

async fn listed(who: &TestUser) -> Vec<Value> {
    who.get("/scheduled_messages", &[]).ok().await["scheduled_messages"].as_array().unwrap().clone()
}

#[tokio::test]
async fn scheduled_message_is_sent_when_it_is_due() {
    let (clock, t) = start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let channel = hamlet.create_channel("Verona").with(&iago).await;
    let (mut own, mut other) = (queue(&hamlet).await, queue(&iago).await);
    let late = schedule(&hamlet, channel.id, "second", START + 60).await;
    let early = schedule(&hamlet, channel.id, "*first* for @**Iago**", START + 30).await;
    assert_eq!(
        (own.next().await["op"].as_str(), own.next().await["op"].as_str()),
        (Some("add"), Some("add"))
    );
    clock.advance_secs(30);
    let message = own.next().await;
    assert_eq!(
        message["message"]["content"].as_str().map(|html| html.contains("<em>first</em>")),
        Some(true)
    );
    assert_eq!(
        (&message["message"]["subject"], &message["message"]["sender_id"]),
        (&json!("plans"), &json!(hamlet.id))
    );
    assert_eq!(message["message"]["timestamp"], START + 30);
    let removed = own.next().await;
    assert_eq!((&removed["op"], &removed["scheduled_message_id"]), (&json!("remove"), &json!(early)));
    let received = other.next().await;
    assert_eq!((&received["type"], &received["flags"]), (&json!("message"), &json!(["mentioned"])));
    assert_eq!(listed(&hamlet).await.len(), 1);
    clock.advance_secs(30);
    assert_eq!(own.next().await["message"]["content"], "<p>second</p>");
    assert_eq!(own.next().await["scheduled_message_id"], late);
    assert_eq!(listed(&hamlet).await, [] as [Value; 0]);
    let all = hamlet.messages(json!([["channel", "Verona"], ["topic", "plans"]])).await;
    assert_eq!(all.len(), 2, "each was sent once");
}

#[tokio::test]
async fn changed_and_deleted_messages_are_not_sent_as_they_were() {
    let (clock, t) = start().await;
    let hamlet = t.user("hamlet");
    let channel = hamlet.create_channel("Verona").await;
    let deleted = schedule(&hamlet, channel.id, "deleted", START + 10).await;
    let changed = schedule(&hamlet, channel.id, "before", START + 10).await;
    let postponed = schedule(&hamlet, channel.id, "postponed", START + 10).await;
    hamlet.delete(&format!("/scheduled_messages/{deleted}"), &[]).ok().await;
    hamlet.patch(&format!("/scheduled_messages/{changed}"), &[("content", &"after")]).ok().await;
    let later: Params<'_> = &[("scheduled_delivery_timestamp", &(START + 1_000))];
    hamlet.patch(&format!("/scheduled_messages/{postponed}"), later).ok().await;
    let mut own = queue(&hamlet).await;
    clock.advance_secs(20);
    assert_eq!(own.next().await["message"]["content"], "<p>after</p>");
    assert_eq!(own.next().await["op"], "remove");
    assert_eq!(listed(&hamlet).await[0]["scheduled_message_id"], postponed);
    assert_eq!(own.now().await, [] as [Value; 0]);
}

#[tokio::test]
async fn rights_count_when_the_message_is_sent() {
    let (clock, t) = start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let channel = iago.create_channel("secret").private().with(&hamlet).await;
    let id = schedule(&hamlet, channel.id, "too late", START + 10).await;
    hamlet.unsubscribe(&channel).await;
    let mut own = queue(&hamlet).await;
    clock.advance_secs(10);
    let update = own.next().await;
    assert_eq!((&update["type"], &update["op"]), (&json!("scheduled_messages"), &json!("update")));
    assert_eq!(update["scheduled_message"]["failed"], true);
    let notice = own.next().await;
    assert_eq!(notice["message"]["sender_full_name"], "Notification Bot");
    let html = notice["message"]["content"].as_str().unwrap();
    let why = format!("Channel with ID '{}' does not exist", channel.id);
    assert!(html.contains("was not sent because of the following error") && html.contains(&why), "{html}");
    assert_eq!(listed(&hamlet).await[0]["failed"], true);
    assert_eq!(iago.messages(json!([["channel", "secret"], ["topic", "plans"]])).await, [] as [Value; 0]);
    // A failed one is sent after it was given a time again, if it can be.
    let path = format!("/scheduled_messages/{id}");
    let past = "Scheduled delivery time must be in the future.";
    hamlet.patch(&path, &[("content", &"x")]).bad(past).await;
    iago.subscribe_others(&channel, &[&hamlet]).await;
    hamlet.patch(&path, &[("scheduled_delivery_timestamp", &(START + 20))]).ok().await;
    assert_eq!(listed(&hamlet).await[0]["failed"], false);
    clock.advance_secs(10);
    poll_for("it is sent", || async {
        let sent = iago.messages(json!([["channel", "secret"], ["topic", "plans"]])).await;
        (sent.len() == 1).then_some(())
    })
    .await;
    assert_eq!(listed(&hamlet).await, [] as [Value; 0]);
}

#[tokio::test]
async fn due_times_survive_a_restart() {
    let (clock, t) = start().await;
    let hamlet = t.user("hamlet");
    let channel = hamlet.create_channel("Verona").await;
    schedule(&hamlet, channel.id, "on time", START + 100).await;
    schedule(&hamlet, channel.id, "far too late", START + 10).await;
    let folder = t.stop().await;
    clock.advance_secs(100 + 550);
    let t = TestServer::builder().on(folder).clock(&clock).start().await;
    let hamlet = t.user("hamlet");
    poll_for("what is due is sent or has failed", || async {
        let rest = listed(&hamlet).await;
        (rest.len() == 1 && rest[0]["failed"] == true).then_some(())
    })
    .await;
    let sent = hamlet.messages(json!([["channel", "Verona"], ["topic", "plans"]])).await;
    assert_eq!(
        sent.iter().map(|one| one["content"].as_str().unwrap()).collect::<Vec<_>>(),
        ["<p>on time</p>"]
    );
    let notices = hamlet.messages(json!([["is", "dm"]])).await;
    let html = notices.last().unwrap()["content"].as_str().unwrap();
    assert!(html.contains("Message could not be sent at the scheduled time."), "{html}");
}

#[tokio::test]
async fn reminder_quotes_the_message_as_it_is_then() {
    let (clock, t) = start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let channel = iago.create_channel("Verona").private().with(&hamlet).await;
    let message = iago.send(&channel, "tea", "before").await;
    let remind = |secs: u64| {
        let hamlet = hamlet.clone();
        async move {
            let params: Params<'_> = &[("message_id", &message), ("scheduled_delivery_timestamp", &secs)];
            hamlet.post("/reminders", params).ok().await["reminder_id"].clone()
        }
    };
    let (first, second) = (remind(START + 10).await, remind(START + 20).await);
    iago.edit(message, &[("content", &"after")]).ok().await;
    let mut own = queue(&hamlet).await;
    clock.advance_secs(10);
    let reminded = own.next().await;
    assert_eq!(reminded["message"]["sender_full_name"], "Notification Bot");
    let html = reminded["message"]["content"].as_str().unwrap();
    assert!(html.contains("You requested a reminder for") && html.contains("<p>after</p>"), "{html}");
    assert_eq!(reminded["flags"], json!([]), "it is unread");
    let removed = own.next().await;
    assert_eq!(
        (&removed["type"], &removed["op"], &removed["reminder_id"]),
        (&json!("reminders"), &json!("remove"), &first)
    );
    // What can no longer be read is not quoted.
    hamlet.unsubscribe(&channel).await;
    clock.advance_secs(10);
    let html = own.next().await["message"]["content"].as_str().unwrap().to_owned();
    assert!(html.contains("a message that you can no longer read") && !html.contains("after"), "{html}");
    assert_eq!(own.next().await["reminder_id"], second);
}
