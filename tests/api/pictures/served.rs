//! `GET /user_avatars/…`: serves a picture to every client that knows its URL, within its organization.

use super::png;
use crate::support::{TestServer, people};
use reqwest::Method;

#[tokio::test]
async fn picture_responses_are_cacheable() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let first = hamlet.upload("/users/me/avatar", &[], &[("a.png", png())]).ok().await["avatar_url"].clone();
    let second = hamlet.upload("/users/me/avatar", &[], &[("a.png", png())]).ok().await["avatar_url"].clone();
    assert_ne!(first, second);
    let (anonymous, path) = (t.anonymous(), second.as_str().unwrap());
    let answer = anonymous.bare(Method::GET, path).await;
    assert_eq!(answer.header("Cache-Control"), "public, max-age=31536000, immutable");
    assert_eq!(answer.header("X-Content-Type-Options"), "nosniff");
    let tag = answer.header("ETag").to_owned();
    assert!(tag.starts_with('"') && tag.len() > 30, "{tag}");
    let again = anonymous.bare(Method::GET, path).header("If-None-Match", &tag).await;
    assert_eq!((again.status, again.header("ETag")), (304, tag.as_str()));
    // A proxy that compresses makes the tag weak, and a cache may send the tags of several pictures.
    for (tags, status) in [
        (format!("W/{tag}"), 304),
        (format!("\"x\", W/{tag}"), 304),
        ("*".to_owned(), 304),
        ("\"x\"".to_owned(), 200),
        ("W/\"x\", \"y\"".to_owned(), 200),
    ] {
        let answer = anonymous.bare(Method::GET, path).header("If-None-Match", &tags).await;
        assert_eq!(answer.status, status, "{tags}");
    }
    let head = anonymous.bare(Method::HEAD, path).await;
    assert_eq!((head.status, head.header("Content-Type")), (200, "image/png"));
    // The URL of a replaced picture still works.
    assert_eq!(anonymous.fetch(first.as_str().unwrap()).await.0, 200);
}

#[tokio::test]
async fn picture_url_of_other_realm_is_404() {
    let t = TestServer::start().await;
    people::create_second(t.server(), "beta").await;
    let hamlet = t.user("hamlet");
    let url = hamlet.upload("/users/me/avatar", &[], &[("a.png", png())]).ok().await["avatar_url"].clone();
    let path = url.as_str().unwrap();
    let anonymous = t.anonymous();
    let elsewhere = anonymous.bare(Method::GET, path).header("Host", "beta.localhost").await;
    assert_eq!(elsewhere.status, 404);
    for path in [
        "/user_avatars/1/none.png",
        "/user_avatars/1",
        "/user_avatars/1/",
        "/user_avatars/1/%2e%2e/%2e%2e/%2e%2e/secret",
        "/user_avatars/1/../../secret.png",
        "/user_avatars/1/a.svg",
        "/user_avatars/2/none.png",
    ] {
        assert_eq!(anonymous.fetch(path).await.0, 404, "{path}");
    }
}
