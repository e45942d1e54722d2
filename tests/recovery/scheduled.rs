//! The server is killed while scheduled messages are sent: each is sent once, and none is lost.

use crate::support::server::assert_clean;
use crate::support::{Params, ServerProcess, TestUser, poll_for};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

const MESSAGES: usize = 100;
const ROUNDS: u32 = 4;

fn now_secs() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_secs()
}

async fn schedule(who: &TestUser, number: usize, secs: u64) {
    let content = format!("number {number}");
    let to = json!([who.id]);
    let params: Params<'_> =
        &[("type", &"direct"), ("to", &to), ("content", &content), ("scheduled_delivery_timestamp", &secs)];
    who.post("/scheduled_messages", params).ok().await;
}

async fn sent(who: &TestUser) -> Vec<Value> {
    let all = who.messages(json!([{"operator": "dm", "operand": [who.id]}])).await;
    let is_ours = |one: &Value| one["content"].as_str().is_some_and(|html| html.starts_with("<p>number "));
    all.into_iter().filter(is_ours).collect()
}

#[tokio::test]
async fn scheduled_messages_are_sent_once_across_kills() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let mut server = ServerProcess::dev(&data);
    let hamlet = server.user("hamlet").await;
    let mut person = server.reconnect(&hamlet);
    let due = now_secs() + 12;
    for number in 0..MESSAGES {
        schedule(&person, number, due).await;
    }
    for round in 0..ROUNDS {
        // Some have been sent, most have not.
        let before = sent(&person).await.len();
        poll_for("some are sent", || async {
            let count = sent(&person).await.len();
            (count > before || count == MESSAGES).then_some(())
        })
        .await;
        tokio::time::sleep(Duration::from_millis(u64::from(round) * 7)).await;
        server.kill();
        server = ServerProcess::dev(&data);
        person = server.reconnect(&hamlet);
    }
    poll_for("all are sent", || async {
        let rest = person.get("/scheduled_messages", &[]).ok().await;
        rest["scheduled_messages"].as_array().expect("a list").is_empty().then_some(())
    })
    .await;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for message in sent(&person).await {
        *counts.entry(message["content"].as_str().expect("HTML").to_owned()).or_default() += 1;
    }
    let expected: BTreeMap<String, usize> =
        (0..MESSAGES).map(|number| (format!("<p>number {number}</p>"), 1)).collect();
    assert_eq!(counts, expected);
    server.terminate();
    assert!(server.wait().success());
    assert_clean(&data);
}
