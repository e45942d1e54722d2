//! A data folder of format 1, as version 0.1.0 wrote it, is opened for ever: the same messages, people, flags and settings.
//!
//! `tests/fixtures/make_format_1.py` wrote `format-1.tar.gz` and `format-1.json` beside it. They are not written again: a new format
//! gets files of its own.

use crate::support::server::assert_clean;
use crate::support::{ServerProcess, TestUser};
use flate2::read::GzDecoder;
use serde_json::{Map, Value, json};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

const PEOPLE: [&str; 4] = ["iago", "hamlet", "cordelia", "desdemona"];

/// Longer texts are abbreviated in the record.
const TEXT_CHARS: usize = 160;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn launch(data: &Path) -> ServerProcess {
    let environment = [
        ("MILLSTREAM_STORAGE_SEGMENT_BYTES", "1048576"),
        ("MILLSTREAM_STORAGE_CHECKPOINT_FRAMES", "100"),
        ("MILLSTREAM_STORAGE_COMPACT_BYTES_PER_SEC", "1000000000"),
        ("MILLSTREAM_SEARCH_WRITE_SECS", "0"),
    ];
    ServerProcess::start(
        &["dev", "--listen", "127.0.0.1:0", "--data", &data.display().to_string()],
        &environment,
    )
}

fn stop(server: ServerProcess) {
    server.terminate();
    assert!(server.wait().success());
}

async fn people(server: &ServerProcess) -> Vec<TestUser> {
    let mut people = Vec::new();
    for name in PEOPLE {
        people.push(server.user(name).await);
    }
    people
}

/// What one person can see: values that every later version must show, too.
async fn seen_by(person: &TestUser) -> Value {
    let state = person.post("/register", &[]).ok().await;
    let kept = [
        "subscriptions",
        "realm_users",
        "realm_user_groups",
        "drafts",
        "saved_snippets",
        "scheduled_messages",
        "user_status",
        "alert_words",
        "muted_users",
        "user_topics",
        "realm_emoji",
        "realm_linkifiers",
        "starred_messages",
        "max_message_id",
        "realm_name",
    ];
    let mut seen: Map<String, Value> =
        kept.iter().map(|name| ((*name).to_owned(), state[*name].clone())).collect();
    for setting in ["enter_sends", "twenty_four_hour_time", "color_scheme"] {
        seen.insert(setting.to_owned(), state["user_settings"][setting].clone());
    }
    let messages = person.messages(json!([])).await;
    seen.insert("messages".to_owned(), Value::Array(messages));
    let found = person.message_ids(json!([{"operator": "search", "operand": "Oolong"}])).await;
    seen.insert("found".to_owned(), json!(found));
    abbreviated(Value::Object(seen))
}

fn abbreviated(value: Value) -> Value {
    match value {
        Value::String(text) if text.chars().count() > TEXT_CHARS => {
            let start: String = text.chars().take(TEXT_CHARS).collect();
            Value::String(format!("{start}… {} bytes", text.len()))
        }
        Value::Array(items) => items.into_iter().map(abbreviated).collect(),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(name, value)| (name, abbreviated(value))).collect())
        }
        other => other,
    }
}

/// Fails if anything of `expected` is missing or different. Objects may have further fields.
fn assert_has(found: &Value, expected: &Value, path: &str) {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            for (name, value) in expected {
                assert_has(found.get(name).unwrap_or(&Value::Null), value, &format!("{path}.{name}"));
            }
        }
        (Value::Array(found), Value::Array(expected)) => {
            assert_eq!(found.len(), expected.len(), "{path}");
            for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
                assert_has(found, expected, &format!("{path}[{at}]"));
            }
        }
        (found, expected) => assert_eq!(found, expected, "{path}"),
    }
}

async fn record(server: &ServerProcess) -> Value {
    let mut seen = Map::new();
    for (name, person) in PEOPLE.into_iter().zip(people(server).await) {
        seen.insert(name.to_owned(), seen_by(&person).await);
    }
    Value::Object(seen)
}

fn files(data: &Path, folder: &str, end: &str) -> usize {
    let entries = fs::read_dir(data.join(folder)).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(end)).count()
}

fn unpack(to: &Path) -> PathBuf {
    let packed = File::open(fixture("format-1.tar.gz")).expect("the fixture");
    tar::Archive::new(GzDecoder::new(packed)).unpack(to).expect("unpacked");
    to.join("data")
}

fn expected() -> Value {
    serde_json::from_slice(&fs::read(fixture("format-1.json")).expect("the record")).expect("JSON")
}

#[tokio::test]
async fn format_1_is_opened_with_everything_in_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = unpack(folder.path());
    for what in [".arc", ".seg"] {
        assert!(files(&data, "journal/shard-000", what) > 1, "{what}");
    }
    assert_clean(&data);
    let server = launch(&data);
    assert_has(&record(&server).await, &expected(), "");
    let hamlet = server.user("hamlet").await;
    let sent = hamlet.send_direct(&[&hamlet], "goes on").await;
    assert!(hamlet.message_ids(json!([])).await.contains(&sent));
    stop(server);
    assert_clean(&data);
}

#[tokio::test]
async fn format_1_is_rebuilt_from_its_journal() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = unpack(folder.path());
    for derived in ["state", "search", "checkpoints"] {
        assert!(data.join(derived).exists(), "{derived}");
        fs::remove_dir_all(data.join(derived)).expect("removed");
    }
    let server = launch(&data);
    assert_has(&record(&server).await, &expected(), "");
    stop(server);
    assert_clean(&data);
}
