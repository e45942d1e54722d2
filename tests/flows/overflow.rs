//! A client that falls behind loses its queue, and knows it. It never gets a gap.

use crate::support::TestServer;
use serde_json::json;

#[tokio::test]
async fn a_client_too_far_behind_must_register_again() {
    let t = TestServer::plan().set("queues.events_max", 20).start().await;
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
            // It never acknowledges, so it must see everything from the start, or nothing any more.
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
