//! The data folder: one process at a time, for its owner only, and never guessed at when it is not sound.

use crate::support::ServerProcess;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// `millstream dev` on a folder, which is expected to refuse; gives what it says.
fn refused(data: &Path) -> String {
    let data = data.display().to_string();
    let (status, text) = ServerProcess::run(&["dev", "--listen", "127.0.0.1:0", "--data", &data]);
    assert!(!status.success(), "it starts: {text}");
    text
}

/// Starts once and stops, so that there is something in the folder.
fn make(data: &Path) {
    let server = ServerProcess::dev(data);
    server.terminate();
    assert!(server.wait().success());
}

/// The files of the journal that hold something, oldest first.
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
fn one_process_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let server = ServerProcess::dev(&data);
    let text = refused(&data);
    assert!(text.contains("in use") && text.contains(&data.display().to_string()), "{text}");
    let path = data.display().to_string();
    for command in [
        &["check", "--data", &path] as &[&str],
        &["user", "api-key", "--data", &path, "--email", "iago@zulip.com"],
    ] {
        let (status, text) = ServerProcess::run(command);
        assert!(!status.success() && text.contains("in use"), "{command:?}: {text}");
    }
    server.terminate();
    assert!(server.wait().success());
    let (status, text) = ServerProcess::run(&["check", "--data", &path]);
    assert!(status.success(), "{text}");
}

#[test]
fn nobody_else_may_look_inside() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    make(&data);
    let mode = |path: &Path| fs::metadata(path).expect("it exists").permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&data.join("secret")), 0o600);
}

#[test]
fn a_newer_format_is_refused() {
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
fn a_folder_of_something_else_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("letter.txt"), "Dear Yorick").expect("written");
    let text = refused(folder.path());
    assert!(text.contains("letter.txt"), "{text}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn a_damaged_journal_is_refused_with_the_way_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    make(&data);
    let segment = segments(&data).remove(0);
    let mut bytes = fs::read(&segment).expect("a segment");
    let end = bytes.iter().rposition(|byte| *byte != 0).expect("something is written");
    bytes[end / 2] ^= 0x40;
    fs::write(&segment, &bytes).expect("written");
    // Without the trees' help the journal has to be read from its start.
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

#[tokio::test]
async fn a_torn_tail_is_cut() {
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
    // The last group was on its way to the disk: its last block never got there.
    bytes[end / BLOCK * BLOCK..].fill(0);
    fs::write(&segment, &bytes).expect("written");
    fs::remove_dir_all(data.join("state")).expect("removed");
    let server = ServerProcess::dev(&data);
    let iago = server.again(&iago);
    let found = iago.message_ids(serde_json::json!([{"operator": "dm", "operand": [iago.id]}])).await;
    assert_eq!(found, sent[..2]);
    // Its id is nobody's, so it is given out again.
    assert_eq!(iago.send_direct(&[&iago], "again").await, sent[2]);
    server.terminate();
    assert!(server.wait().success());
    crate::support::server::assert_clean(&data);
}
