//! The search index after `kill -9`, without its folder, and with damaged files: it finds what the journal has.

use crate::support::{ServerProcess, TestUser, poll_for};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::time::Duration;

fn start(data: &Path, write_secs: &str) -> ServerProcess {
    let data = data.display().to_string();
    let environment = [("MILLSTREAM_LOG_FILTER", "info"), ("MILLSTREAM_SEARCH_WRITE_SECS", write_secs)];
    ServerProcess::start(&["dev", "--listen", "127.0.0.1:0", "--data", &data], &environment)
}

async fn send(person: &TestUser, content: &str) -> u64 {
    let params: crate::support::Params<'_> =
        &[("type", &"stream"), ("to", &"Verona"), ("topic", &"index"), ("content", &content)];
    person.post("/messages", params).ok().await["id"].as_u64().expect("an id")
}

async fn found(person: &TestUser, text: &str) -> Vec<u64> {
    let narrow = json!([["channel", "Verona"], ["search", text]]);
    poll_for("the search is ready", || async {
        let params: crate::support::Params<'_> =
            &[("anchor", &"newest"), ("num_before", &1000), ("narrow", &narrow)];
        let answer = person.get("/messages", params).await;
        let ids =
            |messages: &Vec<serde_json::Value>| messages.iter().filter_map(|m| m["id"].as_u64()).collect();
        (answer.status == 200).then(|| answer.body["messages"].as_array().map(ids).unwrap_or_default())
    })
    .await
}

fn has_index(data: &Path) -> bool {
    data.join("search/1/meta.json").exists()
}

async fn written(data: &Path) {
    poll_for("the index is written", || async { has_index(data).then_some(()) }).await;
}

#[tokio::test]
async fn search_finds_everything_acknowledged_after_kill() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut sent = Vec::new();
    let mut gone = Vec::new();
    for round in 0..6_u64 {
        let server = start(&data, "0");
        let iago = server.user("iago").await;
        assert_eq!(found(&iago, "frobozz").await, sent, "after kill {round}");
        for number in 0..40 {
            sent.push(send(&iago, &format!("frobozz round{round} number{number}")).await);
        }
        let edited = sent.remove(0);
        iago.edit(edited, &[("content", &"something else")]).ok().await;
        let deleted = sent.remove(3);
        iago.delete(&format!("/messages/{deleted}"), &[]).ok().await;
        gone.extend([edited, deleted]);
        // Before, while and after the index is written.
        tokio::time::sleep(Duration::from_millis(round * 300)).await;
        assert_eq!(found(&iago, "frobozz").await, sent, "round {round}");
        server.kill();
    }
    let server = start(&data, "0");
    let iago = server.user("iago").await;
    assert_eq!(found(&iago, "frobozz").await, sent);
    assert_eq!(found(&iago, "frobozz round5 number39").await, sent[sent.len() - 1..]);
    written(&data).await;
    server.terminate();
    server.wait();
    crate::support::server::assert_clean(&data);
}

#[tokio::test]
async fn missing_and_damaged_index_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = start(&data, "0");
    let iago = server.user("iago").await;
    let sent = vec![send(&iago, "frobozz one").await, send(&iago, "frobozz two").await];
    written(&data).await;
    server.kill();
    let damage = |cut: usize| {
        for file in fs::read_dir(data.join("search/1")).unwrap().map(|file| file.unwrap().path()) {
            let bytes = fs::read(&file).unwrap();
            fs::write(&file, &bytes[..bytes.len() * cut / 4]).unwrap();
        }
    };
    for round in 0..4 {
        match round {
            0 => fs::remove_dir_all(data.join("search")).unwrap(),
            1 => damage(0),
            2 => damage(3),
            _ => fs::write(data.join("search/1/meta.json"), "{}").unwrap(),
        }
        let server = start(&data, "0");
        let iago = server.reconnect(&server.user("iago").await);
        assert_eq!(found(&iago, "frobozz").await, sent, "{round}");
        written(&data).await;
        server.kill();
    }
}

#[tokio::test]
async fn index_cut_while_the_server_runs_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = start(&data, "0");
    let iago = server.user("iago").await;
    let sent = vec![send(&iago, "frobozz one").await];
    written(&data).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    for file in fs::read_dir(data.join("search/1")).unwrap().map(|file| file.unwrap().path()) {
        fs::write(&file, "").unwrap();
    }
    assert_eq!(found(&iago, "frobozz").await, sent);
    let more = send(&iago, "frobozz two").await;
    assert_eq!(found(&iago, "frobozz").await, [sent[0], more]);
    server.kill();
}
