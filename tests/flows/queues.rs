//! The lifetime of event queues: expiry, limits and restarts.

use crate::api::bots::make;
use crate::support::{Params, Queue, TestServer, wait_until};
use actors::ManualClock;
use serde_json::{Value, json};

fn bad(id: &str) -> Value {
    json!({"msg": format!("Bad event queue ID: {id}"), "code": "BAD_EVENT_QUEUE_ID", "queue_id": id})
}

#[tokio::test]
async fn queue_lost_then_registered_again() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("a").with(&hamlet).await;
    let lost = hamlet.register().events(&["message"]).await;
    let during = iago.send(&channel, "t", "without a queue").await;
    hamlet.delete("/events", &[("queue_id", &lost.id)]).ok().await;
    lost.poll(true).await.refused(400, bad(&lost.id));
    let mut queue = hamlet.register().events(&["message"]).await;
    assert_eq!(queue.state["max_message_id"], during);
    let after = iago.send(&channel, "t", "and again").await;
    assert_eq!(queue.next().await["message"]["id"], after);
}

/// Whether a queue exists; unlike a poll, this does not restart its idle time.
fn exists(t: &TestServer, queue: &Queue) -> bool {
    t.realm().own_queue(model::UserId(queue.person.id), &queue.key()).is_ok()
}

/// Waits for the expiry sweep, which runs once a second of real time, to delete a queue.
async fn wait_until_expired(t: &TestServer, queue: &Queue) {
    wait_until("the idle queue has expired", || !exists(t, queue)).await;
}

fn noon() -> ManualClock {
    ManualClock::new(model::Timestamp(1_800_000_000_000))
}

#[tokio::test]
async fn idle_queue_expires_after_ten_minutes() {
    let clock = noon();
    let t = TestServer::builder().clock(&clock).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let idle = hamlet.register().events(&["message"]).await;
    let long = hamlet.register().set("queue_lifespan_secs", json!(3600)).await;
    let mut held = hamlet.register().events(&["message"]).await;
    clock.advance_secs(599);
    // A poll restarts the idle time of its queue; a queue with a held poll is never idle.
    assert_eq!(idle.poll(true).await.status, 200);
    let polled = held.clone();
    let reader = tokio::spawn(async move { held.next().await });
    wait_until("the poll is held", || t.is_polled(&polled)).await;
    clock.advance_secs(599);
    let witness = hamlet.register().await;
    clock.advance_secs(2);
    wait_until_expired(&t, &idle).await;
    idle.poll(true).await.refused(400, bad(&idle.id));
    assert!(exists(&t, &long) && exists(&t, &witness));
    let id = iago.send_direct(&[&hamlet], "still there?").await;
    assert_eq!(reader.await.unwrap()["message"]["id"], id);
    clock.advance_secs(3600);
    wait_until_expired(&t, &long).await;
}

#[tokio::test]
async fn idle_queue_expires_after_restart() {
    let clock = noon();
    let t = TestServer::builder().clock(&clock).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let (forgotten, mut kept) = (hamlet.register().await, iago.register().events(&["message"]).await);
    let folder = t.stop().await;
    // After a restart the idle time starts again, however long the server was down.
    clock.advance_secs(7200);
    let t = TestServer::builder().clock(&clock).on(folder).start().await;
    kept.person = t.user("iago");
    clock.advance_secs(599);
    assert_eq!(kept.poll(true).await.status, 200);
    assert!(exists(&t, &forgotten));
    clock.advance_secs(2);
    wait_until_expired(&t, &forgotten).await;
    assert!(exists(&t, &kept));
}

#[tokio::test]
async fn heartbeat_events_when_idle() {
    let clock = noon();
    let t = TestServer::builder().clock(&clock).start().await;
    let hamlet = t.user("hamlet");
    let mut queue = hamlet.register().events(&["message"]).await;
    for _ in 0..2 {
        let poll = t.hold_poll(&queue).await;
        // Heartbeats are due after 45 seconds plus up to 10, which differ by queue.
        clock.advance_secs(55);
        // The next poll acknowledges it.
        queue.take(poll.await.unwrap());
        let id = queue.last_event_id;
        assert_eq!(queue.taken(), [json!({"type": "heartbeat", "id": id})]);
    }
}

/// The number of a user's registered queues, including those from before a restart.
fn registered(t: &TestServer, user: u32) -> usize {
    t.realm().queues().iter().filter(|record| record.user.0 == user).count()
}

#[tokio::test]
async fn queue_limit_evicts_longest_unpolled() {
    let clock = noon();
    let t = TestServer::builder().clock(&clock).set("queues.per_user_max", 3).start().await;
    let hamlet = t.user("hamlet");
    let mut queues = Vec::new();
    for _ in 0..3 {
        queues.push(hamlet.register().await);
        clock.advance_secs(1);
    }
    // The first is the oldest, but was polled last.
    assert_eq!(queues[0].poll(true).await.status, 200);
    clock.advance_secs(1);
    queues.push(hamlet.register().await);
    queues[1].poll(true).await.refused(400, bad(&queues[1].id));
    for kept in [0, 2, 3] {
        assert_eq!(queues[kept].poll(true).await.status, 200, "queue {kept}");
    }
    assert_eq!(registered(&t, hamlet.id), 3);
    // A client that registers again and again does not lock out its user.
    for _ in 0..20 {
        hamlet.register().await;
    }
    assert_eq!(registered(&t, hamlet.id), 3);
    // Other users are not affected.
    t.user("iago").register().await;
}

#[tokio::test]
async fn queue_limit_keeps_polled_queues() {
    let t = TestServer::builder().set("queues.per_user_max", 2).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let mut polls = Vec::new();
    for _ in 0..2 {
        polls.push(t.hold_poll(&hamlet.register().events(&["message"]).await).await);
    }
    let refused = json!({"msg": "Could not allocate event queue", "code": "BAD_REQUEST"});
    hamlet.post("/register", &[]).refused(400, refused).await;
    let id = iago.send_direct(&[&hamlet], "still there?").await;
    for poll in polls {
        assert_eq!(poll.await.unwrap().ok()["events"][0]["message"]["id"], id);
    }
}

#[tokio::test]
async fn queue_limit_counts_the_bots_of_an_owner_together() {
    let clock = noon();
    let t = TestServer::builder().clock(&clock).set("queues.per_user_max", 2).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let own = hamlet.register().await;
    let (other, _) = make(&iago, "other", &[]).await;
    let others = other.register().await;
    let (mut bots, mut queues) = (Vec::new(), Vec::new());
    for number in 0..8 {
        let (bot, _) = make(&hamlet, &format!("crew{number}"), &[]).await;
        clock.advance_secs(1);
        queues.push(bot.register().await);
        bots.push(bot);
    }
    assert_eq!(queues[0].poll(true).await.status, 200);
    clock.advance_secs(1);
    // The second bot has been away for longest.
    queues.push(bots[7].register().await);
    queues[1].poll(true).await.refused(400, bad(&queues[1].id));
    for kept in [&own, &others, &queues[0], &queues[2], &queues[8]] {
        assert_eq!(kept.poll(true).await.status, 200, "queue of {}", kept.person.email);
    }
    // Its own bound holds, too.
    bots[7].register().await;
    assert_eq!(registered(&t, bots[7].id), 2);
    let all: usize = bots.iter().map(|bot| registered(&t, bot.id)).sum();
    assert_eq!(all, 8);
    other.register().await;
    assert_eq!(registered(&t, other.id), 2);
}

#[tokio::test]
async fn queue_limit_after_restart() {
    let start = |folder| {
        let plan = TestServer::builder().set("queues.per_user_max", 3);
        match folder {
            Some(folder) => plan.on(folder),
            None => plan,
        }
    };
    let t = start(None).start().await;
    let hamlet = t.user("hamlet");
    let mut queues = Vec::new();
    for _ in 0..3 {
        queues.push(hamlet.register().await);
    }
    let t = start(Some(t.stop().await)).start().await;
    let hamlet = t.user("hamlet");
    queues.iter_mut().for_each(|queue| queue.person = hamlet.clone());
    assert_eq!(queues[0].poll(true).await.status, 200);
    for _ in 0..2 {
        hamlet.register().await;
        assert_eq!(registered(&t, hamlet.id), 3);
    }
    assert_eq!(queues[0].poll(true).await.status, 200, "the others were not polled since the start");
    for gone in &queues[1..] {
        gone.poll(true).await.refused(400, bad(&gone.id));
    }
    // With a lower limit, the newest queues are kept.
    let folder = t.stop().await;
    let t = TestServer::builder().set("queues.per_user_max", 1).on(folder).start().await;
    t.user("hamlet").register().await;
    assert_eq!(registered(&t, hamlet.id), 1);
}

#[tokio::test]
async fn queue_expiry_ignores_wall_clock_changes() {
    let clock = noon();
    let t = TestServer::builder().clock(&clock).start().await;
    let hamlet = t.user("hamlet");
    let early = hamlet.register().await;
    clock.advance_secs(300);
    let late = hamlet.register().await;
    clock.shift_wall_secs(7200);
    clock.advance_secs(301);
    wait_until_expired(&t, &early).await;
    assert!(exists(&t, &late), "five minutes have passed for it, whatever the clock shows");
    clock.shift_wall_secs(-14_400);
    clock.advance_secs(300);
    wait_until_expired(&t, &late).await;
}

#[tokio::test]
async fn queue_lifespan_is_capped() {
    let clock = noon();
    let t = TestServer::builder().clock(&clock).set("queues.lifespan_secs_max", 1200).start().await;
    let hamlet = t.user("hamlet");
    let long = hamlet.register().set("queue_lifespan_secs", json!(3600)).await;
    clock.advance_secs(1199);
    let witness = hamlet.register().await;
    clock.advance_secs(2);
    wait_until_expired(&t, &long).await;
    assert!(exists(&t, &witness));
}

#[tokio::test]
async fn queues_share_events_after_restart() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("a").with(&hamlet).await;
    let queues = [hamlet.register().events(&["message"]).await, iago.register().events(&["message"]).await];
    for _ in 0..3 {
        iago.send(&channel, "t", "unfetched").await;
    }
    let folder = t.stop().await;
    let t = TestServer::builder().on(folder).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let live = iago.send(&channel, "t", "after the restart").await;
    let mut held = Vec::new();
    // The second poll starts after the log was read for the first.
    for (queue, person) in queues.iter().zip([&hamlet, &iago]) {
        let own = t.realm().own_queue(model::UserId(person.id), &queue.key()).expect("the queue");
        let polled = t.realm().poll(&own, Some(queue.last_event_id), true).await.expect("a poll");
        held.push(match polled {
            actors::Polled::Events(events) => events,
            actors::Polled::Waiting(waiting) => {
                t.realm().next_events(&own.record, waiting).await.expect("events")
            }
        });
    }
    assert_eq!((held[0].len(), held[1].len()), (4, 4));
    for (one, other) in held[0].iter().zip(&held[1]) {
        assert!(std::sync::Arc::ptr_eq(&one.event, &other.event), "{:?}", one.event.body);
    }
    let model::EventBody::Message { message, .. } = &held[0][3].event.body else { panic!("a message") };
    assert_eq!(u64::from(message.id.0), live);
}

#[tokio::test]
async fn queues_resume_during_concurrent_sends() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("a").with(&hamlet).await;
    let mut queues = Vec::new();
    for _ in 0..20 {
        queues.push(hamlet.register().events(&["message"]).await);
    }
    let mut expected = Vec::new();
    for number in 0..50 {
        expected.push(iago.send(&channel, "t", &number.to_string()).await);
    }
    let folder = t.stop().await;
    let t = TestServer::builder().on(folder).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let writer = tokio::spawn(async move {
        let mut sent = Vec::new();
        for number in 0..100 {
            sent.push(iago.send(&channel, "t", &number.to_string()).await);
        }
        sent
    });
    let readers: Vec<_> = queues
        .into_iter()
        .map(|mut queue| {
            queue.person = hamlet.clone();
            tokio::spawn(async move {
                let mut seen = Vec::new();
                while seen.len() < 150 {
                    seen.push(queue.next().await["message"]["id"].as_u64().unwrap());
                }
                seen
            })
        })
        .collect();
    expected.extend(writer.await.unwrap());
    for reader in readers {
        assert_eq!(reader.await.unwrap(), expected);
    }
}

#[tokio::test]
async fn queues_resume_after_restart() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("a").with(&hamlet).await;
    let mut queue = hamlet.register().events(&["message"]).await;
    let unpolled = hamlet.register().events(&["message"]).await;
    let first = iago.send(&channel, "t", "before").await;
    assert_eq!(queue.next().await["message"]["id"], first);
    let unread = iago.send(&channel, "t", "not yet fetched").await;
    let folder = t.stop().await;
    let t = TestServer::builder().on(folder).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let later = iago.send(&channel, "t", "after").await;
    queue.person = hamlet.clone();
    let body = queue.poll(true).await.ok();
    let messages: Vec<&Value> = body["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["type"] == "message")
        .map(|event| &event["message"]["id"])
        .collect();
    assert_eq!(messages, [&json!(unread), &json!(later)]);
    // A queue that was never polled returns all events.
    let params: Params<'_> = &[("queue_id", &unpolled.id), ("last_event_id", &-1), ("dont_block", &true)];
    let body = hamlet.get("/events", params).ok().await;
    let ids = body["events"].as_array().unwrap().iter().map(|event| &event["message"]["id"]);
    assert_eq!(ids.collect::<Vec<_>>(), [first, unread, later]);
    // The queues of other users are still unknown.
    let foreign: Params<'_> = &[("queue_id", &queue.id), ("last_event_id", &-1), ("dont_block", &true)];
    iago.get("/events", foreign).refused(400, bad(&queue.id)).await;
}

#[tokio::test]
async fn local_echo_after_restart() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("a").await;
    let [queue, other] =
        [iago.register().events(&["message"]).await, iago.register().events(&["message"]).await];
    let params: Params<'_> = &[
        ("type", &"channel"),
        ("to", &channel.id),
        ("topic", &"t"),
        ("content", &"acknowledged"),
        ("queue_id", &queue.id),
        ("local_id", &"7.01"),
    ];
    iago.post("/messages", params).ok().await;
    let t = TestServer::builder().on(t.stop().await).start().await;
    let iago = t.user("iago");
    for (id, local_id) in [(&queue.id, json!("7.01")), (&other.id, Value::Null)] {
        let params: Params<'_> = &[("queue_id", id), ("last_event_id", &-1), ("dont_block", &true)];
        let body = iago.get("/events", params).ok().await;
        assert_eq!(body["events"][0]["local_message_id"], local_id);
    }
}
