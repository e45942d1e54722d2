//! Backups of a running server, backups and restores that are killed, and restoring as of an earlier time.

use super::traffic::{PEOPLE, read_back_all, send_until_gone};
use crate::support::server::assert_clean;
use crate::support::{ServerProcess, TestUser};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const SENDERS: usize = 16;
/// Backups under load; half of them are killed once before.
const ROUNDS: u64 = 6;

/// Runs a command of the program and kills it after a time.
fn kill_after(args: &[&str], millis: u64) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_millstream"));
    let child = command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.expect("it starts");
    std::thread::sleep(Duration::from_millis(millis));
    // It may have ended by itself.
    let _ = child.kill();
    child.wait().expect("it ends");
}

fn succeed(args: &[&str]) -> String {
    let (status, text) = ServerProcess::run(args);
    assert!(status.success(), "{args:?}: {text}");
    text
}

/// Starts a server on a restored folder and compares its messages.
async fn assert_restored(data: &Path, people: &[TestUser], since: u64, before: &BTreeMap<u64, Value>) {
    let server = ServerProcess::dev(data);
    let found = read_back_all(&server, people, since).await;
    for (id, message) in before {
        let there = found.get(id).map(|found| &found["content"]);
        assert_eq!(there, Some(&message["content"]), "message {id} is not in the restored folder");
    }
    server.reconnect(&people[0]).send_direct(&[&people[1]], "restored").await;
    server.terminate();
    assert!(server.wait().success());
    assert_clean(data);
}

#[tokio::test]
async fn backups_of_a_running_server_restore_what_was_acknowledged() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (data, backups) = (path("data"), path("backups"));
    let server = ServerProcess::dev(folder.path().join("data").as_path());
    let mut people = Vec::new();
    for name in PEOPLE {
        people.push(server.user(name).await);
    }
    let since =
        people[0].register().events(&["message"]).await.state["max_message_id"].as_u64().expect("an id");
    let mut senders = Vec::new();
    for number in 0..SENDERS {
        let partner = people[(number + 1) % people.len()].id;
        let person = server.reconnect(&people[number % people.len()]);
        senders.push(tokio::spawn(send_until_gone(person, partner, format!("b.s{number:02}"))));
    }
    let mut before = BTreeMap::new();
    for round in 0..ROUNDS {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let (data, backups) = (data.clone(), backups.clone());
        before = read_back_all(&server, &people, since).await;
        let make = move || {
            let args = ["backup", "--data", &data, "--to", &backups];
            if round % 2 == 1 {
                kill_after(&args, round * 7);
            }
            succeed(&args)
        };
        tokio::task::spawn_blocking(make).await.expect("a backup");
    }
    server.kill();
    for sender in senders {
        sender.await.expect("a sender");
    }
    let text = succeed(&["backup", "verify", "--from", &backups]);
    assert!(text.contains("backups are intact"), "{text}");
    let restored = path("restored");
    for millis in [0, 3, 9, 20] {
        kill_after(&["restore", "--from", &backups, "--data", &restored], millis);
        if folder.path().join("restored/format").exists() {
            std::fs::remove_dir_all(&restored).expect("removed");
        }
    }
    succeed(&["restore", "--from", &backups, "--data", &restored]);
    assert!(before.len() > SENDERS, "too little traffic: {}", before.len());
    assert_restored(folder.path().join("restored").as_path(), &people, since, &before).await;
    let (status, text) = ServerProcess::run(&["restore", "--from", &backups, "--data", &restored]);
    assert!(!status.success() && text.contains("not empty"), "{text}");
}

#[tokio::test]
async fn restore_as_of_a_second() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (data, backups, restored) = (path("data"), path("backups"), path("restored"));
    let server = ServerProcess::dev(folder.path().join("data").as_path());
    let iago = server.user("iago").await;
    let early = iago.send_direct(&[&iago], "early").await;
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let between = jiff::Timestamp::now();
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let late = iago.send_direct(&[&iago], "late").await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    succeed(&["backup", "--data", &data, "--to", &backups]);
    server.kill();
    let at = between.to_string();
    let text = succeed(&["restore", "--from", &backups, "--data", &restored, "--at", &at]);
    assert!(
        text.starts_with("Restored the state of ") && text.contains(" UTC from the backup of "),
        "{text}"
    );
    assert!(text.contains("iB. ") && text.contains("later change"), "{text}");
    let value: serde_json::Value = serde_json::from_str(&succeed(&[
        "restore",
        "--from",
        &backups,
        "--data",
        &path("again"),
        "--at",
        &at,
        "--output",
        "json",
    ]))
    .expect("JSON");
    let time: jiff::Timestamp = value["time"].as_str().expect("a time").parse().expect("RFC 3339");
    assert!(
        time > between && value["bytes"].as_u64() > Some(0) && value["later_changes"].as_u64() > Some(0),
        "{value}"
    );
    let state: jiff::Timestamp = value["state"].as_str().expect("a time").parse().expect("RFC 3339");
    assert_eq!(state.as_second(), between.as_second());
    let verified = succeed(&["backup", "verify", "--from", &backups, "--output", "json"]);
    let verified: serde_json::Value = serde_json::from_str(&verified).expect("JSON");
    assert_eq!(verified["backups"], serde_json::json!([value["time"]]));
    let text = succeed(&["backup", "verify", "--from", &backups]);
    assert!(text.contains("1 backup is intact; the newest has ") && text.contains("iB"), "{text}");
    let server = ServerProcess::dev(folder.path().join("restored").as_path());
    let iago = server.reconnect(&iago);
    let found = iago.message_ids(serde_json::json!([{"operator": "dm", "operand": [iago.id]}])).await;
    assert_eq!(found, [early]);
    assert_eq!(iago.send_direct(&[&iago], "another future").await, late);
    server.terminate();
    assert!(server.wait().success());
    assert_clean(folder.path().join("restored").as_path());
    let (status, text) = ServerProcess::run(&["backup", "--data", &data, "--to", "ftp://host/backups"]);
    assert!(!status.success() && text.contains("only folders and s3://"), "{text}");
}

fn refuse(args: &[&str]) -> String {
    let (status, text) = ServerProcess::run(args);
    assert!(!status.success(), "{args:?}: {text}");
    text
}

#[test]
fn place_of_backups_belongs_to_one_data_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (acme, beta, backups, restored) = (path("acme"), path("beta"), path("backups"), path("restored"));
    for data in [&acme, &beta] {
        let owner = ["--owner-name", "Olga", "--owner-email", "olga@acme.example"];
        succeed(&[&["realm", "create", "Acme", "--data", data], &owner[..]].concat());
    }
    succeed(&["backup", "--data", &acme, "--to", &backups]);
    let text = refuse(&["backup", "--data", &beta, "--to", &backups, "--keep", "1s"]);
    assert!(text.contains("another data folder") && text.contains("choose another repository"), "{text}");
    assert!(succeed(&["backup", "verify", "--from", &backups]).contains("1 backup is intact"));
    // A restored folder goes on with the same repository.
    succeed(&["restore", "--from", &backups, "--data", &restored]);
    succeed(&["backup", "--data", &restored, "--to", &backups]);
    assert!(succeed(&["backup", "verify", "--from", &backups]).contains("2 backups are intact"));
    let inside = path("acme/backups");
    assert!(refuse(&["backup", "--data", &acme, "--to", &inside]).contains("is inside the data folder"));
    assert!(!Path::new(&inside).exists());
    let early = ["restore", "--from", &backups, "--data", &path("early"), "--at", "2020-01-01"];
    let text = refuse(&early);
    assert!(text.contains("at 2020-01-01 00:00:00 UTC; the oldest change is of 20"), "{text}");
    let text = refuse(&["restore", "--from", &backups, "--data", &path("early"), "--at", "soon"]);
    assert!(text.contains("30 days, 2w), today, yesterday"), "{text}");
}

#[test]
fn damaged_backup_is_named_and_repaired() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (data, backups) = (path("data"), path("backups"));
    let owner = ["--owner-name", "Olga", "--owner-email", "olga@acme.example"];
    succeed(&[&["realm", "create", "Acme", "--data", &data], &owner[..]].concat());
    let upload = folder.path().join("data/blobs/tea.txt");
    std::fs::create_dir_all(upload.parent().expect("a folder")).expect("a folder");
    std::fs::write(&upload, "a cup of tea").expect("written");
    succeed(&["backup", "--data", &data, "--to", &backups]);
    let stored: Vec<_> = std::fs::read_dir(path("backups/files")).expect("a folder").collect();
    let stored = stored.into_iter().map(|entry| entry.expect("an entry").path());
    let tea = stored.into_iter().find(|file| std::fs::read(file).expect("a file") == b"a cup of tea");
    let tea = tea.expect("the upload");
    let name = format!("files/{}", tea.file_name().expect("a name").to_string_lossy());
    std::fs::write(&tea, "a cup of sea").expect("written");
    let text = refuse(&["backup", "verify", "--from", &backups]);
    assert!(text.contains(&format!("{name} is damaged: blobs/tea.txt, in the backup of 20")), "{text}");
    assert!(text.contains("--repair` sets damaged files aside"), "{text}");
    let restored = path("restored");
    let text = refuse(&["restore", "--from", &backups, "--data", &restored]);
    assert!(text.contains(&format!("blobs/tea.txt: {name} is damaged")), "{text}");
    let text = succeed(&["restore", "--from", &backups, "--data", &restored, "--skip-damaged"]);
    assert!(
        text.contains("Left out, because they are damaged: 1 file") && text.contains("blobs/tea.txt"),
        "{text}"
    );
    assert!(succeed(&["user", "list", "--data", &restored]).contains("olga@acme.example"));
    let text = succeed(&["backup", "verify", "--from", &backups, "--repair"]);
    assert!(text.contains("1 file was set aside in `damaged`"), "{text}");
    succeed(&["backup", "--data", &data, "--to", &backups]);
    assert!(succeed(&["backup", "verify", "--from", &backups]).contains("2 backups are intact"));
}
