//! `/tus/`: uploads that can be resumed.

mod bounds;
mod refusals;
mod resume;

use crate::support::{ApiResponse, TestServer, TestUser};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::Value;

/// `Upload-Metadata` of a file.
pub fn metadata(name: &str, kind: &str) -> String {
    format!("filename {},filetype {}", STANDARD.encode(name), STANDARD.encode(kind))
}

/// Begins an upload of `length` bytes.
pub async fn create(who: &TestUser, length: u64, name: &str, kind: &str) -> ApiResponse {
    let call = who.bare(Method::POST, "/tus/").header("Tus-Resumable", "1.0.0");
    let call = call.header("Upload-Length", &length.to_string());
    call.header("Upload-Metadata", &metadata(name, kind)).await
}

/// The path of an upload that was begun.
pub async fn begun(who: &TestUser, length: u64, name: &str, kind: &str) -> String {
    let answer = create(who, length, name, kind).await;
    assert_eq!((answer.status, answer.header("Upload-Offset")), (201, "0"), "{answer:?}");
    path_of(who, &answer)
}

/// The path of the upload in a response, whose `Location` is a complete URL.
pub fn path_of(who: &TestUser, answer: &ApiResponse) -> String {
    answer.header("Location").strip_prefix(&*who.url).expect("a URL of the server").to_owned()
}

/// Sends bytes at an offset.
pub async fn patch(who: &TestUser, path: &str, offset: u64, bytes: &[u8]) -> ApiResponse {
    let call = who.send_body(Method::PATCH, path, "application/offset+octet-stream", bytes.to_vec());
    call.header("Tus-Resumable", "1.0.0").header("Upload-Offset", &offset.to_string()).await
}

/// The offset that the server has.
pub async fn offset(who: &TestUser, path: &str) -> u64 {
    let answer = who.bare(Method::HEAD, path).header("Tus-Resumable", "1.0.0").await;
    assert_eq!((answer.status, answer.header("Cache-Control")), (200, "no-store"), "{answer:?}");
    answer.header("Upload-Offset").parse().expect("a number")
}

/// Names of the attachments of a user.
pub async fn attachments(who: &TestUser) -> Vec<String> {
    let body = who.get("/attachments", &[]).ok().await;
    let all = body["attachments"].as_array().expect("attachments").clone();
    all.iter().map(|one| one["name"].as_str().expect("a name").to_owned()).collect()
}

/// Files in the folder of unfinished uploads.
pub fn staged(t: &TestServer) -> usize {
    std::fs::read_dir(t.data().join("partial-uploads")).expect("the folder").count()
}

/// The text that tus clients show.
pub fn message(answer: &ApiResponse) -> &str {
    assert_eq!(answer.body["message"], answer.body["msg"], "{answer:?}");
    answer.body["message"].as_str().unwrap_or_default()
}

/// The URL in the last answer of an upload.
pub fn url_of(body: &Value) -> &str {
    body["url"].as_str().expect("a url")
}
