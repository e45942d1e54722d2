//! The examples of the reference are what this server answers.
//!
//! `MILLSTREAM_RECORD_EXAMPLES=1 cargo test --workspace --test it reference::examples` renews them.

use super::steps::{STEPS, Step, WITHOUT};
use crate::support::{TestServer, TestUser, as_params};
use actors::ManualClock;
use millstream::reference::document::path;
use millstream::reference::operation::Operation;
use millstream::reference::operations::operations;
use model::Timestamp;
use reqwest::Method;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Set to renew the examples.
const RECORD: &str = "MILLSTREAM_RECORD_EXAMPLES";
/// The first moment of 2026.
const NOW: Timestamp = Timestamp(1_767_225_600_000);
/// Items of lists, and entries of objects by id, that examples show.
const ITEMS_MAX: usize = 2;
/// A picture of one pixel.
const PICTURE: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0,
    0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63,
    0xf8, 0xcf, 0xc0, 0xf0, 0x1f, 0, 5, 0, 1, 0xff, 0x56, 0xc7, 0x2f, 0x0d, 0, 0, 0, 0, 0x49, 0x45, 0x4e,
    0x44, 0xae, 0x42, 0x60, 0x82,
];

/// Members whose values are random or depend on when the server started, and what examples show instead.
const RANDOM: &[(&str, &str)] = &[
    ("api_key", "gjA04ZYcqXKalvYMA8OeXSfzUOLrtbZv"),
    ("queue_id", "fb67bf8a-c031-47cc-84cf-ed80accacda8"),
    ("link_url", "https://chat.example.com/join/yddhtzk4jgl7rsmazc5fyyyy/"),
    ("invite_link", "https://chat.example.com/join/yddhtzk4jgl7rsmazc5fyyyy/"),
    ("url", "/user_uploads/1/4e/m2A3MSqFnWRLUf9SaPzQ0Up_/picture.png"),
    ("uri", "/user_uploads/1/4e/m2A3MSqFnWRLUf9SaPzQ0Up_/picture.png"),
    ("path_id", "1/4e/m2A3MSqFnWRLUf9SaPzQ0Up_/picture.png"),
    ("avatar_url", "/user_avatars/1/1d5c3c4c07d7d5d5.png"),
    ("icon_url", "/user_avatars/1/realm/icon.png"),
    ("source_url", "/user_avatars/1/emoji/images/1.png"),
    ("server_generation", ""),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/reference/examples")
}

#[test]
fn every_operation_has_an_example() {
    let known: BTreeSet<&str> = STEPS.iter().map(|step| step.id).chain(WITHOUT.iter().copied()).collect();
    let all = operations();
    let all: BTreeSet<&str> = all.iter().map(|operation| operation.id).collect();
    assert_eq!(known, all, "steps.rs has a call for each operation, or says why not");
}

#[tokio::test]
async fn examples_are_what_the_server_answers() {
    let clock = ManualClock::new(NOW);
    let t = TestServer::builder().development().clock(&clock).start().await;
    let mut kept: BTreeMap<String, String> = [
        ("user_id", "8"),
        ("user_id_or_email", "8"),
        ("session_id", "1"),
        ("group_id", "1"),
        ("domain", "example.com"),
        ("emoji_name", "soup"),
        ("fragment", "narrow/topic/lunch"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    let all = operations();
    let mut found: BTreeMap<&str, Value> = BTreeMap::new();
    for step in STEPS {
        let operation = all.iter().find(|operation| operation.id == step.id).expect("an operation");
        let example = make(&t, operation, step, &mut kept).await;
        found.entry(step.id).or_insert(example);
    }
    let is_recording = std::env::var_os(RECORD).is_some();
    let mut stale = Vec::new();
    for (id, example) in &found {
        let file = folder().join(format!("{id}.json"));
        let text = serde_json::to_string_pretty(example).expect("JSON") + "\n";
        if fs::read_to_string(&file).is_ok_and(|known| known == text) {
            continue;
        }
        stale.push(*id);
        if is_recording {
            fs::write(file, text).expect("the example is written");
        }
    }
    let command = "MILLSTREAM_RECORD_EXAMPLES=1 cargo test --workspace --test it reference::examples";
    assert!(
        is_recording || stale.is_empty(),
        "these examples are out of date, {command} renews them: {stale:?}"
    );
    let files = fs::read_dir(folder()).expect("the examples").count();
    assert_eq!(files, found.len(), "src/reference/examples has files of other operations");
}

async fn make(
    t: &TestServer,
    operation: &Operation,
    step: &Step,
    kept: &mut BTreeMap<String, String>,
) -> Value {
    let fill = |text: &str| {
        kept.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
    };
    let person = match step.who {
        "anonymous" => t.anonymous(),
        name => t.user(name),
    };
    let filled = fill(&path(operation));
    let pairs = step.given.split('&').filter_map(|pair| pair.split_once('='));
    let pairs: Vec<(String, String)> = pairs.map(|(name, value)| (name.to_owned(), fill(value))).collect();
    let (status, body) = call(&person, operation, &filled, &pairs).await;
    for pair in step.kept.split_whitespace() {
        let (name, pointer) = pair.split_once('=').expect("name=/pointer");
        let value = body.pointer(pointer).unwrap_or_else(|| panic!("{}: no {pointer} in {body}", step.id));
        kept.insert(name.to_owned(), value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    }
    let mut body = body;
    normalize("", &mut body, &t.url);
    let random = kept.get("queue_id");
    let shown = |(name, value): &(String, String)| {
        let is_random = random == Some(value);
        let value = if is_random { json!(RANDOM[1].1) } else { json!(value) };
        (name.clone(), value)
    };
    let parameters: Map<String, Value> = pairs.iter().map(shown).collect();
    json!({
        "request": {"method": operation.method(), "path": filled, "parameters": parameters},
        "answer": {"status": status, "body": body},
    })
}

async fn call(
    person: &TestUser,
    operation: &Operation,
    path: &str,
    pairs: &[(String, String)],
) -> (u16, Value) {
    let params = as_params(pairs);
    let method: Method = operation.method().parse().expect("a method");
    let answer = match operation.file {
        Some(file) if file.is_required => {
            person.upload(path, &params, &[("picture.png", PICTURE.to_vec())]).await
        }
        Some(_) | None => person.call(method, path, &params).await,
    };
    (answer.status, answer.body)
}

/// Replaces what differs from run to run, and cuts long lists.
fn normalize(name: &str, value: &mut Value, url: &str) {
    match value {
        Value::String(text) => {
            *text = text.replace(url, "https://chat.example.com");
            if let Some((_, fixed)) = RANDOM.iter().find(|(known, _)| *known == name)
                && !text.is_empty()
            {
                *text = (*fixed).to_owned();
            }
        }
        Value::Array(items) => {
            items.truncate(ITEMS_MAX);
            items.iter_mut().for_each(|item| normalize(name, item, url));
        }
        Value::Object(members) => {
            let is_by_id = members.keys().all(|key| key.bytes().all(|byte| byte.is_ascii_digit()));
            if is_by_id {
                let rest: Vec<String> = members.keys().skip(ITEMS_MAX).cloned().collect();
                rest.iter().for_each(|key| drop(members.remove(key)));
            }
            members.iter_mut().for_each(|(key, value)| normalize(key, value, url));
        }
        Value::Number(_) if name == "server_generation" => *value = json!(NOW.0 / 1000),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
