//! `DELETE /events`.

use crate::support::shape::fields;
use crate::support::{TestServer, TestUser};
use serde_json::{Value, json};

fn bad(id: &str) -> Value {
    json!({"msg": format!("Bad event queue ID: {id}"), "code": "BAD_EVENT_QUEUE_ID", "queue_id": id})
}

async fn close(who: &TestUser, id: &str) -> crate::support::ApiResponse {
    who.delete("/events", &[("queue_id", &id)]).await
}

#[tokio::test]
async fn delete_queue() {
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
async fn delete_queue_answers_waiting_poll() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let queue = hamlet.register().events(&["message"]).await;
    let poll = t.hold_poll(&queue).await;
    close(&hamlet, &queue.id).await.ok();
    assert_eq!(poll.await.unwrap().ok()["events"], json!([]));
}
