//! Request bodies that are too large, truncated, or never sent.

use super::page_rows;
use super::rows::Row;
use super::{assert_healthy, stage, state};
use crate::support::raw_connection::RawConnection;
use crate::support::{TestServer, TestUser};
use base64::Engine;
use millstream::http::Login;
use millstream::http::route::Offered;

/// The head of a request with a body of this many bytes.
fn head(row: &Row, person: &TestUser, length: usize) -> String {
    let credentials = format!("{}:{}", person.email, person.key);
    let credentials = base64::engine::general_purpose::STANDARD.encode(credentials);
    let browser = person.browser.clone().unwrap_or_default();
    let session = format!("Cookie: {}\r\nX-CSRFToken: {}", browser.cookie(), browser.csrf_token);
    format!(
        "{} {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic {credentials}\r\n{session}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n",
        row.method(),
        row.path_with_key(person)
    )
}

#[tokio::test]
async fn body_of_ten_megabytes_is_refused() {
    let t = stage(&[]).await;
    let (before, person) = (state(&t).await, t.with_session(&t.user("desdemona")).await);
    let body = vec![b'x'; 10 << 20];
    let routes = millstream::routes::table();
    for row in page_rows::all() {
        let route = routes.iter().find(|route| format!("{route:?}") == row.route).expect("a route");
        // The bodies of these are parts of files; see the tests of the protocol.
        if route.protocol.is_some() {
            continue;
        }
        // Public endpoints do not check credentials; pages know who is logged in.
        let is_public = route.login == Login::None && route.offered != Offered::Page;
        let limit = if is_public { 65_536 } else { 1_048_576 };
        let mut wire = RawConnection::connect(&t.url).await;
        wire.write(head(row, &person, 10 << 20)).await;
        wire.write(&body).await;
        let answer = wire.read_until("bytes)\"").await;
        assert!(answer.starts_with("HTTP/1.1 413 "), "{}: {answer}", row.route);
        assert!(answer.contains(&format!("Request body is too large (limit: {limit} bytes)")), "{answer}");
    }
    assert_eq!(state(&t).await, before);
    assert_healthy(&person).await;
}

#[tokio::test]
async fn compressed_body_is_refused() {
    let t = stage(&[]).await;
    let person = t.user("desdemona");
    let credentials = format!("{}:{}", person.email, person.key);
    let credentials = base64::engine::general_purpose::STANDARD.encode(credentials);
    for (coding, status) in [("gzip", 415), ("br, identity", 415), ("identity", 200), ("UTF-8", 200)] {
        let mut wire = RawConnection::connect(&t.url).await;
        wire.write(format!(
            "POST /api/v1/messages/render HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic {credentials}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Encoding: {coding}\r\nContent-Length: 9\r\n\
             Connection: close\r\n\r\ncontent=x"
        ))
        .await;
        let answer = wire.read_to_end().await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{coding}: {answer}");
        let refusal = format!("Request bodies must not be compressed (Content-Encoding: {coding})");
        assert_eq!(answer.contains(&refusal), status == 415, "{coding}: {answer}");
    }
    assert_healthy(&person).await;
}

#[tokio::test]
async fn truncated_request_changes_nothing() {
    let t = stage(&[]).await;
    let (before, person) = (state(&t).await, t.with_session(&t.user("desdemona")).await);
    for row in page_rows::all() {
        let whole = format!("{}{}", head(row, &person, 200), "topic=t&content=ha");
        // Truncated in the request line, in the headers, after them, and in the body.
        let ends = [3, whole.len() / 2, whole.len() - 20, whole.len()];
        for end in ends {
            let mut wire = RawConnection::connect(&t.url).await;
            wire.write(&whole.as_bytes()[..end]).await;
            // Dropping the connection closes it.
        }
    }
    assert_eq!(state(&t).await, before);
    assert_healthy(&person).await;
}

async fn refused_as_late(t: &TestServer, row: &'static Row, person: TestUser, body: &str) {
    let mut wire = RawConnection::connect(&t.url).await;
    wire.write(format!("{}{body}", head(row, &person, 200))).await;
    let answer = wire.read_to_end().await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{}: {answer}", row.route);
}

#[tokio::test]
async fn missing_body_times_out() {
    let t = stage(&[("http.body_secs_max", "1")]).await;
    let (before, person) = (state(&t).await, t.with_session(&t.user("desdemona")).await);
    // Without the headers of their protocol, these are refused before the body is read.
    let rows = page_rows::all().filter(|row| !row.route.contains("/tus"));
    let late = rows.map(|row| refused_as_late(&t, row, person.clone(), "content=half"));
    futures_util::future::join_all(late).await;
    assert_eq!(state(&t).await, before);
    assert_healthy(&person).await;
}

#[tokio::test]
async fn endless_request_head_is_refused() {
    let t = stage(&[("http.head_secs_max", "1")]).await;
    let person = t.user("desdemona");
    let mut wires = Vec::new();
    for _ in 0..50 {
        let mut wire = RawConnection::connect(&t.url).await;
        wire.write("GET /api/v1/users/me HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").await;
        wires.push(wire);
    }
    // Other clients are still served.
    assert_healthy(&person).await;
    for mut wire in wires {
        let answer = wire.read_to_end().await;
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    }
    assert_healthy(&person).await;
}

#[tokio::test]
async fn large_request_head_is_refused_with_an_error_of_the_api() {
    let t = stage(&[]).await;
    let person = t.user("desdemona");
    // As long as 5,000 ids in a query.
    let ids = vec!["1234567"; 5_000].join("%2C+");
    for (ids, status) in [(ids.clone(), "400"), (ids.repeat(2), "431")] {
        let mut wire = RawConnection::connect(&t.url).await;
        // Without the end of the list.
        let path = format!("/api/v1/messages?message_ids=%5B{ids}");
        wire.write(format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\n\r\n",
            person.authorization()
        ))
        .await;
        let answer = wire.read_until("}\n").await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert!(answer.contains("\"code\":\"BAD_REQUEST\""), "{answer}");
    }
    assert_healthy(&person).await;
}

#[tokio::test]
async fn non_http_bytes_are_refused() {
    let t = stage(&[]).await;
    let person = t.user("desdemona");
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00"[..],
        b"HELO there\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        &[0xff; 4096],
    ] {
        let mut wire = RawConnection::connect(&t.url).await;
        wire.write(bytes).await;
        let answer = wire.read_until("\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    assert_healthy(&person).await;
}
