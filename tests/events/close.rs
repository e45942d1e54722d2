//! `DELETE /events`.

use crate::support::shape::fields;
use crate::support::{Person, TestServer};
use serde_json::{Value, json};

fn bad(id: &str) -> Value {
    json!({"msg": format!("Bad event queue ID: {id}"), "code": "BAD_EVENT_QUEUE_ID", "queue_id": id})
}

async fn close(who: &Person, id: &str) -> crate::support::Answer {
    who.delete("/events", &[("queue_id", &id)]).await
}

#[tokio::test]
async fn a_closed_queue_is_gone() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let queue = hamlet.register().await;
    close(&iago, &queue.id).await.refused(400, bad(&queue.id));
    let body = close(&hamlet, &queue.id).await.ok();
    assert_eq!(fields(&body), [] as [&str; 0]);
    close(&hamlet, &queue.id).await.refused(400, bad(&queue.id));
    queue.poll(true).await.refused(400, bad(&queue.id));
    close(&hamlet, "nonsense:1").await.refused(400, bad("nonsense:1"));
    let missing = json!({
        "msg": "Missing 'queue_id' argument", "code": "REQUEST_VARIABLE_MISSING", "var_name": "queue_id"
    });
    hamlet.delete("/events", &[]).refused(400, missing).await;
}

#[tokio::test]
async fn whoever_waits_is_answered_first() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let queue = std::sync::Arc::new(hamlet.register().events(&["message"]).await);
    // The poll is held once a message it delivers has come through.
    let other = queue.clone();
    let waiting = tokio::spawn(async move {
        let first = other.poll(false).await.ok();
        let last = first["events"][0]["id"].clone();
        let params: crate::support::Params<'_> = &[("queue_id", &other.id), ("last_event_id", &last)];
        other.person.get("/events", params).await
    });
    iago.send_direct(&[&hamlet], "x").await;
    tokio::task::yield_now().await;
    close(&hamlet, &queue.id).await.ok();
    let answer = waiting.await.unwrap();
    // Either it was waiting and got nothing, or it came too late.
    if answer.status == 200 {
        assert_eq!(answer.ok()["events"], json!([]));
    } else {
        answer.refused(400, bad(&queue.id));
    }
}
