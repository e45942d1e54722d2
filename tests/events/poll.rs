//! `GET /events`.

use crate::support::shape::fields;
use crate::support::{Params, TestServer};
use serde_json::{Value, json};

#[tokio::test]
async fn poll_errors() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let queue = hamlet.register().await;
    iago.get("/events", &[]).bad("Missing 'queue_id' argument").await;
    let bad = |id: &str| json!({"msg": format!("Bad event queue ID: {id}"), "code": "BAD_EVENT_QUEUE_ID", "queue_id": id});
    hamlet.get("/events", &[("queue_id", &queue.id)]).bad("Missing 'last_event_id' argument").await;
    // Unknown queues and those of other users give the same error.
    for id in ["nonsense:1", queue.id.as_str(), ""] {
        let params: Params<'_> = &[("queue_id", &id), ("last_event_id", &-1), ("dont_block", &true)];
        iago.get("/events", params).refused(400, bad(id)).await;
    }
    for (name, value, msg) in [
        ("last_event_id", "x", "last_event_id is not valid JSON"),
        ("dont_block", "1", "dont_block is not a boolean"),
    ] {
        let last: &(dyn std::fmt::Display + Sync) = if name == "last_event_id" { &value } else { &-1 };
        let block: &(dyn std::fmt::Display + Sync) = if name == "dont_block" { &value } else { &true };
        let params: Params<'_> = &[("queue_id", &queue.id), ("last_event_id", last), ("dont_block", block)];
        hamlet.get("/events", params).bad(msg).await;
    }
    assert_eq!(t.anonymous().get("/events", &[("queue_id", &queue.id)]).await.status, 401);
}

#[tokio::test]
async fn poll_acknowledges_and_redelivers() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let queue = hamlet.register().events(&["message"]).await;
    let mut sent = Vec::new();
    for number in 0..3 {
        sent.push(iago.send_direct(&[&hamlet], &number.to_string()).await);
    }
    let poll = |last: i64| queue.poll_after(last, true);
    let body = poll(-1).await.ok();
    assert_eq!(fields(&body), ["events"]);
    let events = body["events"].as_array().unwrap().clone();
    let ids: Vec<i64> = events.iter().map(|event| event["id"].as_i64().unwrap()).collect();
    assert!(ids.is_sorted_by(|a, b| a < b) && ids.len() == 3, "{ids:?}");
    let messages: Vec<u64> = events.iter().map(|event| event["message"]["id"].as_u64().unwrap()).collect();
    assert_eq!(messages, sent);
    // Nothing was acknowledged, so all events are returned again, byte for byte.
    assert_eq!(poll(-1).await.ok()["events"], json!(events));
    assert_eq!(poll(ids[0]).await.ok()["events"], json!(events[1..]));
    assert_eq!(poll(ids[2]).await.ok()["events"], json!([]));
    let pruned = format!("An event newer than {} has already been pruned!", ids[0]);
    poll(ids[0]).await.refused(400, json!({"msg": pruned, "code": "BAD_REQUEST"}));
    let unknown = format!("Event {} was not in this queue", ids[2] + 1000);
    poll(ids[2] + 1000).await.refused(400, json!({"msg": unknown, "code": "BAD_REQUEST"}));
    // The errors changed nothing.
    let next = iago.send_direct(&[&hamlet], "next").await;
    assert_eq!(poll(ids[2]).await.ok()["events"][0]["message"]["id"], next);
}

#[tokio::test]
async fn poll_from_registered_last_event_id() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    // Events that a queue did not register for use up ids as well.
    iago.post("/typing", &[("op", &"start"), ("to", &json!([hamlet.id]))]).ok().await;
    let registered = hamlet.post("/register", &[("event_types", &json!(["message"]))]).ok().await;
    let queue_id = registered["queue_id"].as_str().unwrap();
    let begin: Params<'_> = &[("queue_id", &queue_id), ("last_event_id", &registered["last_event_id"])];
    let sent = iago.send_direct(&[&hamlet], "hello").await;
    assert_eq!(hamlet.get("/events", begin).ok().await["events"][0]["message"]["id"], sent);
}

#[tokio::test]
async fn many_large_events_come_in_several_answers() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let mut queue = hamlet.register().modern().events(&["message"]).await;
    // 100 KB of HTML each.
    let content = ":tada: ".repeat(1428);
    let mut sent = Vec::new();
    for _ in 0..30 {
        sent.push(iago.send_direct(&[&hamlet], &content).await);
    }
    let mut received = Vec::new();
    let mut answers = 0;
    while received.len() < sent.len() {
        let events = queue.now().await;
        assert!(!events.is_empty() && events.len() < sent.len(), "{} events", events.len());
        received.extend(events.iter().map(|event| event["message"]["id"].as_u64().expect("an id")));
        answers += 1;
    }
    assert_eq!(received, sent);
    assert!(answers >= 2, "{answers}");
}

#[tokio::test]
async fn poll_is_held_until_an_event_arrives() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let queue = hamlet.register().events(&["message"]).await;
    let poll = t.hold_poll(&queue).await;
    // An event of a type that the queue did not register for does not answer the poll.
    iago.post("/typing", &[("op", &"start"), ("to", &json!([hamlet.id]))]).ok().await;
    assert!(t.is_polled(&queue) && !poll.is_finished());
    let id = iago.send_direct(&[&hamlet], "wake up").await;
    let body = poll.await.unwrap().ok();
    let events = body["events"].as_array().unwrap();
    assert_eq!((events.len(), &events[0]["message"]["id"]), (1, &json!(id)));
    assert!(!t.is_polled(&queue));
}

#[tokio::test]
async fn second_poll_ends_first() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let queue = hamlet.register().events(&["message"]).await;
    let first = t.hold_poll(&queue).await;
    let second = tokio::spawn(async move { queue.poll(false).await });
    assert_eq!(first.await.unwrap().ok()["events"], json!([]));
    let id = iago.send_direct(&[&hamlet], "for the second").await;
    assert_eq!(second.await.unwrap().ok()["events"][0]["message"]["id"], id);
}

#[tokio::test]
async fn queue_filters_event_types_narrow_and_public_streams() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let rome = iago.create_channel("Rome").await;
    let mut narrowed = hamlet
        .register()
        .events(&["message"])
        .set("narrow", json!([["stream", "Verona"], ["topic", "pens"]]))
        .await;
    let mut public = hamlet.register().events(&["message"]).set("all_public_streams", json!(true)).await;
    let mut flags = hamlet.register().events(&["update_message_flags"]).await;
    let mut plain = hamlet.register().events(&["message"]).set("apply_markdown", json!(false)).await;
    let pens = iago.send(&verona, "Pens", "*a*").await;
    let other = iago.send(&verona, "other", "*b*").await;
    let elsewhere = iago.send(&rome, "pens", "c").await;
    let ids = |events: Vec<Value>| -> Vec<u64> {
        events.iter().map(|event| event["message"]["id"].as_u64().unwrap()).collect()
    };
    assert_eq!(ids(narrowed.now().await), [pens]);
    let events = public.now().await;
    assert_eq!(events[2]["flags"], json!([]));
    assert_eq!(ids(events), [pens, other, elsewhere]);
    assert_eq!(flags.now().await, [] as [Value; 0]);
    let events = plain.now().await;
    assert_eq!((&events[0]["message"]["content"], events.len()), (&json!("*a*"), 2));
    assert_eq!(events[0]["message"]["content_type"], "text/x-markdown");
}
