//! The data folder: lock, permissions, and refusal to start if it is damaged or not ours.

use crate::support::ServerProcess;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Runs `millstream dev` on a folder, expects it to fail, and returns its output.
fn refused(data: &Path) -> String {
    let data = data.display().to_string();
    let (status, text) = ServerProcess::run(&["dev", "--listen", "127.0.0.1:0", "--data", &data]);
    assert!(!status.success(), "it starts: {text}");
    text
}

/// Starts and stops a server once, so that the folder has data.
fn make(data: &Path) {
    let server = ServerProcess::dev(data);
    server.terminate();
    assert!(server.wait().success());
}

/// The non-empty segments of the journal, oldest first.
fn segments(data: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for shard in fs::read_dir(data.join("journal")).expect("a journal") {
        for file in fs::read_dir(shard.expect("a shard").path()).expect("a shard") {
            let path = file.expect("a file").path();
            if fs::read(&path).expect("a segment").iter().filter(|byte| **byte != 0).count() > 100 {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn data_folder_lock() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let server = ServerProcess::dev(&data);
    let text = refused(&data);
    assert!(text.contains("in use") && text.contains(&data.display().to_string()), "{text}");
    let path = data.display().to_string();
    let (status, text) = ServerProcess::run(&["check", "--data", &path]);
    assert!(!status.success() && text.contains("in use"), "{text}");
    // The running server executes what does not need the folder for itself.
    let (status, text) =
        ServerProcess::run(&["user", "api-key", "--data", &path, "--email", "iago@zulip.com"]);
    assert!(status.success(), "{text}");
    server.terminate();
    assert!(server.wait().success());
    let (status, text) = ServerProcess::run(&["check", "--data", &path]);
    assert!(status.success(), "{text}");
}

#[test]
fn data_folder_permissions() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    make(&data);
    let mode = |path: &Path| fs::metadata(path).expect("it exists").permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&data.join("secret")), 0o600);
}

#[test]
fn data_folder_newer_format_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    make(&data);
    let format = data.join("format");
    let text = fs::read_to_string(&format).expect("a format");
    let before = text.clone();
    fs::write(&format, text.replace("\"millstream_format\": 1", "\"millstream_format\": 999"))
        .expect("written");
    assert_ne!(fs::read_to_string(&format).expect("a format"), before);
    let text = refused(&data);
    assert!(text.contains("999") && text.contains("newer"), "{text}");
    fs::write(&format, before).expect("written");
    make(&data);
}

#[test]
fn data_folder_of_another_program_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("letter.txt"), "Dear Yorick").expect("written");
    let text = refused(folder.path());
    assert!(text.contains("letter.txt"), "{text}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn damaged_journal_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    make(&data);
    let segment = segments(&data).remove(0);
    let mut bytes = fs::read(&segment).expect("a segment");
    let end = bytes.iter().rposition(|byte| *byte != 0).expect("something is written");
    bytes[end / 2] ^= 0x40;
    fs::write(&segment, &bytes).expect("written");
    // Without the trees' positions the journal is read from its start.
    fs::remove_dir_all(data.join("state")).expect("removed");
    let text = refused(&data);
    let name = segment.file_name().expect("a name").to_string_lossy().into_owned();
    assert!(text.contains(&name) && text.contains("millstream check"), "{text}");
    let (status, text) = ServerProcess::run(&["check", "--data", &data.display().to_string()]);
    assert!(!status.success() && text.contains(&name), "{text}");
    bytes[end / 2] ^= 0x40;
    fs::write(&segment, &bytes).expect("written");
    make(&data);
}

#[test]
fn replaced_secret_is_refused_until_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    make(&data);
    let secret = fs::read_to_string(data.join("secret")).expect("a secret");
    let other: String = secret.trim().chars().rev().collect();
    fs::write(data.join("secret"), &other).expect("written");
    let text = refused(&data);
    assert!(text.contains("API key") && text.contains("secret.fingerprint"), "{text}");
    assert!(!text.contains(&other), "{text}");
    fs::remove_file(data.join("secret.fingerprint")).expect("removed");
    make(&data);
    fs::write(data.join("secret"), &secret).expect("written");
    refused(&data);
}

#[test]
fn missing_journal_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    make(&data);
    for part in ["journal", "journal/shard-000"] {
        let (journal, aside) = (data.join(part), folder.path().join("aside"));
        fs::rename(&journal, &aside).expect("moved");
        for _ in 0..2 {
            let text = refused(&data);
            assert!(text.contains("missing") && text.contains("backup"), "{text}");
        }
        fs::rename(&aside, &journal).expect("moved back");
    }
    make(&data);
}

#[test]
fn broken_trees_are_refused_and_rebuilt_on_demand() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    make(&data);
    fs::write(data.join("state/conf"), [0xff; 64]).expect("written");
    let text = refused(&data);
    assert!(text.contains("check --data DIR --rebuild") && text.contains("`state`"), "{text}");
    let path = data.display().to_string();
    let (status, text) = ServerProcess::run(&["check", "--data", &path, "--rebuild"]);
    assert!(status.success() && text.contains("state-damaged"), "{text}");
    make(&data);
}

#[tokio::test]
async fn torn_journal_tail_is_truncated() {
    const BLOCK: usize = 4096;
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let server = ServerProcess::dev(&data);
    let iago = server.user("iago").await;
    let mut sent = Vec::new();
    for number in 0..3 {
        // Long enough for several blocks each.
        sent.push(iago.send_direct(&[&iago], &number.to_string().repeat(9000)).await);
    }
    server.kill();
    let segment = segments(&data).pop().expect("a segment");
    let mut bytes = fs::read(&segment).expect("a segment");
    let end = bytes.iter().rposition(|byte| *byte != 0).expect("something is written");
    // The last group was being written: its last block never reached the disk.
    bytes[end / BLOCK * BLOCK..].fill(0);
    fs::write(&segment, &bytes).expect("written");
    fs::remove_dir_all(data.join("state")).expect("removed");
    let server = ServerProcess::dev(&data);
    let iago = server.reconnect(&iago);
    let found = iago.message_ids(serde_json::json!([{"operator": "dm", "operand": [iago.id]}])).await;
    assert_eq!(found, sent[..2]);
    // The lost message's id was not acknowledged, so it is used again.
    assert_eq!(iago.send_direct(&[&iago], "again").await, sent[2]);
    server.terminate();
    assert!(server.wait().success());
    crate::support::server::assert_clean(&data);
}
