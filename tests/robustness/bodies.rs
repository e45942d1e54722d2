//! Bodies that are too large, cut off, or never come.

use super::rows::{ROWS, Row};
use super::{assert_healthy, stage, state};
use crate::support::wire::Wire;
use crate::support::{Person, TestServer};
use base64::Engine;

/// The head of a request with a body of so many bytes.
fn head(row: &Row, person: &Person, length: usize) -> String {
    let credentials = format!("{}:{}", person.email, person.key);
    let credentials = base64::engine::general_purpose::STANDARD.encode(credentials);
    format!(
        "{} {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic {credentials}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n",
        row.method(),
        row.path()
    )
}

#[tokio::test]
async fn ten_megabytes() {
    let t = stage(&[]).await;
    let (before, person) = (state(&t).await, t.user("desdemona"));
    let body = vec![b'x'; 10 << 20];
    for row in ROWS {
        let mut wire = Wire::connect(&t.url).await;
        wire.write(head(row, &person, 10 << 20)).await;
        wire.write(&body).await;
        let answer = wire.read_until("bytes)\"").await;
        assert!(answer.starts_with("HTTP/1.1 413 "), "{}: {answer}", row.route);
        assert!(answer.contains("Request body is too large (limit: 1048576 bytes)"), "{answer}");
    }
    assert_eq!(state(&t).await, before);
    assert_healthy(&person).await;
}

#[tokio::test]
async fn requests_that_end_in_the_middle() {
    let t = stage(&[]).await;
    let (before, person) = (state(&t).await, t.user("desdemona"));
    for row in ROWS {
        let whole = format!("{}{}", head(row, &person, 200), "topic=t&content=ha");
        // In the request line, in the headers, behind them, and in the body.
        let ends = [3, whole.len() / 2, whole.len() - 20, whole.len()];
        for end in ends {
            let mut wire = Wire::connect(&t.url).await;
            wire.write(&whole.as_bytes()[..end]).await;
            // Dropped here: the client has hung up.
        }
    }
    assert_eq!(state(&t).await, before);
    assert_healthy(&person).await;
}

async fn refused_as_late(t: &TestServer, row: &'static Row, person: Person, body: &str) {
    let mut wire = Wire::connect(&t.url).await;
    wire.write(format!("{}{body}", head(row, &person, 200))).await;
    let answer = wire.read_to_end().await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{}: {answer}", row.route);
}

#[tokio::test]
async fn bodies_that_never_come() {
    let t = stage(&[("http.body_secs_max", "1")]).await;
    let (before, person) = (state(&t).await, t.user("desdemona"));
    let late = ROWS.iter().map(|row| refused_as_late(&t, row, person.clone(), "content=half"));
    futures_util::future::join_all(late).await;
    assert_eq!(state(&t).await, before);
    assert_healthy(&person).await;
}

#[tokio::test]
async fn heads_that_never_end() {
    let t = stage(&[("http.head_secs_max", "1")]).await;
    let person = t.user("desdemona");
    let mut wires = Vec::new();
    for _ in 0..50 {
        let mut wire = Wire::connect(&t.url).await;
        wire.write("GET /api/v1/users/me HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").await;
        wires.push(wire);
    }
    // Others are served all the while.
    assert_healthy(&person).await;
    for mut wire in wires {
        let answer = wire.read_to_end().await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408 "), "{answer}");
    }
    assert_healthy(&person).await;
}

#[tokio::test]
async fn what_is_no_http() {
    let t = stage(&[]).await;
    let person = t.user("desdemona");
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00"[..],
        b"HELO there\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        &[0xff; 4096],
    ] {
        let mut wire = Wire::connect(&t.url).await;
        wire.write(bytes).await;
        let answer = wire.read_until("\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    assert_healthy(&person).await;
}
