//! Messages that are not in memory after a restart: a page reads them for the next reader, who gets them as they are by then.

use crate::support::{Channel, ServerProcess, TestUser};
use serde_json::{Value, json};
use std::path::Path;

/// A server whose trees have all messages.
async fn restart(server: ServerProcess, data: &Path) -> ServerProcess {
    server.terminate();
    assert!(server.wait().success());
    ServerProcess::dev(data)
}

/// How many messages were read from the trees, once there are at least `count`: metrics are made a few times a second.
async fn wait_for_read(server: &ServerProcess, count: u64) -> u64 {
    loop {
        let metrics = server.anonymous().get("/metrics", &[]).await.body;
        let text = metrics.as_str().expect("a text");
        let line = text.lines().find_map(|line| line.strip_prefix("millstream_messages_read_total "));
        let read = line.expect("the counter").parse().expect("a number");
        if read >= count {
            return read;
        }
    }
}

async fn page(reader: &TestUser, topic: &str) -> Vec<Value> {
    reader.messages(json!([["channel", "club"], ["topic", topic]])).await
}

async fn send_all(sender: &TestUser, channel: &Channel, topic: &str, count: usize) -> Vec<u64> {
    let mut ids = Vec::new();
    for number in 0..count {
        ids.push(sender.send(channel, topic, &format!("{topic} {number}")).await);
    }
    ids
}

#[tokio::test]
async fn pages_are_read_once_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let server = ServerProcess::dev(&data);
    let [iago, hamlet] = [server.user("iago").await, server.user("hamlet").await];
    let club = iago.create_channel("club").with(&hamlet).await;
    send_all(&iago, &club, "tea", 20).await;
    send_all(&iago, &club, "milk", 7).await;
    let server = restart(server, &data).await;
    let [iago, hamlet] = [server.user("iago").await, server.user("hamlet").await];
    for reader in [&iago, &hamlet, &iago] {
        assert_eq!(page(reader, "tea").await.len(), 20);
    }
    assert_eq!(page(&iago, "milk").await.len(), 7);
    assert_eq!(wait_for_read(&server, 27).await, 27, "each message is read for its first reader");
}

#[tokio::test]
async fn pages_show_what_has_changed_since_they_were_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let server = ServerProcess::dev(&data);
    let [iago, hamlet] = [server.user("iago").await, server.user("hamlet").await];
    let club = iago.create_channel("club").with(&hamlet).await;
    let ids = send_all(&iago, &club, "tea", 12).await;
    let poll = iago.send(&club, "tea", "/poll Tea?\nyes").await;
    iago.edit(ids[0], &[("content", &"edited before")]).ok().await;
    let reaction = |id: u64| format!("/messages/{id}/reactions");
    hamlet.post(&reaction(ids[1]), &[("emoji_name", &"tada")]).ok().await;

    let server = restart(server, &data).await;
    let [iago, hamlet] = [server.user("iago").await, server.user("hamlet").await];
    let before = page(&hamlet, "tea").await;
    assert_eq!(page(&hamlet, "tea").await, before);
    for (id, content) in [(ids[0], "edited again"), (ids[2], "edited")] {
        iago.edit(id, &[("content", &content)]).ok().await;
    }
    hamlet.delete(&reaction(ids[1]), &[("emoji_name", &"tada")]).ok().await;
    hamlet.post(&reaction(ids[3]), &[("emoji_name", &"heart")]).ok().await;
    let vote = json!({"type": "vote", "key": "canned,0", "vote": 1});
    hamlet
        .post("/submessage", &[("message_id", &poll), ("msg_type", &"widget"), ("content", &vote)])
        .ok()
        .await;
    iago.delete(&format!("/messages/{}", ids[4]), &[]).ok().await;
    iago.edit(ids[5], &[("topic", &"milk"), ("propagate_mode", &"change_one")]).ok().await;
    let after = [page(&hamlet, "tea").await, page(&hamlet, "milk").await];

    let changed = |id: u64| after[0].iter().find(|message| message["id"] == id);
    let content = |id: u64| changed(id).expect("a message")["content"].clone();
    assert_eq!([content(ids[0]), content(ids[2])], ["<p>edited again</p>", "<p>edited</p>"]);
    let reactions = |id: u64| changed(id).expect("a message")["reactions"].as_array().map(Vec::len);
    assert_eq!([reactions(ids[1]), reactions(ids[3])], [Some(0), Some(1)]);
    assert_eq!(changed(poll).expect("the poll")["submessages"].as_array().map(Vec::len), Some(2));
    assert!(changed(ids[4]).is_none() && changed(ids[5]).is_none());
    assert_eq!(after[1].first().map(|message| message["id"].clone()), Some(json!(ids[5])));
    hamlet.get(&format!("/messages/{}", ids[4]), &[]).bad("Invalid message(s)").await;

    let server = restart(server, &data).await;
    let hamlet = server.user("hamlet").await;
    assert_eq!([page(&hamlet, "tea").await, page(&hamlet, "milk").await], after, "as the trees have it");
}
