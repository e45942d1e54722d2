//! The server is killed while it deletes a topic: messages are deleted from the newest on in whole batches, and
//! repeating the request deletes the rest.

use crate::support::server::assert_clean;
use crate::support::{Channel, ServerProcess, TestUser};
use serde_json::{Value, json};
use std::time::Duration;

const MESSAGES: usize = 1000;

async fn ids(person: &TestUser, channel: &Channel, topic: &str) -> Vec<u64> {
    person.message_ids(json!([["channel", channel.name], ["topic", topic]])).await
}

#[tokio::test]
async fn delete_topic_killed_midway_can_be_repeated() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let mut server = ServerProcess::dev(&data);
    let mut iago = server.user("iago").await;
    let channel = iago.create_channel("to be emptied").await;
    let mut senders = Vec::new();
    for _ in 0..10 {
        let (person, channel) = (iago.clone(), channel.clone());
        senders.push(tokio::spawn(async move {
            for number in 0..MESSAGES / 10 {
                person.send(&channel, "lunch", &number.to_string()).await;
            }
        }));
    }
    for sender in senders {
        sender.await.expect("a sender");
    }
    let kept = iago.send(&channel, "tea", "x").await;
    let all = ids(&iago, &channel, "lunch").await;
    assert_eq!(all.len(), MESSAGES);
    let path = format!("/streams/{}/delete_topic", channel.id);
    let mut left = all.clone();
    for pause in [2, 5, 9] {
        let (person, path) = (iago.clone(), path.clone());
        let asked = tokio::spawn(async move {
            let request = person.post(&path, &[("topic_name", &"lunch")]).request;
            request.send().await.is_ok()
        });
        // How much is deleted by then depends on the machine.
        tokio::time::sleep(Duration::from_millis(pause)).await;
        server.kill();
        asked.await.expect("an end");
        assert_clean(&data);
        server = ServerProcess::dev(&data);
        iago = server.reconnect(&iago);
        let now = ids(&iago, &channel, "lunch").await;
        assert_eq!(now, left[..now.len()], "the oldest are left");
        assert!((left.len() - now.len()).is_multiple_of(100), "whole batches went: {}", now.len());
        left = now;
    }
    let answer = iago.post(&path, &[("topic_name", &"lunch")]).ok().await;
    assert_eq!(answer["complete"], Value::Bool(true));
    assert!(ids(&iago, &channel, "lunch").await.is_empty());
    assert_eq!(ids(&iago, &channel, "tea").await, [kept]);
    server.kill();
    assert_clean(&data);
}
