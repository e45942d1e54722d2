//! Erasing, backing up, restoring and importing are killed at random times and repeated: every message is there once, with the
//! same content, and the folder is whole.

use super::rounds::{Random, kill_after, rounds, time_of};
use crate::support::export::write_export;
use crate::support::server::assert_clean;
use crate::support::{ServerProcess, TestUser};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Messages that are sent one after the other: each takes 4 KB of a segment.
const MESSAGES: usize = 300;
const SECRET: &str = "qxzvqxzv";
/// Rounds in each of the four tests.
const ROUNDS: usize = 2;

/// Messages by id, with their contents.
type Contents = BTreeMap<u64, String>;

fn launch(data: &Path) -> ServerProcess {
    let environment = [("MILLSTREAM_STORAGE_SEGMENT_BYTES", "1048576")];
    ServerProcess::start(
        &["dev", "--listen", "127.0.0.1:0", "--data", &data.display().to_string()],
        &environment,
    )
}

fn stop(server: ServerProcess) {
    server.terminate();
    assert!(server.wait().success());
}

/// A stopped folder, each third of whose messages was deleted, with what is left.
struct Filled {
    folder: tempfile::TempDir,
    iago: TestUser,
    expected: Contents,
}

impl Filled {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let server = launch(&folder.path().join("data"));
        let iago = server.user("iago").await;
        for number in 0..MESSAGES {
            let word = if number % 3 == 0 { SECRET } else { "tea" };
            let id = iago.send_direct(&[&iago], &format!("{word} {number}")).await;
            if number % 3 == 0 {
                iago.delete(&format!("/messages/{id}"), &[]).ok().await;
            }
        }
        let expected = contents(&server, &iago, json!([{"operator": "dm", "operand": [iago.id]}])).await;
        assert_eq!(expected.len(), MESSAGES - MESSAGES / 3);
        stop(server);
        Self { folder, iago, expected }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// A copy of the folder.
    fn copy(&self, name: &str) -> PathBuf {
        let to = self.folder.path().join(name);
        let copied = Command::new("cp").arg("-a").arg(self.path("data")).arg(&to).status().expect("cp runs");
        assert!(copied.success());
        to
    }

    /// A server on a folder has every message once, and the folder is whole. Removes the folder.
    async fn assert_whole(&self, data: &Path, round: usize) {
        let server = launch(data);
        let iago = server.reconnect(&self.iago);
        let found = contents(&server, &iago, json!([{"operator": "dm", "operand": [iago.id]}])).await;
        assert!(found == self.expected, "round {round}: {} messages of {}", found.len(), self.expected.len());
        stop(server);
        assert_clean(data);
        fs::remove_dir_all(data).expect("removed");
    }
}

/// The messages of a narrow; each is there once.
async fn contents(server: &ServerProcess, person: &TestUser, narrow: serde_json::Value) -> Contents {
    let messages = server.reconnect(person).messages(narrow).await;
    let count = messages.len();
    let found: Contents = messages
        .iter()
        .map(|message| {
            (message["id"].as_u64().expect("an id"), message["content"].as_str().expect("text").to_owned())
        })
        .collect();
    assert_eq!(found.len(), count, "a message is there twice");
    found
}

/// How often a word is in the bytes of a folder's files.
fn count(folder: &Path, word: &str) -> usize {
    let paths = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let in_file = |path: PathBuf| {
        let bytes = fs::read(path).unwrap_or_default();
        bytes.windows(word.len()).filter(|window| *window == word.as_bytes()).count()
    };
    paths.map(|path| if path.is_dir() { count(&path, word) } else { in_file(path) }).sum()
}

#[tokio::test]
async fn killed_erase_loses_nothing_and_is_repeated() {
    let filled = Filled::new().await;
    let mut random = Random::new(11);
    let trial = filled.copy("trial").display().to_string();
    let time = time_of(&["erase", "--now", "--data", &trial]);
    let mut killed = 0;
    for round in 0..rounds(ROUNDS) {
        let data = filled.copy(&format!("round{round}"));
        let shown = data.display().to_string();
        let args = ["erase", "--now", "--data", &shown];
        killed += usize::from(kill_after(&args, time.mul_f64(random.below(1000) as f64 / 1000.0)));
        if round % 2 == 0 {
            // The folder opens as it was left.
            let server = launch(&data);
            let narrow = json!([{"operator": "dm", "operand": [filled.iago.id]}]);
            let found = contents(&server, &filled.iago, narrow).await;
            assert!(found == filled.expected, "round {round}: {} messages", found.len());
            stop(server);
        }
        time_of(&args);
        assert_eq!(count(&data, SECRET), 0, "round {round}");
        filled.assert_whole(&data, round).await;
    }
    println!("{killed} processes were killed");
}

#[tokio::test]
async fn killed_backup_is_repeated_and_restores() {
    let filled = Filled::new().await;
    let mut random = Random::new(12);
    let (data, trial) = (filled.path("data"), filled.path("trial"));
    let time = time_of(&["backup", "--data", &data, "--to", &trial]);
    let mut killed = 0;
    for round in 0..rounds(ROUNDS) {
        let place = filled.path(&format!("backups{round}"));
        let args = ["backup", "--data", &data, "--to", &place];
        for _ in 0..2 {
            killed += usize::from(kill_after(&args, time.mul_f64(random.below(1000) as f64 / 1000.0)));
        }
        time_of(&args);
        time_of(&["backup", "verify", "--from", &place]);
        let restored = filled.path(&format!("restored{round}"));
        time_of(&["restore", "--from", &place, "--data", &restored]);
        filled.assert_whole(Path::new(&restored), round).await;
    }
    println!("{killed} processes were killed");
}

#[tokio::test]
async fn killed_restore_is_repeated() {
    let filled = Filled::new().await;
    let mut random = Random::new(13);
    let (data, place, trial) = (filled.path("data"), filled.path("backups"), filled.path("trial"));
    time_of(&["backup", "--data", &data, "--to", &place]);
    let time = time_of(&["restore", "--from", &place, "--data", &trial]);
    let mut killed = 0;
    for round in 0..rounds(ROUNDS) {
        let restored = filled.path(&format!("restored{round}"));
        let args = ["restore", "--from", &place, "--data", &restored];
        killed += usize::from(kill_after(&args, time.mul_f64(random.below(1000) as f64 / 1000.0)));
        // A folder is one only when everything is in it.
        if !Path::new(&restored).join("format").exists() {
            let (status, text) = ServerProcess::run(&["check", "--data", &restored]);
            assert!(!status.success(), "round {round}: {text}");
            time_of(&args);
        }
        filled.assert_whole(Path::new(&restored), round).await;
    }
    println!("{killed} processes were killed");
}

/// The messages of the imported channel, as its member sees them.
async fn imported(data: &Path) -> Contents {
    let shown = data.display().to_string();
    let (status, text) =
        ServerProcess::run(&["user", "api-key", "--email", "otto@acme.example", "--data", &shown]);
    assert!(status.success(), "{text}");
    let key = text.split_whitespace().find(|word| word.len() == 32).expect("a key").to_owned();
    let server = ServerProcess::start(&["serve", "--data", &shown, "--listen", "127.0.0.1:0"], &[]);
    let otto = TestUser { email: "otto@acme.example".to_owned(), key, ..server.anonymous() };
    let found = contents(&server, &otto, json!([{"operator": "channel", "operand": 41}])).await;
    stop(server);
    assert_clean(data);
    found
}

#[tokio::test]
async fn killed_import_is_repeated() {
    let folder = tempfile::tempdir().expect("a folder");
    let export = write_export(folder.path(), 900).display().to_string();
    let mut random = Random::new(14);
    let trial = folder.path().join("trial");
    let shown = trial.display().to_string();
    let time = time_of(&["import", "zulip", &export, "--data", &shown]);
    let expected = imported(&trial).await;
    assert!(expected.len() >= 900, "{} messages", expected.len());
    let mut killed = 0;
    for round in 0..rounds(ROUNDS) {
        let data = folder.path().join(format!("round{round}"));
        let shown = data.display().to_string();
        let args = ["import", "zulip", &export, "--data", &shown];
        killed += usize::from(kill_after(&args, time.mul_f64(random.below(1000) as f64 / 1000.0)));
        let (status, text) = ServerProcess::run(&args);
        // The first one may have been complete.
        assert!(status.success() || text.contains("exists already"), "round {round}: {text}");
        let found = imported(&data).await;
        assert!(found == expected, "round {round}: {} messages of {}", found.len(), expected.len());
        fs::remove_dir_all(&data).expect("removed");
    }
    println!("{killed} processes were killed");
}
