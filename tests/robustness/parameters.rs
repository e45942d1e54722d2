//! Parameters that are missing, not JSON, of the wrong type, not UTF-8, or far too long.

use super::page_rows;
use super::rows::Row;
use super::{assert_healthy, stage, state};
use crate::support::{ApiResponse, TestUser, as_params};
use serde_json::json;

async fn send(person: &TestUser, row: &Row, pairs: &[(String, String)]) -> ApiResponse {
    let params = as_params(pairs);
    person.call(row.method(), &row.path(), &params).await
}

/// The parameters with one of them replaced or added.
fn with(pairs: &[(String, String)], name: &str, value: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<_> = pairs.iter().filter(|(other, _)| other != name).cloned().collect();
    pairs.push((name.to_owned(), value.to_owned()));
    pairs
}

#[tokio::test]
async fn missing_required_parameters() {
    let t = stage(&[]).await;
    let (before, person) = (state(&t).await, t.with_session(&t.user("desdemona")).await);
    for row in page_rows::all() {
        for name in row.required.split_whitespace() {
            let pairs: Vec<_> = row.pairs().into_iter().filter(|(other, _)| other != name).collect();
            let answer = send(&person, row, &pairs).await;
            let msg = answer.body["msg"].as_str().unwrap_or("");
            let says_so = msg.starts_with("Missing ") || msg.starts_with("Nothing to do");
            assert!(answer.status == 400 && says_so, "{} without {name}: {answer:?}", row.route);
        }
    }
    assert_eq!(state(&t).await, before);
}

#[tokio::test]
async fn invalid_json_or_type_parameters() {
    let t = stage(&[]).await;
    let (before, person) = (state(&t).await, t.with_session(&t.user("desdemona")).await);
    for row in page_rows::all() {
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

/// Whether a route reads parameters at all; those that do not ignore them.
fn reads_parameters(row: &Row) -> bool {
    !row.given.is_empty() || !row.typed.is_empty()
}

#[tokio::test]
async fn invalid_utf8_and_oversized_parameters() {
    let t = stage(&[]).await;
    let (before, person) = (state(&t).await, t.with_session(&t.user("desdemona")).await);
    let many: Vec<String> = (0..1001).map(|number| format!("p{number}=1")).collect();
    for row in page_rows::all().filter(|row| reads_parameters(row)) {
        for bad in ["content=%ff%fe".to_owned(), "%c3%28=1".to_owned(), many.join("&")] {
            let form = "application/x-www-form-urlencoded";
            let call = person.send_body(row.method(), &row.path(), form, bad.into_bytes());
            let answer = call.await;
            let is_refused = [400, 404].contains(&answer.status) && answer.body["code"] == "BAD_REQUEST";
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
async fn unknown_ids() {
    let t = stage(&[]).await;
    let (before, person) = (state(&t).await, t.with_session(&t.user("desdemona")).await);
    // All users see avatars, so this response is the same for an unknown id; files are answered with pages.
    let has_other_answer = |row: &&Row| {
        row.route.starts_with("GET /avatar/")
            || row.route.contains("/user_uploads/")
            || row.route.contains("/user_avatars/")
    };
    let has_id = |row: &&Row| row.route.contains(":int}") && !has_other_answer(row);
    let rows: Vec<&Row> = page_rows::all().filter(has_id).collect();
    assert!(rows.len() > 40, "only {} routes with an id", rows.len());
    for row in rows {
        let (_, path) = row.route.split_once(' ').expect("a path");
        for id in ["0", "4294967295", "4294967296", "99999999999999999999999999"] {
            let path: Vec<String> = path
                .split('/')
                .map(|piece| if piece.ends_with(":int}") { id.to_owned() } else { piece.to_owned() })
                .collect();
            let pairs = row.pairs();
            let params = as_params(&pairs);
            let answer = person.call(row.method(), &path.join("/"), &params).await;
            let is_refused = [400, 404].contains(&answer.status) && answer.body["code"] == "BAD_REQUEST";
            assert!(is_refused, "{} with {id}: {answer:?}", row.route);
        }
    }
    assert_eq!(state(&t).await, before);
}

#[tokio::test]
async fn requests_without_credentials() {
    // Not the sample organization, which has web-public channels.
    let t = crate::support::TestServer::start().await;
    let anonymous = t.anonymous();
    let open = [
        "/login",
        "/accounts/",
        "/register/",
        "/about",
        "/integrations",
        "/devlogin/",
        "/compatibility",
        "/desktop_home/",
        "/help",
        "/favicon",
        "/join/",
        "/confirm_email/",
        "/emails",
        "/health",
        "/metrics",
        "/static/",
        "/user_avatars/",
        "/user_uploads/temporary/",
        "server_settings",
        "api_key",
        "dev_list_users",
        "/external/",
    ];
    // The reference of the API, whose pages begin like its endpoints.
    let is_reference = |route: &str| {
        route.ends_with(" /api")
            || route.ends_with(" /api/")
            || route.ends_with("/openapi.json")
            || route.contains(" /api/{")
    };
    for row in page_rows::all().filter(|row| {
        row.route != "GET /" && !is_reference(row.route) && !open.iter().any(|word| row.route.contains(word))
    }) {
        let answer = send(&anonymous, row, &row.pairs()).await;
        let msg = "Not logged in: API authentication or user session required";
        match row.route.starts_with("HEAD ") {
            true => assert_eq!((answer.status, answer.body), (401, json!("")), "{}", row.route),
            false => answer.refused(401, json!({"msg": msg, "code": "UNAUTHORIZED"})),
        }
    }
}
