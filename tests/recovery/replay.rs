//! Deleting the trees loses nothing: a replay of the whole journal restores the same state.

use crate::support::{TestServer, TestUser};
use serde_json::{Value, json};
use std::fs;

/// Everything that a user can read.
async fn everything(person: &TestUser) -> Value {
    let mut state = person.register().modern().await.state;
    for momentary in [
        "queue_id",
        "last_event_id",
        "server_timestamp",
        "presences",
        "presence_last_update_id",
        // The server has another address.
        "realm_url",
        "realm_uri",
        "server_emoji_data_url",
    ] {
        state[momentary] = json!(null);
    }
    let mut topics = Vec::new();
    for channel in state["streams"].as_array().unwrap() {
        topics.push(person.get(&format!("/users/me/{}/topics", channel["stream_id"]), &[]).await.body);
    }
    let starred = person.messages(json!([["is", "starred"]])).await;
    json!({"state": state, "messages": person.messages(json!([])).await, "topics": topics, "starred": starred})
}

#[tokio::test]
async fn replay_without_trees_restores_everything() {
    let t = TestServer::builder().development().start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let secret = hamlet.create_channel("secret").private().with(&polonius).await;
    let id = hamlet.send(&secret, "plot", "@**Polonius** *hush*").await;
    polonius.flag("add", "starred", &[id]).await;
    polonius.flag("add", "read", &[id]).await;
    iago.send_direct(&[&hamlet, &polonius], "hello").await;
    polonius.unsubscribe(&secret).await;
    let mut before = Vec::new();
    for person in [&iago, &hamlet, &polonius] {
        before.push(everything(person).await);
    }
    // Stopping checks that the trees equal a replay of the whole journal, byte for byte.
    let folder = t.stop().await;
    fs::remove_dir_all(folder.path().join("data/state")).expect("the trees");
    let t = TestServer::builder().development().on(folder).start().await;
    for (name, before) in ["iago", "hamlet", "polonius"].into_iter().zip(before) {
        let after = everything(&t.user(name)).await;
        assert!(after == before, "{}", crate::events::difference(name, &before, &after));
    }
}
