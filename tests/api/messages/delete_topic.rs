//! `POST /streams/{id}/delete_topic`: deletes from the newest message on, 100 messages per batch.

use crate::support::{Call, Channel, TestServer, TestUser};
use serde_json::json;

fn delete_topic(person: &TestUser, channel: &Channel, topic: &str) -> Call {
    person.post(&format!("/streams/{}/delete_topic", channel.id), &[("topic_name", &topic)])
}

#[tokio::test]
async fn delete_topic_deletes_exactly_the_topic() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    for number in 0..205 {
        iago.send(&verona, if number % 2 == 0 { "Lunch" } else { "lunch" }, "x").await;
    }
    let kept = iago.send(&verona, "tea", "x").await;
    let answer = delete_topic(&iago, &verona, " LUNCH ").ok().await;
    assert_eq!(answer, json!({"result": "success", "msg": "", "complete": true}));
    let topics = hamlet.get(&format!("/users/me/{}/topics", verona.id), &[]).ok().await;
    assert_eq!(topics["topics"][0], json!({"name": "tea", "max_id": kept}));
    let left = iago.messages(json!([["channel", "Verona"]])).await;
    let subjects: Vec<_> = left.iter().map(|message| &message["subject"]).collect();
    assert_eq!(subjects, ["channel events", "tea"]);
    let again = delete_topic(&iago, &verona, "lunch").ok().await;
    assert_eq!(again["complete"], true);
}

#[tokio::test]
async fn delete_topic_in_repeated_batches() {
    let t = TestServer::builder().set("http.topic_deletion_secs_max", 0).start().await;
    let iago = t.user("iago");
    let verona = iago.create_channel("Verona").await;
    let mut ids = Vec::new();
    for _ in 0..201 {
        ids.push(iago.send(&verona, "", "x").await);
    }
    for (left, complete) in [(101, false), (1, false), (0, true)] {
        let answer = delete_topic(&iago, &verona, "general chat").ok().await;
        assert_eq!(answer["complete"], complete);
        let found = iago.message_ids(json!([["channel", "Verona"], ["topic", ""]])).await;
        assert_eq!(found, ids[..left], "the newest go first");
    }
}

#[tokio::test]
async fn delete_topic_event_per_batch() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let verona = iago.create_channel("Verona").await;
    let mut ids = Vec::new();
    for _ in 0..150 {
        ids.push(iago.send(&verona, "lunch", "x").await);
    }
    let mut queue = iago.register().modern().events(&["delete_message"]).await;
    delete_topic(&iago, &verona, "lunch").ok().await;
    let received: Vec<_> = queue.now().await.iter().map(|event| event["message_ids"].clone()).collect();
    assert_eq!(received, [json!(ids[50..]), json!(ids[..50])]);
}

#[tokio::test]
async fn delete_topic_removes_visibility_policies() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let verona = iago.create_channel("Verona").await;
    iago.send(&verona, "lunch", "x").await;
    let topics = |state: &serde_json::Value| state["user_topics"].as_array().map(Vec::len);
    assert_eq!(topics(&iago.register().modern().await.state), Some(1));
    delete_topic(&iago, &verona, "lunch").ok().await;
    assert_eq!(topics(&iago.register().modern().await.state), Some(0));
}

#[tokio::test]
async fn delete_topic_respects_protected_history() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let secret = hamlet.create_channel("secret").protected_history().await;
    let early = hamlet.send(&secret, "lunch", "x").await;
    delete_topic(&iago, &secret, "lunch").bad("Invalid channel ID").await;
    hamlet.subscribe_others(&secret, &[&iago]).await;
    hamlet.send(&secret, "lunch", "y").await;
    assert_eq!(delete_topic(&iago, &secret, "lunch").ok().await["complete"], true);
    assert_eq!(hamlet.message_ids(json!([["channel", "secret"], ["topic", "lunch"]])).await, [early]);
}

#[tokio::test]
async fn delete_topic_permission() {
    let t = TestServer::start().await;
    let [iago, hamlet, shiva] = t.users(["iago", "hamlet", "shiva"]);
    let verona = hamlet.create_channel("Verona").await;
    let refused = json!({"msg": "Must be an organization administrator", "code": "UNAUTHORIZED_PRINCIPAL"});
    for person in [&hamlet, &shiva] {
        delete_topic(person, &verona, "x").refused(400, refused.clone()).await;
    }
    let missing = json!({
        "msg": "Missing 'topic_name' argument", "code": "REQUEST_VARIABLE_MISSING", "var_name": "topic_name",
    });
    iago.post(&format!("/streams/{}/delete_topic", verona.id), &[]).refused(400, missing).await;
    iago.post("/streams/99999/delete_topic", &[("topic_name", &"x")]).bad("Invalid channel ID").await;
}
