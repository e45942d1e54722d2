//! The search index after `kill -9`, without its folder, and with damaged files: it finds what the journal has.

use crate::support::disk::SmallDisk;
use crate::support::{ServerProcess, TestUser, poll_for};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

fn start(data: &Path, write_secs: &str) -> ServerProcess {
    let data = data.display().to_string();
    let environment = [
        ("MILLSTREAM_LOG_FILTER", "info"),
        ("MILLSTREAM_SEARCH_WRITE_SECS", write_secs),
        ("MILLSTREAM_STORAGE_SEGMENT_BYTES", "1048576"),
    ];
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

/// Whether there was a commit, which states its sequence. The file exists before the first one.
fn has_index(data: &Path) -> bool {
    fs::read_to_string(data.join("search/1/meta.json")).is_ok_and(|meta| meta.contains("\"payload\""))
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

/// What the last commit of the index states: its files and its sequence.
fn state(data: &Path) -> Vec<u8> {
    fs::read(data.join("search/1/meta.json")).unwrap_or_default()
}

/// The state as soon as it has been the same for three times the interval at which changes are looked for.
async fn unchanged(data: &Path) -> Vec<u8> {
    let mut last = (state(data), Instant::now());
    poll_for("the index is no longer written", || {
        if state(data) != last.0 {
            last = (state(data), Instant::now());
        }
        let same = (last.1.elapsed() > Duration::from_secs(3)).then(|| last.0.clone());
        async move { same }
    })
    .await
}

#[tokio::test]
async fn full_disk_under_the_index_loses_no_result() {
    let Some(disk) = SmallDisk::mount(96) else { return };
    let data = disk.data();
    let server = start(&data, "0");
    let iago = server.user("iago").await;
    let mut sent = vec![send(&iago, "frobozz one").await];
    written(&data).await;
    // Room for messages, and not for the index.
    disk.fill_but(24 * 1024);
    // A batch that was begun before is finished; then nothing is written, whatever changes.
    let before = unchanged(&data).await;
    for number in 0..20 {
        sent.push(send(&iago, &format!("frobozz number{number}")).await);
    }
    assert_eq!(found(&iago, "frobozz").await, sent, "messages that the index lacks are read");
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(state(&data), before, "nothing is written while the disk is nearly full");
    assert_eq!(found(&iago, "frobozz").await, sent);
    disk.free();
    poll_for("the index is written", || async { (state(&data) != before).then_some(()) }).await;
    assert_eq!(found(&iago, "frobozz").await, sent);
    assert_eq!(found(&iago, "number7").await, sent[8..9]);
    server.kill();
    let server = start(&data, "0");
    assert_eq!(found(&server.user("iago").await, "frobozz").await, sent);
}

/// What `millstream check` prints.
fn check(data: &Path) -> (bool, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_millstream"));
    let output = command.arg("check").arg("--data").arg(data).output().expect("the check runs");
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[tokio::test]
async fn check_reports_the_sequence_and_damage_of_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = start(&data, "0");
    let iago = server.user("iago").await;
    send(&iago, "frobozz one").await;
    written(&data).await;
    server.terminate();
    server.wait();
    let (is_clean, said) = check(&data);
    let line =
        said.lines().find(|line| line.starts_with("search index of organization 1: ")).expect("a line");
    let words: Vec<&str> = line.split(' ').collect();
    let [.., count, "messages,", "as", "of", "frame", written, "of", frames] = words[..] else {
        panic!("{line}")
    };
    let [count, written, frames] =
        [count, written, frames].map(|word| word.parse::<u64>().expect("a number"));
    assert!(is_clean && count > 0 && written > 0 && written <= frames, "{line}");
    let largest = fs::read_dir(data.join("search/1")).unwrap().map(|file| file.unwrap().path());
    let largest = largest.max_by_key(|file| fs::metadata(file).unwrap().len()).expect("a file");
    let whole = fs::read(&largest).unwrap();
    fs::write(&largest, &whole[..whole.len() / 2]).unwrap();
    let (is_clean, said) = check(&data);
    assert!(is_clean && said.contains("the server makes it again when it starts"), "{said}");
    fs::remove_dir_all(data.join("search")).unwrap();
    let (is_clean, said) = check(&data);
    assert!(is_clean && said.contains("search index of organization 1: none;"), "{said}");
}
