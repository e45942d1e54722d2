//! Requests that the protocol refuses, and uploads of others.

use super::{begun, create, message, offset, patch};
use crate::support::TestServer;
use reqwest::Method;

#[tokio::test]
async fn version_of_the_protocol_is_required() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let path = begun(&hamlet, 11, "a.txt", "text/plain").await;
    for (method, path) in [
        (Method::POST, "/tus/"),
        (Method::HEAD, path.as_str()),
        (Method::PATCH, &path),
        (Method::DELETE, &path),
    ] {
        for version in [None, Some("0.2.2")] {
            let call = hamlet.bare(method.clone(), path).header("Upload-Length", "5");
            let call = match version {
                Some(version) => call.header("Tus-Resumable", version),
                None => call,
            };
            let answer = call.await;
            assert_eq!((answer.status, answer.header("Tus-Version")), (412, "1.0.0"), "{method} {answer:?}");
        }
    }
    assert_eq!(offset(&hamlet, &path).await, 0);
}

#[tokio::test]
async fn invalid_creations() {
    let t = TestServer::builder().set("uploads.file_mib_max", 1).start().await;
    let hamlet = t.user("hamlet");
    let large = create(&hamlet, (1 << 20) + 1, "a.txt", "text/plain").await;
    assert_eq!(large.status, 413);
    assert_eq!(message(&large), "File is larger than this server's configured maximum upload size (1 MiB).");
    let begin = || hamlet.bare(Method::POST, "/tus/").header("Tus-Resumable", "1.0.0");
    let deferred = begin().header("Upload-Defer-Length", "1").await;
    assert_eq!((deferred.status, message(&deferred)), (411, "SizeIsDeferred is not supported"));
    for length in ["", "-1", "x", "1.5", "99999999999999999999999999"] {
        let answer = begin().header("Upload-Length", length).await;
        assert_eq!(
            (answer.status, message(&answer)),
            (400, "The header Upload-Length is missing or invalid")
        );
    }
    let long = format!("filename {}", "A".repeat(5000));
    for metadata in ["filename %%%", "filename /w==", &long] {
        let answer = begin().header("Upload-Length", "5").header("Upload-Metadata", metadata).await;
        assert_eq!(
            (answer.status, message(&answer)),
            (400, "The header Upload-Metadata is missing or invalid")
        );
    }
}

#[tokio::test]
async fn invalid_parts() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let path = begun(&hamlet, 11, "a.txt", "text/plain").await;
    patch(&hamlet, &path, 0, b"hello ").await;
    for wrong in [0, 5, 7, 11] {
        let answer = patch(&hamlet, &path, wrong, b"x").await;
        assert_eq!((answer.status, message(&answer)), (409, "The upload continues at offset 6"));
    }
    let long = patch(&hamlet, &path, 6, b"world and more").await;
    assert_eq!((long.status, message(&long)), (413, "The body is longer than the rest of the file"));
    let kind = hamlet.send_body(Method::PATCH, &path, "text/plain", b"x".to_vec());
    let kind = kind.header("Tus-Resumable", "1.0.0").header("Upload-Offset", "6").await;
    assert_eq!(kind.status, 415);
    let bare = hamlet.send_body(Method::PATCH, &path, "application/offset+octet-stream", b"x".to_vec());
    let bare = bare.header("Tus-Resumable", "1.0.0").await;
    assert_eq!((bare.status, message(&bare)), (400, "The header Upload-Offset is missing or invalid"));
    assert_eq!(offset(&hamlet, &path).await, 6, "nothing was kept of them");
}

#[tokio::test]
async fn unknown_uploads_are_404() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    for method in [Method::HEAD, Method::DELETE] {
        let answer = hamlet.bare(method, "/tus/nowhere").header("Tus-Resumable", "1.0.0").await;
        assert_eq!(answer.status, 404);
    }
    assert_eq!(patch(&hamlet, "/tus/nowhere", 0, b"x").await.status, 404);
}

#[tokio::test]
async fn uploads_belong_to_their_account() {
    let t = TestServer::start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let path = begun(&hamlet, 11, "a.txt", "text/plain").await;
    for method in [Method::HEAD, Method::DELETE] {
        let answer = othello.bare(method, &path).header("Tus-Resumable", "1.0.0").await;
        assert_eq!(answer.status, 404);
    }
    assert_eq!(patch(&othello, &path, 0, b"x").await.status, 404);
    let anonymous = t.anonymous();
    assert_eq!(patch(&anonymous, &path, 0, b"x").await.status, 401);
    assert_eq!(create(&anonymous, 1, "a", "b").await.status, 401);
    assert_eq!(offset(&hamlet, &path).await, 0);
}
