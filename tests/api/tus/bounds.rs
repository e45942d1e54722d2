//! Limits of unfinished uploads, and what clients learn of the protocol.

use super::{begun, create, message, offset, patch, staged};
use crate::support::TestServer;
use actors::ManualClock;
use model::Timestamp;
use reqwest::Method;

#[tokio::test]
async fn options_describe_the_protocol() {
    let t = TestServer::builder().set("uploads.file_mib_max", 3).start().await;
    let answer = t.anonymous().bare(Method::OPTIONS, "/tus/").await;
    assert_eq!(answer.status, 204);
    assert_eq!(answer.header("Tus-Version"), "1.0.0");
    assert_eq!(answer.header("Tus-Resumable"), "1.0.0");
    assert_eq!(answer.header("Tus-Max-Size"), (3 << 20).to_string());
    assert_eq!(answer.header("Tus-Extension"), "creation,creation-with-upload,expiration,termination");
    assert!(answer.header("Access-Control-Allow-Headers").contains("Upload-Offset"));
    assert!(answer.header("Access-Control-Allow-Methods").contains("POST"));
}

#[tokio::test]
async fn unfinished_uploads_of_an_account_are_bounded() {
    let t = TestServer::start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    for _ in 0..16 {
        begun(&hamlet, 11, "a.txt", "text/plain").await;
    }
    let refused = create(&hamlet, 11, "a.txt", "text/plain").await;
    assert_eq!((refused.status, refused.header("Retry-After")), (429, "60.0"), "{refused:?}");
    assert_eq!(message(&refused), "You have too many unfinished uploads; finish or cancel one of them");
    begun(&othello, 11, "a.txt", "text/plain").await;
}

#[tokio::test]
async fn quota_is_checked_at_the_beginning() {
    let t = TestServer::builder().set("uploads.quota_mib", 1).start().await;
    let refused = create(&t.user("hamlet"), (1 << 20) + 1, "a.txt", "text/plain").await;
    assert_eq!((refused.status, &refused.body["code"]), (400, &"REALM_UPLOAD_QUOTA".into()));
    assert_eq!(message(&refused), "Upload would exceed your organization's upload quota.");
}

/// The last byte is sent again, so that the client learns the URL.
#[tokio::test]
async fn upload_that_is_refused_at_the_end_can_be_finished_later() {
    let t = TestServer::builder().set("uploads.quota_mib", 1).start().await;
    let hamlet = t.user("hamlet");
    let bytes = vec![7; 700_000];
    let first = begun(&hamlet, 700_000, "a.bin", "application/x-a").await;
    let second = begun(&hamlet, 700_000, "b.bin", "application/x-a").await;
    assert_eq!(patch(&hamlet, &first, 0, &bytes).await.status, 200);
    let refused = patch(&hamlet, &second, 0, &bytes).await;
    assert_eq!((refused.status, &refused.body["code"]), (400, &"REALM_UPLOAD_QUOTA".into()));
    assert_eq!(offset(&hamlet, &second).await, 699_999);
    let body = hamlet.get("/attachments", &[]).ok().await;
    hamlet.delete(&format!("/attachments/{}", body["attachments"][0]["id"]), &[]).ok().await;
    let last = patch(&hamlet, &second, 699_999, &bytes[699_999..]).await;
    assert_eq!(last.status, 200, "{last:?}");
    assert!(hamlet.fetch(super::url_of(&last.body)).await.2 == bytes);
}

#[tokio::test]
async fn expired_uploads_are_gone() {
    let clock = ManualClock::new(Timestamp(1_900_000_000_000));
    let t = TestServer::builder().clock(&clock).start().await;
    let hamlet = t.user("hamlet");
    let path = begun(&hamlet, 11, "a.txt", "text/plain").await;
    let own = patch(&hamlet, &path, 0, b"hello ").await;
    assert_eq!(own.status, 204);
    clock.advance_secs(23 * 3600);
    assert_eq!(offset(&hamlet, &path).await, 6);
    clock.advance_secs(2 * 3600);
    let gone = hamlet.bare(Method::HEAD, &path).header("Tus-Resumable", "1.0.0").await;
    assert_eq!(gone.status, 404);
    let swept = t.app().partial_uploads.sweep(t.app().clock.now()).await.expect("swept");
    assert_eq!((swept, staged(&t)), (1, 0));
}
