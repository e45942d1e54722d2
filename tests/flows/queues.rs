//! The life of a queue: lost and registered again, forgotten after a while, limited in number.

use crate::support::{PATIENCE, Params, TestServer};
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

#[tokio::test]
async fn a_queue_nobody_polls_ends() {
    let t = TestServer::plan().set("queues.idle_secs", 1).start().await;
    let hamlet = t.user("hamlet");
    let idle = hamlet.register().await;
    let patient = hamlet.register().set("queue_lifespan_secs", json!(3600)).await;
    let deadline = tokio::time::Instant::now() + PATIENCE;
    // Any poll would keep it, so its end is seen by the count of queues that are left.
    loop {
        let metrics = t.stranger().get("/metrics", &[]).await;
        assert_eq!(metrics.status, 200);
        let closed = hamlet.delete("/events", &[("queue_id", &"nonsense")]).await;
        assert_eq!(closed.status, 400);
        if t.realm()
            .queue_options(model::UserId(hamlet.id), &model::QueueId(idle.id.as_str().into()))
            .is_err()
        {
            break;
        }
        assert!(tokio::time::Instant::now() < deadline, "an idle queue ends");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    idle.poll(true).await.refused(400, bad(&idle.id));
    assert_eq!(patient.poll(true).await.status, 200);
}

#[tokio::test]
async fn a_queue_that_is_polled_stays() {
    let t = TestServer::plan().set("queues.idle_secs", 1).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let mut queue = hamlet.register().events(&["message"]).await;
    let forgotten = hamlet.register().await;
    // A poll is held all the while that the other queue takes to end.
    let reader = tokio::spawn(async move { queue.next().await });
    let gone = || {
        let id = model::QueueId(forgotten.id.as_str().into());
        t.realm().queue_options(model::UserId(hamlet.id), &id).is_err()
    };
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !gone() {
        assert!(tokio::time::Instant::now() < deadline, "an idle queue ends");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let id = iago.send_direct(&[&hamlet], "still there?").await;
    assert_eq!(reader.await.unwrap()["message"]["id"], id);
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
    // Somebody else's it is not, now as before.
    let foreign: Params<'_> = &[("queue_id", &queue.id), ("last_event_id", &-1), ("dont_block", &true)];
    iago.get("/events", foreign).refused(400, bad(&queue.id)).await;
}
