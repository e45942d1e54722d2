//! The life of a queue: lost and registered again, forgotten after a while, limited in number.

use crate::support::{PATIENCE, Params, Queue, TestServer};
use actors::ManualClock;
use serde_json::{Value, json};
use std::time::Duration;

fn bad(id: &str) -> Value {
    json!({"msg": format!("Bad event queue ID: {id}"), "code": "BAD_EVENT_QUEUE_ID", "queue_id": id})
}

#[tokio::test]
async fn whoever_loses_a_queue_registers_again_and_misses_nothing() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("a").with(&hamlet).await;
    let lost = hamlet.register().events(&["message"]).await;
    let during = iago.send(&channel, "t", "while nobody listens").await;
    hamlet.delete("/events", &[("queue_id", &lost.id)]).ok().await;
    lost.poll(true).await.refused(400, bad(&lost.id));
    let mut queue = hamlet.register().events(&["message"]).await;
    assert_eq!(queue.state["max_message_id"], during);
    let after = iago.send(&channel, "t", "and again").await;
    assert_eq!(queue.next().await["message"]["id"], after);
}

/// Whether a queue is still there; unlike a poll, looking does not keep it alive.
fn is_there(t: &TestServer, queue: &Queue) -> bool {
    let id = model::QueueId(queue.id.as_str().into());
    t.realm().queue_options(model::UserId(queue.person.id), &id).is_ok()
}

/// Time passes; the server looks at it once a second.
async fn until_gone(t: &TestServer, queue: &Queue) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while is_there(t, queue) {
        assert!(tokio::time::Instant::now() < deadline, "an idle queue ends");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn noon() -> ManualClock {
    ManualClock::new(model::Timestamp(1_800_000_000_000))
}

#[tokio::test]
async fn a_queue_nobody_polls_ends_after_ten_minutes() {
    let clock = noon();
    let t = TestServer::plan().clock(&clock).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let idle = hamlet.register().events(&["message"]).await;
    let long = hamlet.register().set("queue_lifespan_secs", json!(3600)).await;
    let mut held = hamlet.register().events(&["message"]).await;
    clock.advance_secs(599);
    // A poll of this moment counts, and one that is held counts all the time.
    assert_eq!(idle.poll(true).await.status, 200);
    let reader = tokio::spawn(async move { (held.next().await, held) });
    clock.advance_secs(599);
    let witness = hamlet.register().await;
    clock.advance_secs(2);
    until_gone(&t, &idle).await;
    idle.poll(true).await.refused(400, bad(&idle.id));
    assert!(is_there(&t, &long) && is_there(&t, &witness));
    let id = iago.send_direct(&[&hamlet], "still there?").await;
    assert_eq!(reader.await.unwrap().0["message"]["id"], id);
    clock.advance_secs(3600);
    until_gone(&t, &long).await;
}

#[tokio::test]
async fn a_queue_nobody_comes_back_to_after_a_restart_ends_too() {
    let clock = noon();
    let t = TestServer::plan().clock(&clock).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let (forgotten, mut kept) = (hamlet.register().await, iago.register().events(&["message"]).await);
    let folder = t.stop().await;
    // However long it was down, clients have their time to come back.
    clock.advance_secs(7200);
    let t = TestServer::plan().clock(&clock).on(folder).start().await;
    kept.person = t.user("iago");
    clock.advance_secs(599);
    assert_eq!(kept.poll(true).await.status, 200);
    assert!(is_there(&t, &forgotten));
    clock.advance_secs(2);
    until_gone(&t, &forgotten).await;
    assert!(is_there(&t, &kept));
}

#[tokio::test]
async fn silence_is_broken_by_heartbeats() {
    let clock = noon();
    let t = TestServer::plan().clock(&clock).start().await;
    let hamlet = t.user("hamlet");
    let queue = hamlet.register().events(&["message"]).await;
    let mut last = queue.last_event_id;
    for _ in 0..2 {
        let (person, id) = (hamlet.clone(), queue.id.clone());
        let poll = tokio::spawn(async move {
            let params: Params<'_> = &[("queue_id", &id), ("last_event_id", &last)];
            person.get("/events", params).ok().await
        });
        // Sooner or later the poll is held, and 45 to 55 seconds of silence pass.
        while !poll.is_finished() {
            clock.advance_secs(11);
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        let body = poll.await.unwrap();
        let events = body["events"].as_array().unwrap();
        let id = events[0]["id"].as_i64().unwrap();
        assert_eq!(events, &[json!({"type": "heartbeat", "id": id})]);
        // It is acknowledged like any other.
        assert!(id > last);
        last = id;
    }
}

#[tokio::test]
async fn a_user_has_so_many_queues_and_no_more() {
    let t = TestServer::plan().set("queues.per_user_max", 3).start().await;
    let hamlet = t.user("hamlet");
    let mut queues = Vec::new();
    for _ in 0..3 {
        queues.push(hamlet.register().await);
    }
    let answer = hamlet.post("/register", &[]).await;
    if answer.status == 200 {
        // The one idle for longest made room.
        queues[0].poll(true).await.refused(400, bad(&queues[0].id));
    } else {
        answer.refused(400, json!({"msg": "Could not allocate event queue", "code": "BAD_REQUEST"}));
        for queue in &queues {
            assert_eq!(queue.poll(true).await.status, 200);
        }
    }
    // Somebody else is not concerned.
    t.user("iago").register().await;
}

#[tokio::test]
async fn queues_go_on_after_a_restart() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("a").with(&hamlet).await;
    let mut queue = hamlet.register().events(&["message"]).await;
    let unpolled = hamlet.register().events(&["message"]).await;
    let first = iago.send(&channel, "t", "before").await;
    assert_eq!(queue.next().await["message"]["id"], first);
    let unread = iago.send(&channel, "t", "not yet fetched").await;
    let folder = t.stop().await;
    let t = TestServer::plan().on(folder).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let later = iago.send(&channel, "t", "after").await;
    let params: Params<'_> =
        &[("queue_id", &queue.id), ("last_event_id", &queue.last_event_id), ("dont_block", &true)];
    let body = hamlet.get("/events", params).ok().await;
    let messages: Vec<&Value> = body["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["type"] == "message")
        .map(|event| &event["message"]["id"])
        .collect();
    assert_eq!(messages, [&json!(unread), &json!(later)]);
    // A client that had not polled yet gets everything.
    let params: Params<'_> = &[("queue_id", &unpolled.id), ("last_event_id", &-1), ("dont_block", &true)];
    let body = hamlet.get("/events", params).ok().await;
    let ids = body["events"].as_array().unwrap().iter().map(|event| &event["message"]["id"]);
    assert_eq!(ids.collect::<Vec<_>>(), [first, unread, later]);
    // Somebody else's it is not, now as before.
    let foreign: Params<'_> = &[("queue_id", &queue.id), ("last_event_id", &-1), ("dont_block", &true)];
    iago.get("/events", foreign).refused(400, bad(&queue.id)).await;
}
