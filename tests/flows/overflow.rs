//! A client that falls too far behind loses its queue with an error; it never misses events silently.

use crate::api::bots::make;
use crate::support::TestServer;
use serde_json::json;

#[tokio::test]
async fn queue_overflow_requires_new_registration() {
    let t = TestServer::builder().set("queues.events_max", 20).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("a").with(&hamlet).await;
    let slow = hamlet.register().events(&["message"]).await;
    let mut quick = hamlet.register().events(&["message"]).await;
    let mut seen = Vec::new();
    for number in 0..60 {
        let id = iago.send(&channel, "t", &number.to_string()).await;
        assert_eq!(quick.next().await["message"]["id"], id);
        let answer = slow.poll(true).await;
        if answer.status == 200 {
            // It never acknowledges, so it gets either all events from the start or an error.
            seen.push(id);
            let events = answer.ok()["events"].clone();
            let ids: Vec<u64> = events
                .as_array()
                .unwrap()
                .iter()
                .map(|event| event["message"]["id"].as_u64().unwrap())
                .collect();
            assert_eq!(ids, seen);
        } else {
            assert_eq!(seen.len(), 20);
            let msg = format!("Bad event queue ID: {}", slow.id);
            answer.refused(400, json!({"msg": msg, "code": "BAD_EVENT_QUEUE_ID", "queue_id": slow.id}));
        }
    }
    assert_eq!(seen.len(), 20);
    let state = hamlet.register().events(&["message"]).await.state;
    assert!(state["max_message_id"].as_u64().unwrap() > seen[19]);
}

#[tokio::test]
async fn queue_bytes_per_user_evicts_largest() {
    let t = TestServer::builder().set("queues.per_user_bytes_max", 100_000).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("a").with(&hamlet).await;
    let slow = hamlet.register().events(&["message"]).await;
    let mut quick = hamlet.register().events(&["message"]).await;
    let mut own = iago.register().events(&["message"]).await;
    let mut seen = Vec::new();
    let lost = loop {
        let id = iago.send(&channel, "t", &"x".repeat(1000)).await;
        assert_eq!(quick.next().await["message"]["id"], id);
        assert_eq!(own.next().await["message"]["id"], id);
        let answer = slow.poll(true).await;
        if answer.status != 200 {
            break answer;
        }
        seen.push(id);
        let body = answer.ok();
        let ids: Vec<u64> = body["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| event["message"]["id"].as_u64().unwrap())
            .collect();
        assert_eq!(ids, seen, "everything, or nothing any more");
        assert!(seen.len() < 100, "it ends");
    };
    let msg = format!("Bad event queue ID: {}", slow.id);
    lost.refused(400, json!({"msg": msg, "code": "BAD_EVENT_QUEUE_ID", "queue_id": slow.id}));
    assert!(seen.len() > 5);
    // Small queues are kept.
    let id = iago.send(&channel, "t", "on it goes").await;
    assert_eq!(quick.next().await["message"]["id"], id);
}

#[tokio::test]
async fn queue_bytes_of_bots_count_for_their_owner() {
    let t = TestServer::builder().set("queues.per_user_bytes_max", 100_000).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let mut own = iago.register().events(&["message"]).await;
    let mut queues = Vec::new();
    for number in 0..8 {
        let (bot, _) = make(&iago, &format!("crew{number}"), &[]).await;
        let queue = bot.register().events(&["message"]).await;
        // More than half of what one account may hold, in messages that no other queue has.
        for _ in 0..3 {
            hamlet.send_direct(&[&bot], &"x".repeat(5000)).await;
        }
        queues.push(queue);
    }
    let mut ended = 0;
    for queue in &queues {
        ended += usize::from(queue.poll(true).await.status == 400);
    }
    assert!((1..=4).contains(&ended), "{ended} of 8 queues with at least 60,000 bytes have ended");
    let id = hamlet.send_direct(&[&iago], "on it goes").await;
    assert_eq!(own.next().await["message"]["id"], id);
}
