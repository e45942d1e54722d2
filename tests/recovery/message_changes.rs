//! Repeated changes of messages: journal bytes of each change, durability after a kill, and equality of the trees with
//! a replay of the journal.

use crate::support::server::assert_clean;
use crate::support::{Params, ServerProcess, TestServer, TestUser};
use serde_json::{Value, json};
use std::fs;
use std::time::Duration;

/// Characters of the longest allowed message.
const LONG: usize = 10_000;
/// Size in bytes of the smallest journal group on disk.
const BLOCK: u64 = 4096;

/// How many times a long message is edited; 1,000 for the figures of tests/RELIABILITY.md.
fn edits() -> u64 {
    std::env::var("MILLSTREAM_EDITS").ok().and_then(|count| count.parse().ok()).unwrap_or(60)
}

fn long_text(number: u64) -> String {
    let text = format!("edit {number} {}", "tea and milk ".repeat(LONG / 13));
    text.chars().take(LONG - 1).chain(['.']).collect()
}

/// Bytes that the process has written to its journal so far.
async fn journal_bytes(server: &ServerProcess) -> u64 {
    let metrics = server.anonymous().get("/metrics", &[]).await.body;
    let line = metrics
        .as_str()
        .and_then(|text| text.lines().find_map(|line| line.strip_prefix("millstream_journal_bytes_total ")));
    line.and_then(|number| number.parse().ok()).expect("the journal is measured")
}

async fn send(person: &TestUser, content: &str) -> u64 {
    let params: Params<'_> =
        &[("type", &"stream"), ("to", &"Verona"), ("topic", &"tea"), ("content", &content)];
    person.post("/messages", params).ok().await["id"].as_u64().expect("an id")
}

async fn react(person: &TestUser, id: u64, emoji: &str) {
    person.post(&format!("/messages/{id}/reactions"), &[("emoji_name", &emoji)]).ok().await;
}

async fn unreact(person: &TestUser, id: u64, emoji: &str) {
    person.delete(&format!("/messages/{id}/reactions"), &[("emoji_name", &emoji)]).ok().await;
}

async fn vote(person: &TestUser, id: u64, vote: i32) {
    let content = json!({"type": "vote", "key": "canned,0", "vote": vote});
    let params: Params<'_> = &[("message_id", &id), ("msg_type", &"widget"), ("content", &content)];
    person.post("/submessage", params).ok().await;
}

#[tokio::test]
async fn message_change_journal_bytes_are_bounded() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = ServerProcess::dev(&folder.path().join("data"));
    let [iago, hamlet] = [server.user("iago").await, server.user("hamlet").await];
    let id = send(&iago, &long_text(0)).await;
    for number in 1..=13 {
        iago.edit(id, &[("content", &long_text(number))]).ok().await;
    }
    let before = journal_bytes(&server).await;
    for _ in 0..10 {
        react(&hamlet, id, "tada").await;
        unreact(&hamlet, id, "tada").await;
    }
    let reaction = (journal_bytes(&server).await - before) / 20;
    println!("a reaction after 13 long edits: {reaction} bytes");
    assert!(reaction <= BLOCK, "{reaction}");

    let (start, count) = (journal_bytes(&server).await, edits());
    // Metrics that are asked for more than a few times a second are the last ones again.
    for number in 14..13 + count {
        iago.edit(id, &[("content", &long_text(number))]).ok().await;
    }
    let before = journal_bytes(&server).await;
    iago.edit(id, &[("content", &long_text(13 + count))]).ok().await;
    let end = journal_bytes(&server).await;
    let (all, at_last) = (end - start, end - before);
    println!("{count} edits of {LONG} characters: {all} bytes, the last one {at_last}");
    // The text, its HTML, and the padding of the last block; less where they are compressed.
    let edit = 2 * LONG as u64 + 2 * BLOCK;
    assert!((BLOCK..=edit).contains(&at_last) && all <= count * edit, "{at_last} {all}");
    let history = iago.get(&format!("/messages/{id}/history"), &[]).ok().await;
    let states = history["message_history"].as_array().expect("states");
    assert!(states.len() > 40, "{}", states.len());
    assert_eq!(states[states.len() - 1]["content"], json!(long_text(13 + count)));

    let poll = send(&iago, "/poll Tea?\nyes").await;
    let before = journal_bytes(&server).await;
    for number in 0..50 {
        vote(&hamlet, poll, if number % 2 == 0 { 1 } else { -1 }).await;
    }
    // Frames of the background, such as reserved event numbers, may come in between.
    let votes = journal_bytes(&server).await - before;
    println!("50 votes: {votes} bytes");
    assert!(votes <= 53 * BLOCK, "{votes}");
    server.terminate();
    assert!(server.wait().success());
    assert_clean(&folder.path().join("data"));
}

/// A message and its history as a user sees them.
async fn everything_of(person: &TestUser, id: u64) -> Value {
    let message = person.get(&format!("/messages/{id}"), &[]).ok().await;
    let history = person.get(&format!("/messages/{id}/history"), &[]).ok().await;
    json!([message, history])
}

#[tokio::test]
async fn message_changes_replay_without_trees() {
    let t = TestServer::builder().development().start().await;
    let iago = t.user("iago");
    let verona = iago.create_channel("club").await;
    let poll = iago.send(&verona, "tea", "/poll Tea?\nyes").await;
    let message = iago.send(&verona, "tea", "first").await;
    for number in 0..1_000 {
        iago.edit(message, &[("content", &format!("edit {number}"))]).ok().await;
        if number % 2 == 0 {
            react(&iago, message, "tada").await;
            vote(&iago, poll, 1).await;
        } else {
            unreact(&iago, message, "tada").await;
        }
    }
    react(&iago, message, "heart").await;
    let gone = iago.send(&verona, "tea", "gone").await;
    iago.edit(gone, &[("content", &"gone and edited")]).ok().await;
    react(&iago, gone, "tada").await;
    iago.delete(&format!("/messages/{gone}"), &[]).ok().await;
    let before = [everything_of(&iago, poll).await, everything_of(&iago, message).await];
    let states = before[1][1]["message_history"].as_array().expect("states");
    assert_eq!((states.len(), &states[0]["content"]), (1_001, &json!("first")));
    assert_eq!(before[1][1].get("history_limited"), None);
    // Stopping checks that the trees equal a replay of the whole journal, byte for byte.
    let folder = t.stop().await;
    fs::remove_dir_all(folder.path().join("data/state")).expect("the trees");
    let t = TestServer::builder().development().on(folder).start().await;
    let iago = t.user("iago");
    assert_eq!([everything_of(&iago, poll).await, everything_of(&iago, message).await], before);
    t.stop().await;
}

/// Edits, and adds or removes a reaction after each edit, until the server is killed; returns the number of
/// acknowledged edits.
async fn edit_until_gone(person: TestUser, id: u64, first: u64) -> u64 {
    for number in first.. {
        let edit = person.edit(id, &[("content", &format!("edit {number}"))]);
        match edit.request.send().await {
            Ok(answer) if answer.status() == 200 => {}
            _ => return number - 1,
        }
        let path = format!("/messages/{id}/reactions");
        let emoji: Params<'_> = &[("emoji_name", &"tada")];
        let call = if number % 2 == 1 { person.post(&path, emoji) } else { person.delete(&path, emoji) };
        if call.request.send().await.is_err() {
            return number;
        }
    }
    unreachable!("there is always another number")
}

#[tokio::test]
async fn kill_loses_no_acknowledged_edit() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let mut server = ServerProcess::dev(&data);
    let iago = server.user("iago").await;
    let mut messages = Vec::new();
    for _ in 0..4 {
        messages.push((send(&iago, "edit 0").await, 0));
    }
    for round in 0..3 {
        let person = server.reconnect(&iago);
        let editors: Vec<_> = messages
            .iter()
            .map(|(id, edits)| tokio::spawn(edit_until_gone(person.clone(), *id, *edits + 1)))
            .collect();
        tokio::time::sleep(Duration::from_millis(150 + 137 * round)).await;
        server.kill();
        server = ServerProcess::dev(&data);
        let person = server.reconnect(&iago);
        for ((id, edits), editor) in messages.iter_mut().zip(editors) {
            let acknowledged = editor.await.expect("an editor");
            let history = person.get(&format!("/messages/{id}/history"), &[]).ok().await;
            let states = history["message_history"].as_array().expect("states");
            *edits = states.len() as u64 - 1;
            assert!((acknowledged..=acknowledged + 1).contains(edits), "{acknowledged} {edits}");
            for (number, state) in states.iter().enumerate() {
                assert_eq!(state["content"], json!(format!("edit {number}")), "message {id}");
            }
            // Restore the reaction, so that the next round starts like this one.
            let message = person.get(&format!("/messages/{id}"), &[]).ok().await["message"].clone();
            let is_there = message["reactions"].as_array().is_some_and(|reactions| !reactions.is_empty());
            match (is_there, *edits % 2 == 1) {
                (true, false) => unreact(&person, *id, "tada").await,
                (false, true) => react(&person, *id, "tada").await,
                _ => {}
            }
        }
    }
    assert!(messages.iter().all(|(_, edits)| *edits > 0), "{messages:?}");
    server.terminate();
    assert!(server.wait().success());
    assert_clean(&data);
}
