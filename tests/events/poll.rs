//! `GET /events`.

use crate::support::shape::fields;
use crate::support::{Params, TestServer};
use serde_json::{Value, json};

#[tokio::test]
async fn refusals_in_their_order() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let queue = hamlet.register().await;
    iago.get("/events", &[]).bad("Missing 'queue_id' argument").await;
    let bad = |id: &str| json!({"msg": format!("Bad event queue ID: {id}"), "code": "BAD_EVENT_QUEUE_ID", "queue_id": id});
    hamlet.get("/events", &[("queue_id", &queue.id)]).bad("Missing 'last_event_id' argument").await;
    // Unknown and somebody else's look the same.
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
    assert_eq!(t.stranger().get("/events", &[("queue_id", &queue.id)]).await.status, 401);
}

#[tokio::test]
async fn what_is_acknowledged_is_gone_and_the_rest_comes_again() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let queue = hamlet.register().events(&["message"]).await;
    let mut sent = Vec::new();
    for number in 0..3 {
        sent.push(iago.send_direct(&[&hamlet], &number.to_string()).await);
    }
    let poll = |last: i64| {
        let (hamlet, id) = (hamlet.clone(), queue.id.clone());
        async move {
            let params: Params<'_> = &[("queue_id", &id), ("last_event_id", &last), ("dont_block", &true)];
            hamlet.get("/events", params).await
        }
    };
    let body = poll(-1).await.ok();
    assert_eq!(fields(&body), ["events"]);
    let events = body["events"].as_array().unwrap().clone();
    let ids: Vec<i64> = events.iter().map(|event| event["id"].as_i64().unwrap()).collect();
    assert!(ids.is_sorted_by(|a, b| a < b) && ids.len() == 3, "{ids:?}");
    let messages: Vec<u64> = events.iter().map(|event| event["message"]["id"].as_u64().unwrap()).collect();
    assert_eq!(messages, sent);
    // Nothing was acknowledged, so it is all there again, byte for byte.
    assert_eq!(poll(-1).await.ok()["events"], json!(events));
    assert_eq!(poll(ids[0]).await.ok()["events"], json!(events[1..]));
    assert_eq!(poll(ids[2]).await.ok()["events"], json!([]));
    let pruned = format!("An event newer than {} has already been pruned!", ids[0]);
    poll(ids[0]).await.refused(400, json!({"msg": pruned, "code": "BAD_REQUEST"}));
    let unknown = format!("Event {} was not in this queue", ids[2] + 1000);
    poll(ids[2] + 1000).await.refused(400, json!({"msg": unknown, "code": "BAD_REQUEST"}));
    // A refusal changed nothing.
    let next = iago.send_direct(&[&hamlet], "next").await;
    assert_eq!(poll(ids[2]).await.ok()["events"][0]["message"]["id"], next);
}

#[tokio::test]
async fn a_queue_begins_where_its_registration_says() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    // Events that are not kept take numbers, too.
    iago.post("/typing", &[("op", &"start"), ("to", &json!([hamlet.id]))]).ok().await;
    let registered = hamlet.post("/register", &[("event_types", &json!(["message"]))]).ok().await;
    let queue_id = registered["queue_id"].as_str().unwrap();
    let begin: Params<'_> = &[("queue_id", &queue_id), ("last_event_id", &registered["last_event_id"])];
    let sent = iago.send_direct(&[&hamlet], "hello").await;
    assert_eq!(hamlet.get("/events", begin).ok().await["events"][0]["message"]["id"], sent);
}

#[tokio::test]
async fn a_poll_waits_for_the_first_event() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let mut queue = hamlet.register().events(&["message"]).await;
    let waiting = tokio::spawn(async move { queue.next().await });
    let id = iago.send_direct(&[&hamlet], "wake up").await;
    assert_eq!(waiting.await.unwrap()["message"]["id"], id);
}

#[tokio::test]
async fn a_second_poll_ends_the_first() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let queue = std::sync::Arc::new(hamlet.register().events(&["message"]).await);
    let polls = [queue.clone(), queue].map(|queue| tokio::spawn(async move { queue.poll(false).await.ok() }));
    // Whichever comes second ends whichever came first.
    let (ended, _, mut waiting) = futures_util::future::select_all(polls).await;
    assert_eq!(ended.unwrap()["events"], json!([]));
    let id = iago.send_direct(&[&hamlet], "for the second").await;
    let body = waiting.remove(0).await.unwrap();
    assert_eq!(body["events"][0]["message"]["id"], id);
}

#[tokio::test]
async fn only_what_was_asked_for() {
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
