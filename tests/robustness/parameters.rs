//! Parameters that are missing, no JSON, of the wrong type, not text, or far too many.

use super::rows::{ROWS, Row};
use super::{assert_healthy, stage, state};
use crate::support::{Answer, Person};
use serde_json::json;

async fn send(person: &Person, row: &Row, pairs: &[(String, String)]) -> Answer {
    let params: Vec<(&str, &(dyn std::fmt::Display + Sync))> =
        pairs.iter().map(|(name, value)| (name.as_str(), value as _)).collect();
    person.call(row.method(), &row.path(), &params).await
}

/// The pairs with one of them replaced or added.
fn with(pairs: &[(String, String)], name: &str, value: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<_> = pairs.iter().filter(|(other, _)| other != name).cloned().collect();
    pairs.push((name.to_owned(), value.to_owned()));
    pairs
}

#[tokio::test]
async fn what_is_missing() {
    let t = stage(&[]).await;
    let (before, person) = (state(&t).await, t.user("desdemona"));
    for row in ROWS {
        for name in row.required.split_whitespace() {
            let pairs: Vec<_> = row.pairs().into_iter().filter(|(other, _)| other != name).collect();
            let answer = send(&person, row, &pairs).await;
            let msg = answer.body["msg"].as_str().unwrap_or("");
            let is_told = msg.starts_with("Missing ") || msg.starts_with("Nothing to do");
            assert!(answer.status == 400 && is_told, "{} without {name}: {answer:?}", row.route);
        }
    }
    assert_eq!(state(&t).await, before);
}

#[tokio::test]
async fn what_is_no_json_or_of_the_wrong_type() {
    let t = stage(&[]).await;
    let (before, person) = (state(&t).await, t.user("desdemona"));
    for row in ROWS {
        for typed in row.typed.split_whitespace() {
            let (name, kind) = typed.split_once(':').expect("name:type");
            let (wrong, text) = match kind {
                "bool" => ("5", "is not a boolean"),
                "int" => ("\"x\"", "is not an integer"),
                "list" => ("5", "is not a list"),
                "dict" => ("5", "is not a dict"),
                other => panic!("no such type: {other}"),
            };
            for (value, text) in [("{", "is not valid JSON"), (wrong, text)] {
                let answer = send(&person, row, &with(&row.pairs(), name, value)).await;
                let msg = format!("{name} {text}");
                answer.refused(400, json!({"msg": msg, "code": "BAD_REQUEST"}));
            }
        }
    }
    assert_eq!(state(&t).await, before);
    assert_healthy(&person).await;
}

/// Whether a row reads parameters at all: one that does not never looks at them.
fn reads_parameters(row: &Row) -> bool {
    !row.given.is_empty() || !row.typed.is_empty()
}

#[tokio::test]
async fn what_is_not_text_or_far_too_much() {
    let t = stage(&[]).await;
    let (before, person) = (state(&t).await, t.user("desdemona"));
    let many: Vec<String> = (0..1001).map(|number| format!("p{number}=1")).collect();
    for row in ROWS.iter().filter(|row| reads_parameters(row)) {
        for bad in ["content=%ff%fe".to_owned(), "%c3%28=1".to_owned(), many.join("&")] {
            let form = "application/x-www-form-urlencoded";
            let call = person.send_body(row.method(), &row.path(), form, bad.into_bytes());
            let answer = call.await;
            let is_refused = answer.status == 400 && answer.body["code"] == "BAD_REQUEST";
            assert!(is_refused, "{}: {answer:?}", row.route);
        }
        let multipart = person.send_body(row.method(), &row.path(), "multipart/form-data", b"--x".to_vec());
        let answer = multipart.await;
        assert_eq!(answer.status, 400, "{}: {answer:?}", row.route);
        let cut = b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nhalf".to_vec();
        let multipart = person.send_body(row.method(), &row.path(), "multipart/form-data; boundary=x", cut);
        let answer = multipart.await;
        assert_eq!(answer.status, 400, "{}: {answer:?}", row.route);
    }
    assert_eq!(state(&t).await, before);
    assert_healthy(&person).await;
}

#[tokio::test]
async fn ids_that_nothing_has() {
    let t = stage(&[]).await;
    let (before, person) = (state(&t).await, t.user("desdemona"));
    // Whose picture somebody has is told of everybody: of nobody, too.
    let has_id = |row: &&Row| row.route.contains(":int}") && !row.route.starts_with("GET /avatar/");
    for row in ROWS.iter().filter(has_id) {
        let (_, path) = row.route.split_once(' ').expect("a path");
        for id in ["0", "4294967295", "4294967296", "99999999999999999999999999"] {
            let path: Vec<String> = path
                .split('/')
                .map(|piece| if piece.ends_with(":int}") { id.to_owned() } else { piece.to_owned() })
                .collect();
            let pairs = row.pairs();
            let params: Vec<(&str, &(dyn std::fmt::Display + Sync))> =
                pairs.iter().map(|(name, value)| (name.as_str(), value as _)).collect();
            let answer = person.call(row.method(), &path.join("/"), &params).await;
            let is_refused = answer.status == 400 && answer.body["code"] == "BAD_REQUEST";
            assert!(is_refused, "{} with {id}: {answer:?}", row.route);
        }
    }
    assert_eq!(state(&t).await, before);
}

#[tokio::test]
async fn strangers() {
    // Not the sample organization: that one shows itself to the public.
    let t = crate::support::TestServer::start().await;
    let stranger = t.stranger();
    let open = [
        "/join/",
        "/confirm_email/",
        "/emails",
        "/health",
        "/metrics",
        "/static/",
        "/user_avatars/",
        "server_settings",
        "api_key",
        "dev_list_users",
    ];
    for row in ROWS.iter().filter(|row| !open.iter().any(|word| row.route.contains(word))) {
        let answer = send(&stranger, row, &row.pairs()).await;
        let msg = "Not logged in: API authentication or user session required";
        answer.refused(401, json!({"msg": msg, "code": "UNAUTHORIZED"}));
    }
}
