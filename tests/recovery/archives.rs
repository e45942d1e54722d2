//! Archives of the journal: `kill -9` while segments are compacted.

use super::rounds::{Random, rounds};
use crate::support::server::assert_clean;
use crate::support::{ServerProcess, TestUser, wait_until};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Messages that are sent one after the other: each takes 4 KB of a segment.
const MESSAGES: usize = 990;

fn launch(data: &Path, compact_bytes_per_sec: u64) -> ServerProcess {
    let rate = compact_bytes_per_sec.to_string();
    let environment = [
        ("MILLSTREAM_STORAGE_SEGMENT_BYTES", "1048576"),
        ("MILLSTREAM_STORAGE_COMPACT_BYTES_PER_SEC", rate.as_str()),
    ];
    ServerProcess::start(
        &["dev", "--listen", "127.0.0.1:0", "--data", &data.display().to_string()],
        &environment,
    )
}

/// Fills a folder so that it has sealed segments, and stops.
async fn fill(data: &Path) -> (TestUser, Vec<u64>) {
    let server = launch(data, 0);
    let iago = server.user("iago").await;
    let mut sent = Vec::new();
    for number in 0..MESSAGES {
        sent.push(iago.send_direct(&[&iago], &format!("tea {number}")).await);
    }
    stop(server);
    (iago, sent)
}

fn stop(server: ServerProcess) {
    server.terminate();
    assert!(server.wait().success());
}

async fn sent_messages(server: &ServerProcess, iago: &TestUser) -> Vec<u64> {
    let iago = server.reconnect(iago);
    iago.message_ids(serde_json::json!([{"operator": "dm", "operand": [iago.id]}])).await
}

/// The names of the journal's files that end so.
fn files(data: &Path, end: &str) -> Vec<String> {
    let entries = fs::read_dir(data.join("journal/shard-000")).expect("a journal");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(end)).collect()
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().expect("cp runs").success());
}

#[tokio::test]
async fn kill_while_segments_are_compacted_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let (iago, sent) = fill(&data).await;
    assert!(files(&data, ".seg").len() >= 5, "too little traffic");
    let filled = folder.path().join("filled");
    copy(&data, &filled);
    let mut random = Random::new(10);
    for round in 0..rounds(3) {
        if round % 3 == 0 && round > 0 {
            // Every segment has its archive by now.
            fs::remove_dir_all(&data).expect("removed");
            copy(&filled, &data);
        }
        // A segment is read, written and read back within about a second.
        let server = launch(&data, 2 << 20);
        let before = files(&data, ".arc").len();
        wait_until("compaction begins", || {
            !files(&data, ".new").is_empty() || files(&data, ".arc").len() > before
        })
        .await;
        tokio::time::sleep(Duration::from_millis(random.below(500))).await;
        server.kill();
        let server = launch(&data, 0);
        assert_eq!(sent_messages(&server, &iago).await, sent, "round {round}");
        stop(server);
        assert_clean(&data);
        assert!(files(&data, ".new").is_empty());
    }
    let server = launch(&data, 1 << 30);
    wait_until("segments are compacted", || !files(&data, ".arc").is_empty()).await;
    let one_more = server.reconnect(&iago);
    one_more.send_direct(&[&one_more], "one more").await;
    assert_eq!(sent_messages(&server, &iago).await.len(), sent.len() + 1);
    stop(server);
    assert_clean(&data);
}
