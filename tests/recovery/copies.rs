//! Copies of the data folder that are made while the server runs, checkpoints that were damaged, and damage in sealed
//! segments.

use super::traffic::{AcknowledgedSends, PEOPLE, read_back_all, send_until_gone};
use crate::support::server::assert_clean;
use crate::support::{ServerProcess, TIMEOUT, TestUser};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const SENDERS: usize = 24;
const COPIES: usize = 4;

fn launch(data: &Path) -> ServerProcess {
    launch_with(data, "1000000000")
}

/// Starts a server that does not compact the journal.
fn launch_uncompacted(data: &Path) -> ServerProcess {
    launch_with(data, "0")
}

fn launch_with(data: &Path, compact_bytes_per_sec: &str) -> ServerProcess {
    let environment = [
        ("MILLSTREAM_STORAGE_COMPACT_BYTES_PER_SEC", compact_bytes_per_sec),
        ("MILLSTREAM_LOG_FILTER", "info"),
        ("MILLSTREAM_STORAGE_CHECKPOINT_FRAMES", "100"),
        ("MILLSTREAM_STORAGE_SEGMENT_BYTES", "1048576"),
        ("MILLSTREAM_STORAGE_SCRUB_BYTES_PER_SEC", "1000000000"),
    ];
    ServerProcess::start(
        &["dev", "--listen", "127.0.0.1:0", "--data", &data.display().to_string()],
        &environment,
    )
}

/// Copies a folder file by file; files that vanish meanwhile are left out.
fn copy(from: &Path, to: &Path) {
    // Fails for files that were removed after the listing, and copies everything else.
    let _ = Command::new("cp").arg("-a").arg(from).arg(to).output().expect("cp runs");
    assert!(to.join("format").exists());
}

/// Sends until the server ends.
async fn send(server: &ServerProcess, people: &[TestUser], label: &str) -> Vec<AcknowledgedSends> {
    let mut senders = Vec::new();
    for number in 0..SENDERS {
        let person = server.reconnect(&people[number % people.len()]);
        let partner = people[(number + 1) % people.len()].id;
        senders.push(tokio::spawn(send_until_gone(person, partner, format!("{label}.s{number:02}"))));
    }
    let mut sends = Vec::new();
    for sender in senders {
        sends.push(sender.await.expect("a sender"));
    }
    sends
}

#[tokio::test]
async fn copies_of_a_running_server_have_everything_acknowledged_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let server = launch(&data);
    let mut people = Vec::new();
    for name in PEOPLE {
        people.push(server.user(name).await);
    }
    let since =
        people[0].register().events(&["message"]).await.state["max_message_id"].as_u64().expect("an id");
    let mut known = Vec::new();
    let copier = |number: usize| folder.path().join(format!("copy{number}"));
    let sending = send(&server, &people, "c");
    let copying = async {
        for number in 0..COPIES {
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            let before = read_back_all(&server, &people, since).await;
            let (from, to) = (data.clone(), copier(number));
            tokio::task::spawn_blocking(move || copy(&from, &to)).await.expect("copied");
            known.push(before);
        }
        server.signal("KILL");
    };
    tokio::join!(sending, copying);
    for (number, before) in known.into_iter().enumerate() {
        assert!(number == 0 || before.len() > SENDERS, "too little traffic: {}", before.len());
        let path = copier(number);
        let shown = path.display().to_string();
        let (status, text) = ServerProcess::run(&["check", "--data", &shown]);
        assert!(!status.success() && text.contains("copy of one that was in use"), "{text}");
        let server = launch(&path);
        let found = read_back_all(&server, &people, since).await;
        for (id, message) in &before {
            let there = found.get(id).map(|found| &found["content"]);
            assert_eq!(there, Some(&message["content"]), "copy {number} lost message {id}");
        }
        let anyone = server.reconnect(&people[0]);
        anyone.send_direct(&[&people[1]], "in the copy").await;
        server.terminate();
        assert!(server.wait().success());
        assert_clean(&path);
    }
}

/// The newest checkpoint of the only organization.
fn newest_checkpoint(data: &Path) -> PathBuf {
    let realm = fs::read_dir(data.join("checkpoints"))
        .expect("checkpoints")
        .next()
        .expect("one")
        .expect("read")
        .path();
    let files = fs::read_dir(realm).expect("files").map(|file| file.expect("a file").path());
    files.max().expect("a checkpoint")
}

/// Fills a folder so that it has checkpoints and sealed segments, and stops. Returns a user and the messages.
async fn fill(data: &Path) -> (TestUser, Vec<u64>) {
    let server = launch_uncompacted(data);
    let iago = server.user("iago").await;
    let mut sent = Vec::new();
    for number in 0..400 {
        sent.push(iago.send_direct(&[&iago], &format!("{number} {}", "tea ".repeat(1000))).await);
    }
    server.terminate();
    assert!(server.wait().success());
    (iago, sent)
}

#[tokio::test]
async fn damaged_checkpoints_cost_nothing_but_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let (iago, sent) = fill(&data).await;
    for _ in 0..3 {
        let path = newest_checkpoint(&data);
        let mut bytes = fs::read(&path).expect("a checkpoint");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&path, bytes).expect("written");
        let server = launch(&data);
        let iago = server.reconnect(&iago);
        let found = iago.message_ids(serde_json::json!([{"operator": "dm", "operand": [iago.id]}])).await;
        assert_eq!(found, sent);
        server.terminate();
        assert!(server.wait().success());
        assert_clean(&data);
        // Enough changes for the next checkpoint.
        let server = launch(&data);
        for _ in 0..120 {
            server.reconnect(&iago).send_direct(&[&server.user("hamlet").await], "more").await;
        }
        server.terminate();
        assert!(server.wait().success());
    }
}

#[tokio::test]
async fn damage_in_sealed_segments_is_found_in_the_background() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    fill(&data).await;
    let segment = data.join("journal/shard-000/0000000001.seg");
    let whole = fs::read(&segment).expect("a segment");
    assert!(data.join("journal/shard-000/0000000002.seg").exists(), "too little traffic");
    let mut bytes = whole.clone();
    bytes[4096 + 300] ^= 1;
    fs::write(&segment, bytes).expect("written");
    let server = launch_uncompacted(&data);
    let health = format!("{}/health", server.url);
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let body: serde_json::Value =
            reqwest::get(&health).await.expect("answers").json().await.expect("JSON");
        if body["storage"]["status"] == "degraded" {
            assert_eq!(body["storage"]["damaged_segments"], 1);
            break;
        }
        assert!(Instant::now() < deadline, "{body}");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    server.terminate();
    assert!(server.wait().success());
    let (status, text) = ServerProcess::run(&["check", "--data", &data.display().to_string()]);
    assert!(!status.success() && text.contains("0000000001.seg"), "{text}");
    fs::write(&segment, whole).expect("written");
    assert_clean(&data);
}

#[tokio::test]
async fn journal_that_lost_its_end_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let (iago, _) = fill(&data).await;
    let (journal, before) = (data.join("journal"), folder.path().join("before"));
    let copied = Command::new("cp").arg("-a").arg(&journal).arg(&before).status().expect("cp runs");
    assert!(copied.success());
    let server = launch(&data);
    let iago = server.reconnect(&iago);
    iago.send_direct(&[&iago], "one more").await;
    server.terminate();
    assert!(server.wait().success());
    fs::remove_dir_all(&journal).expect("removed");
    fs::rename(&before, &journal).expect("moved");
    let shown = data.display().to_string();
    for command in
        [&["dev", "--listen", "127.0.0.1:0", "--data", &shown] as &[&str], &["check", "--data", &shown]]
    {
        let (status, text) = ServerProcess::run(command);
        assert!(!status.success() && text.contains("the journal ends at"), "{text}");
    }
    let (status, text) = ServerProcess::run(&["check", "--data", &shown, "--rebuild"]);
    assert!(status.success(), "{text}");
    let server = launch(&data);
    let iago = server.reconnect(&iago);
    iago.send_direct(&[&iago], "goes on").await;
    server.terminate();
    assert!(server.wait().success());
    assert_clean(&data);
}
