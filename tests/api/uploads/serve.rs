//! `GET /user_uploads/…`: the bytes of files.

use super::upload;
use crate::support::{TestServer, TestUser, people};
use reqwest::Method;

#[tokio::test]
async fn files_have_headers_by_their_type() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    for (name, content_type, disposition) in [
        ("a.png", "image/png", "inline; filename=\"a.png\""),
        ("a b.pdf", "application/pdf", "inline; filename=\"a b.pdf\""),
        ("ä\".txt", "text/plain; charset=utf-8", "inline; filename*=utf-8''%C3%A4%22.txt"),
        ("a.html", "text/html", "attachment; filename=\"a.html\""),
        ("a.svg", "image/svg+xml", "attachment; filename=\"a.svg\""),
        ("a", "application/octet-stream", "attachment; filename=\"a\""),
    ] {
        let url = upload(&hamlet, name, b"<script>alert(1)</script>").await;
        let answer = hamlet.bare(Method::GET, &url).await;
        assert_eq!((answer.status, answer.header("Content-Type")), (200, content_type), "{name}");
        assert_eq!(answer.header("Content-Disposition"), disposition);
        assert_eq!(answer.header("X-Content-Type-Options"), "nosniff");
        assert_eq!(answer.header("Cache-Control"), "private, immutable");
        let policy = answer.header("Content-Security-Policy").to_owned();
        assert_eq!(policy.starts_with("sandbox;"), disposition.starts_with("attachment"), "{policy}");
        let download = url.replace("/user_uploads/", "/user_uploads/download/");
        let answer = hamlet.bare(Method::GET, &download).await;
        assert!(answer.header("Content-Disposition").starts_with("attachment; "), "{name}");
        assert!(answer.header("Content-Security-Policy").starts_with("sandbox;"), "{name}");
    }
}

#[tokio::test]
async fn files_are_sent_in_parts() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let bytes: Vec<u8> = (0..300_000u32).map(|n| (n % 251) as u8).collect();
    let url = upload(&hamlet, "film.mp4", &bytes).await;
    let whole = hamlet.bare(Method::GET, &url).await;
    let tag = whole.header("ETag").to_owned();
    assert_eq!((whole.header("Accept-Ranges"), whole.header("Content-Length")), ("bytes", "300000"));
    let head = hamlet.bare(Method::HEAD, &url).await;
    assert_eq!(
        (head.status, head.header("Content-Length"), head.header("ETag")),
        (200, "300000", tag.as_str())
    );
    for (range, status, content_range, expected) in [
        ("bytes=0-0", 206, "bytes 0-0/300000", Some(0..1)),
        ("bytes=299990-400000", 206, "bytes 299990-299999/300000", Some(299_990..300_000)),
        ("bytes=-10", 206, "bytes 299990-299999/300000", Some(299_990..300_000)),
        ("bytes=100000-", 206, "bytes 100000-299999/300000", Some(100_000..300_000)),
        ("bytes=300000-", 416, "bytes */300000", None),
    ] {
        let answer = hamlet.bare(Method::GET, &url).header("Range", range).request.send().await.unwrap();
        let header = answer.headers()["Content-Range"].to_str().unwrap().to_owned();
        assert_eq!((answer.status().as_u16(), header.as_str()), (status, content_range), "{range}");
        if let Some(part) = expected {
            assert!(answer.bytes().await.unwrap() == bytes[part], "{range}");
        }
    }
    let known = hamlet.bare(Method::GET, &url).header("If-None-Match", &tag).await;
    assert_eq!((known.status, known.header("ETag")), (304, tag.as_str()));
    let other = hamlet.bare(Method::GET, &url).header("Range", "bytes=0-1").header("If-Range", "\"x\"").await;
    assert_eq!(other.status, 200);
}

/// The status with an API key in the URL.
async fn with_key(t: &TestServer, url: &str, key: &str) -> u16 {
    t.anonymous().bare(Method::GET, &format!("{url}?api_key={key}")).await.status
}

#[tokio::test]
async fn files_are_read_with_a_key_in_the_url() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let url = upload(&hamlet, "a.txt", b"hello").await;
    for (key, status) in [
        (hamlet.key.as_str(), 200),
        (iago.key.as_str(), 403),
        (&"A".repeat(32), 401),
        ("short", 401),
        ("", 401),
    ] {
        assert_eq!(with_key(&t, &url, key).await, status, "{key}");
    }
    // An encoded slash is a slash.
    let encoded = url.replacen("/1/", "/1%2F", 1);
    assert_eq!(with_key(&t, &encoded, &hamlet.key).await, 200);
    let refused = t.anonymous().bare(Method::GET, &url).await;
    assert_eq!((refused.status, refused.header("WWW-Authenticate")), (401, "Basic realm=\"zulip\""));
    let unknown = url.replace(".txt", ".png");
    assert_eq!(t.anonymous().bare(Method::GET, &unknown).await.status, 401);
    assert_eq!(hamlet.fetch(&unknown).await.0, 404);
    let (status, content_type, body) = iago.fetch(&url).await;
    assert_eq!((status, content_type.as_str()), (403, "text/html; charset=utf-8"));
    assert_eq!(body, b"<p>You are not authorized to view this file.</p>");
}

#[tokio::test]
async fn file_of_another_organization_is_missing() {
    let t = TestServer::start().await;
    let beta = people::create_second(t.server(), "beta").await;
    let (hamlet, olga): (TestUser, TestUser) = (t.user("hamlet"), t.user_of(&beta, "olga"));
    let url = upload(&hamlet, "a.txt", b"hello").await;
    let answer = olga.bare(Method::GET, &url).header("Host", "beta.localhost").await;
    assert_eq!(answer.status, 404);
    assert_eq!(olga.bare(Method::GET, &url).await.status, 400, "the account belongs to another organization");
}
