//! Compressed answers: large JSON for clients that accept it, and nothing else.

use super::uploads::upload;
use crate::support::{TestServer, TestUser};
use flate2::read::GzDecoder;
use reqwest::header::HeaderMap;
use reqwest::{Method, Response};
use serde_json::Value;
use std::io::Read;

async fn ask(user: &TestUser, method: Method, path: &str, accepted: Option<&str>) -> Response {
    let call = user.bare(method, path);
    let call = match accepted {
        Some(accepted) => call.header("Accept-Encoding", accepted),
        None => call,
    };
    let answer = call.request.send().await.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    answer
}

fn encoding(headers: &HeaderMap) -> Option<&str> {
    headers.get("content-encoding").map(|value| value.to_str().unwrap())
}

async fn unpacked(answer: Response) -> Value {
    let is_brotli = encoding(answer.headers()) == Some("br");
    let bytes = answer.bytes().await.unwrap();
    let mut text = String::new();
    match is_brotli {
        true => brotli::Decompressor::new(&bytes[..], 4096).read_to_string(&mut text).unwrap(),
        false => GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap(),
    };
    assert!(bytes.len() * 3 < text.len());
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn large_answers_are_compressed_where_the_client_accepts_it() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    // Where both are accepted alike, gzip costs the server less.
    for (accepted, expected) in [
        ("gzip", "gzip"),
        ("gzip, deflate", "gzip"),
        ("gzip, deflate, br, zstd", "gzip"),
        ("br", "br"),
        ("gzip;q=0.8, br;q=1", "br"),
        ("gzip;q=0, br, deflate", "br"),
    ] {
        let registered = ask(&iago, Method::POST, "/register", Some(accepted)).await;
        assert_eq!(encoding(registered.headers()), Some(expected), "{accepted}");
        assert_eq!(registered.headers()["vary"], "accept-encoding");
        let registered = unpacked(registered).await;
        assert_eq!(registered["result"], "success");
        assert!(registered["realm_users"].as_array().is_some_and(|users| users.len() > 5));
    }
    for accepted in [None, Some("identity"), Some("gzip;q=0, identity"), Some("gzip;q=0, br;q=0, deflate")] {
        let registered = ask(&iago, Method::POST, "/register", accepted).await;
        assert_eq!(encoding(registered.headers()), None, "{accepted:?}");
        assert!(registered.headers().contains_key("content-length"));
        let registered: Value = registered.json().await.unwrap();
        assert_eq!(registered["result"], "success");
    }
}

#[tokio::test]
async fn small_answers_events_and_files_are_sent_as_they_are() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    let queue = iago.register().events(&["message"]).await;
    for _ in 0..8 {
        iago.send(&channel, "lunch", &"a long text ".repeat(500)).await;
    }
    let file = upload(&iago, "a.json", format!("[{}0]", "0,".repeat(100_000)).as_bytes()).await;
    let events = format!("/events?queue_id={}&last_event_id=-1", queue.id);
    for (path, bytes_min) in [("/users/me", 100), (events.as_str(), 50_000), (file.as_str(), 200_000)] {
        let answer = ask(&iago, Method::GET, path, Some("gzip")).await;
        assert_eq!(encoding(answer.headers()), None, "{path}");
        assert!(answer.content_length().is_some_and(|bytes| bytes >= bytes_min), "{path}");
    }
    let page = "/messages?anchor=newest&num_before=10&num_after=0";
    let page = unpacked(ask(&iago, Method::GET, page, Some("gzip")).await).await;
    let last = page["messages"].as_array().and_then(|messages| messages.last()).expect("a message");
    assert!(last["content"].as_str().is_some_and(|content| content.len() > 5000));
}

/// Answers that were not read yet hold the memory of their compression, which is bounded.
#[tokio::test]
async fn few_answers_at_a_time_are_compressed_with_brotli() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    for number in 0..250 {
        // Digits that no compression makes small: more than the sockets take before the client reads.
        let digits: String = (0..480u64).map(|at| format!("{:020} ", mixed(number * 1000 + at))).collect();
        iago.send(&channel, "digits", &digits[..9_999]).await;
    }
    let page = "/messages?anchor=newest&num_before=250&num_after=0";
    let mut unread = Vec::new();
    for _ in 0..4 {
        let answer = ask(&iago, Method::GET, page, Some("br")).await;
        assert_eq!(encoding(answer.headers()), Some("br"));
        unread.push(answer);
    }
    let further = ask(&iago, Method::GET, page, Some("br, gzip;q=0.5")).await;
    assert_eq!(encoding(further.headers()), Some("gzip"));
    drop(further);
    let first = unread.pop().unwrap();
    assert!(!first.bytes().await.unwrap().is_empty());
    let again = ask(&iago, Method::GET, page, Some("br, gzip;q=0.5")).await;
    assert_eq!(encoding(again.headers()), Some("br"));
}

/// A number whose digits have no pattern.
fn mixed(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb)
}
