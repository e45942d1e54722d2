//! The examples of the reference are what this server answers.
//!
//! `MILLSTREAM_RECORD_EXAMPLES=1 cargo test --workspace --test it reference::examples` renews them.

use super::steps::{REFUSED, STEPS, STEPS_WITH_PUSH, Step};
use crate::support::http_stub::HttpStub;
use crate::support::phone::{Phone, service_url};
use crate::support::{ApiResponse, Queue, TestServer, TestUser, as_params};
use actors::ManualClock;
use millstream::reference::curl::WEBHOOK_DOCUMENT;
use millstream::reference::document::path;
use millstream::reference::operation::{Answer, Operation, PART_TYPE};
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
    ("export_url", "https://chat.example.com/user_avatars/exports/1/4e/export.tar.gz"),
    ("server_generation", ""),
];

/// Numbers that depend on what the server does meanwhile: those of frames.
const VARYING_NUMBERS: [&str; 2] = ["/acts/0/id", "/next_before"];

/// Values that calls keep for later ones and that are random, and what examples show instead, wherever they stand.
const RANDOM_KEPT: &[(&str, &str)] = &[
    ("queue_id", "fb67bf8a-c031-47cc-84cf-ed80accacda8"),
    ("session_id", "1f8bb1c4a0d34e0c"),
    ("file", "4e/m2A3MSqFnWRLUf9SaPzQ0Up_/picture.png"),
    ("upload_id", "b3f1c6d2a94e4d0f"),
    ("webhook_key", "gjA04ZYcqXKalvYMA8OeXSfzUOLrtbZv"),
];
/// The start of the addresses that can be read for a short time without an account.
const TEMPORARY: &str = "/user_uploads/temporary/";
/// The start of the addresses of uploaded files.
const UPLOADS: &str = "/user_uploads/1/";
/// The headers that examples show where the answer is not JSON with `result` and `msg`.
const SHOWN_HEADERS: [&str; 4] = ["Content-Type", "Location", "Upload-Offset", "Upload-Length"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/reference/examples")
}

#[test]
fn every_operation_has_an_example() {
    let known: BTreeSet<&str> = STEPS.iter().chain(STEPS_WITH_PUSH).map(|step| step.id).collect();
    let all = operations();
    let all: BTreeSet<&str> = all.iter().map(|operation| operation.id).collect();
    assert_eq!(known, all, "steps.rs has a call for each operation");
}

/// The example of each operation, by its id.
type Examples = BTreeMap<&'static str, Value>;

/// Adds an example; a success takes the place of a refusal.
fn add(found: &mut Examples, id: &'static str, example: Value) {
    let is_success =
        |example: &Value| example["answer"]["status"].as_u64().is_some_and(|status| status < 400);
    match found.get(id) {
        Some(known) if is_success(known) || !is_success(&example) => {}
        Some(_) | None => drop(found.insert(id, example)),
    }
}

/// What operations show that may be refused, and others may not.
fn check_refusals(found: &Examples) {
    let refused = found.iter().filter(|(_, example)| example["answer"]["status"].as_u64() >= Some(400));
    let unexpected: Vec<_> =
        refused.filter(|(id, _)| REFUSED.iter().all(|(known, _)| known != *id)).collect();
    assert!(unexpected.is_empty(), "these examples show a refusal instead of a success: {unexpected:#?}");
    for (id, reason) in REFUSED {
        let status = found[id]["answer"]["status"].as_u64();
        assert!(status >= Some(400), "{id} shows a success, and not that {reason}");
    }
}

#[tokio::test]
async fn examples_are_what_the_server_answers() {
    let clock = ManualClock::new(NOW);
    let t = TestServer::builder().development().clock(&clock).start().await;
    let mut kept: BTreeMap<String, String> = [
        ("user_id", "8"),
        ("user_id_or_email", "8"),
        ("realm_id", "1"),
        ("integration", "json"),
        ("group_id", "1"),
        ("domain", "example.com"),
        ("emoji_name", "soup"),
        ("fragment", "narrow/topic/lunch"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    let mut found = Examples::new();
    let mut exports = t.user("iago").register().events(&["realm_export"]).await;
    for step in STEPS {
        if step.id == "get-realm-exports" {
            wait_for_export(&mut exports).await;
        }
        let example = make(&t, step, &mut kept).await;
        if !step.is_preparation {
            add(&mut found, step.id, example);
        }
    }
    add_with_push(&mut found).await;
    check_refusals(&found);
    check_files(&found);
}

/// Waits until the export is made.
async fn wait_for_export(queue: &mut Queue) {
    while queue.next().await["exports"][0]["pending"] != false {}
}

/// The examples of push notifications, which need a push service and a device.
async fn add_with_push(found: &mut Examples) {
    let mut service = HttpStub::start().await;
    let plan = TestServer::builder().development().set("push.service_url", service_url(&service));
    let t = plan.set("push.org_id", "acme").set("push.org_key", "quite-secret").start().await;
    Phone::new(1, "fcm").register(&t.user("hamlet"), &mut service).await;
    for step in STEPS_WITH_PUSH {
        add(found, step.id, make(&t, step, &mut BTreeMap::new()).await);
    }
}

/// Compares the examples with the files, or writes them.
fn check_files(found: &Examples) {
    let is_recording = std::env::var_os(RECORD).is_some();
    let mut stale = Vec::new();
    for (id, example) in found {
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

/// Makes the call of a step, keeps what later ones need, and returns the example.
async fn make(t: &TestServer, step: &Step, kept: &mut BTreeMap<String, String>) -> Value {
    let all = operations();
    let operation = all.iter().find(|operation| operation.id == step.id).expect("an operation");
    let fill = |text: &str| {
        kept.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
    };
    let mut filled = fill(&path(operation));
    if operation.answer == Answer::Picture {
        filled.push_str("/840x560.webp");
    }
    let pairs = step.given.split('&').filter_map(|pair| pair.split_once('='));
    let pairs: Vec<(String, String)> = pairs.map(|(name, value)| (name.to_owned(), fill(value))).collect();
    let answer = call(&caller(t, step.who).await, operation, &filled, &pairs).await;
    keep(step, &answer, kept);
    let headers = shown_headers(operation, &answer, &t.url);
    let mut body = if answer.body.is_object() { answer.body } else { Value::Null };
    normalize("", &mut body, &t.url);
    for pointer in VARYING_NUMBERS {
        if let Some(number) = body.pointer_mut(pointer) {
            *number = json!(63);
        }
    }
    let parameters: Map<String, Value> =
        pairs.into_iter().map(|(name, value)| (name, Value::String(value))).collect();
    let mut example = json!({
        "request": {"method": operation.method(), "path": filled, "parameters": parameters},
        "answer": {"status": answer.status, "body": body},
    });
    if !headers.is_empty() {
        example["answer"]["headers"] = Value::Object(headers);
    }
    without_random(&example, kept)
}

/// The person of a step.
async fn caller(t: &TestServer, who: &str) -> TestUser {
    match who.strip_prefix("browser:") {
        Some(name) => t.with_session(&t.user(name)).await,
        None if who == "anonymous" => t.anonymous(),
        None => t.user(who),
    }
}

/// Keeps what a step says of its answer.
fn keep(step: &Step, answer: &ApiResponse, kept: &mut BTreeMap<String, String>) {
    for pair in step.kept.split_whitespace() {
        let (name, place) = pair.split_once('=').expect("name=/pointer or name=Header");
        let value = match place.starts_with('/') {
            true => answer.body.pointer(place).cloned(),
            false => answer.header(place).rsplit('/').next().map(Value::from),
        };
        let value = value.unwrap_or_else(|| panic!("{}: no {place} in {answer:?}", step.id));
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let text = text.strip_prefix(UPLOADS).map_or(text.clone(), str::to_owned);
        kept.insert(name.to_owned(), text);
    }
}

/// The headers of an answer that is not JSON with `result` and `msg`.
fn shown_headers(operation: &Operation, answer: &ApiResponse, url: &str) -> Map<String, Value> {
    if operation.answer == Answer::Json {
        return Map::new();
    }
    let shown = |name: &str| {
        let text = answer.header(name).replace(url, "https://chat.example.com");
        // The names of the pictures of people are random.
        let text = match operation.id {
            "get-avatar" if name == "Location" => "/user_avatars/1/1d5c3c4c07d7d5d5.png".to_owned(),
            "get-avatar-medium" if name == "Location" => {
                "/user_avatars/1/1d5c3c4c07d7d5d5-medium.png".to_owned()
            }
            _ => text,
        };
        (name.to_owned(), Value::String(text))
    };
    let names = SHOWN_HEADERS.iter().filter(|name| !answer.header(name).is_empty());
    names.map(|name| shown(name)).collect()
}

/// The example with fixed values in the place of those that are random.
fn without_random(example: &Value, kept: &BTreeMap<String, String>) -> Value {
    let random = RANDOM_KEPT.iter().filter_map(|(name, shown)| Some((kept.get(*name)?, shown)));
    let text = random.fold(example.to_string(), |text, (value, shown)| text.replace(value.as_str(), shown));
    serde_json::from_str(&text).expect("JSON")
}

async fn call(
    person: &TestUser,
    operation: &Operation,
    path: &str,
    pairs: &[(String, String)],
) -> ApiResponse {
    let params = as_params(pairs);
    let method: Method = operation.method().parse().expect("a method");
    if operation.is_webhook {
        let document = WEBHOOK_DOCUMENT.as_bytes().to_vec();
        return person.send_body(method, path, "application/json", document).query(&params).await;
    }
    if operation.answer == Answer::Tus {
        return call_in_parts(person, method, path).await;
    }
    match operation.file {
        Some(file) if file.is_required => {
            person.upload(path, &params, &[("picture.png", PICTURE.to_vec())]).await
        }
        Some(_) | None => person.call(method, path, &params).await,
    }
}

/// A call of the protocol tus: the picture is sent as one part.
async fn call_in_parts(person: &TestUser, method: Method, path: &str) -> ApiResponse {
    let length = PICTURE.len().to_string();
    let call = match method {
        Method::PATCH => {
            person.send_body(method, path, PART_TYPE, PICTURE.to_vec()).header("Upload-Offset", "0")
        }
        Method::POST => person
            .bare(method, path)
            .header("Upload-Length", &length)
            .header("Upload-Metadata", "filename cGljdHVyZS5wbmc=,filetype aW1hZ2UvcG5n"),
        _ => person.bare(method, path),
    };
    call.header("Tus-Resumable", "1.0.0").await
}

/// Replaces what differs from run to run, and cuts long lists.
fn normalize(name: &str, value: &mut Value, url: &str) {
    match value {
        Value::String(text) => {
            *text = text.replace(url, "https://chat.example.com");
            if text.starts_with(TEMPORARY) {
                *text = format!("{TEMPORARY}yddhtzk4jgl7rsmazc5fyyyy/picture.png");
            } else if let Some((_, fixed)) = RANDOM.iter().find(|(known, _)| *known == name)
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
