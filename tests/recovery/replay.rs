//! Trees after a live run equal trees after a replay from zero: without them, everything is as before.

use crate::support::{Person, TestServer};
use serde_json::{Value, json};
use std::fs;

/// Everything that somebody can read.
async fn everything(person: &Person) -> Value {
    let mut state = person.register().modern().await.state;
    for momentary in [
        "queue_id",
        "last_event_id",
        "server_timestamp",
        "presences",
        "presence_last_update_id",
        // Its address is another one.
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
async fn without_the_trees_everything_is_as_before() {
    let t = TestServer::plan().development().start().await;
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
    // Stopping checks that the trees are what a replay from zero makes, byte for byte.
    let folder = t.stop().await;
    fs::remove_dir_all(folder.path().join("data/state")).expect("the trees");
    let t = TestServer::plan().development().on(folder).start().await;
    for (name, before) in ["iago", "hamlet", "polonius"].into_iter().zip(before) {
        let after = everything(&t.user(name)).await;
        assert!(after == before, "{}", crate::events::difference(name, &before, &after));
    }
}
