//! Uploads in one part and in several, resumed and cancelled.

use super::{attachments, begun, create, message, metadata, offset, patch, path_of, staged, url_of};
use crate::support::raw_connection::RawConnection;
use crate::support::{TestServer, wait_until};
use reqwest::Method;
use serde_json::json;

#[tokio::test]
async fn file_arrives_in_parts() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let mut queue = hamlet.register().events(&["attachment"]).await;
    let path = begun(&hamlet, 11, "tus file.txt", "text/plain").await;
    assert!(path.starts_with("/api/v1/tus/"), "{path}");
    let first = patch(&hamlet, &path, 0, b"hello ").await;
    assert_eq!((first.status, first.header("Upload-Offset")), (204, "6"));
    assert!(!first.header("Upload-Expires").is_empty());
    assert_eq!(offset(&hamlet, &path).await, 6);
    let last = patch(&hamlet, &path, 6, b"world").await;
    assert_eq!((last.status, last.header("Upload-Offset")), (200, "11"), "{last:?}");
    assert_eq!(last.header("Tus-Resumable"), "1.0.0");
    let url = url_of(&last.body).to_owned();
    assert!(url.starts_with("/user_uploads/1/") && url.ends_with("/tus-file.txt"), "{url}");
    assert_eq!(last.body, json!({"url": url, "filename": "tus file.txt"}));
    let (status, kind, bytes) = hamlet.fetch(&url).await;
    assert_eq!(
        (status, kind.as_str(), bytes.as_slice()),
        (200, "text/plain; charset=utf-8", &b"hello world"[..])
    );
    let event = queue.next().await;
    assert_eq!((&event["op"], &event["attachment"]["size"]), (&json!("add"), &json!(11)));
    assert_eq!(attachments(&hamlet).await, ["tus file.txt"]);
    assert_eq!(staged(&t), 0);
    let gone = hamlet.bare(Method::HEAD, &path).header("Tus-Resumable", "1.0.0").await;
    assert_eq!(gone.status, 404);
}

#[tokio::test]
async fn status_describes_the_upload() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let path = begun(&hamlet, 11, "a.txt", "text/plain").await;
    let answer = hamlet.bare(Method::HEAD, &path).header("Tus-Resumable", "1.0.0").await;
    assert_eq!(answer.header("Upload-Length"), "11");
    assert_eq!(answer.header("Upload-Metadata"), metadata("a.txt", "text/plain"));
    assert_eq!(answer.header("Tus-Resumable"), "1.0.0");
}

#[tokio::test]
async fn creation_can_contain_bytes() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    for (path, sent) in [("/tus/", "hello world"), ("/tus", "hello")] {
        let kind = "application/offset+octet-stream";
        let call = hamlet.send_body(Method::POST, path, kind, sent.into());
        let call = call.header("Tus-Resumable", "1.0.0").header("Upload-Length", "11");
        let answer = call.header("Upload-Metadata", &metadata("a.txt", "text/plain")).await;
        assert_eq!((answer.status, answer.header("Upload-Offset")), (201, sent.len().to_string().as_str()));
        let path = path_of(&hamlet, &answer);
        if sent.len() == 11 {
            assert_eq!(hamlet.fetch(url_of(&answer.body)).await.2, b"hello world");
        } else {
            let last = patch(&hamlet, &path, 5, b" world").await;
            assert_eq!(hamlet.fetch(url_of(&last.body)).await.2, b"hello world");
        }
    }
    let empty = create(&hamlet, 0, "empty.txt", "text/plain").await;
    assert_eq!(empty.status, 201, "{empty:?}");
    assert_eq!(hamlet.fetch(url_of(&empty.body)).await.2, b"");
    assert_eq!(attachments(&hamlet).await.len(), 3);
    assert_eq!(staged(&t), 0);
}

#[tokio::test]
async fn what_arrived_before_the_connection_broke_is_kept() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let bytes: Vec<u8> = (0..1_000_000_u32).map(|number| number as u8).collect();
    let path = begun(&hamlet, bytes.len() as u64, "a.bin", "application/x-a").await;
    let mut broken = RawConnection::connect(&t.url).await;
    let head = format!(
        "PATCH {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {}\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\n\
         Content-Type: application/offset+octet-stream\r\nContent-Length: {}\r\n\r\n",
        hamlet.authorization(),
        bytes.len()
    );
    broken.write(head).await;
    broken.write(&bytes[..700_000]).await;
    wait_until("the server writes", || staged_bytes(&t) > 0).await;
    // The old connection is still open: the client has noticed a break that the server has not.
    let kept = offset(&hamlet, &path).await;
    assert!(kept <= 700_000);
    drop(broken);
    let kept_later = offset(&hamlet, &path).await;
    assert_eq!(kept, kept_later, "the newer request took over");
    let last = patch(&hamlet, &path, kept, &bytes[kept as usize..]).await;
    assert_eq!(last.status, 200, "{last:?}");
    assert!(hamlet.fetch(url_of(&last.body)).await.2 == bytes);
}

/// Bytes of the only unfinished upload.
fn staged_bytes(t: &TestServer) -> u64 {
    let entries = std::fs::read_dir(t.data().join("partial-uploads")).expect("the folder");
    let files = entries.map(|entry| entry.expect("an entry"));
    let bytes = files.filter(|file| file.path().extension().is_some_and(|kind| kind == "bytes"));
    bytes.map(|file| file.metadata().expect("a size").len()).sum()
}

#[tokio::test]
async fn broken_connection_keeps_its_bytes() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let path = begun(&hamlet, 100, "a.bin", "application/x-a").await;
    let mut broken = RawConnection::connect(&t.url).await;
    let head = format!(
        "PATCH {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {}\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\n\
         Content-Type: application/offset+octet-stream\r\nContent-Length: 100\r\n\r\n0123456789",
        hamlet.authorization(),
    );
    broken.write(head).await;
    // Until then the bytes may be in the connection.
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    drop(broken);
    crate::support::poll_for("the bytes are kept", || async {
        (offset(&hamlet, &path).await == 10).then_some(())
    })
    .await;
}

#[tokio::test]
async fn upload_continues_after_a_restart() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let path = begun(&hamlet, 11, "a.txt", "text/plain").await;
    assert_eq!(patch(&hamlet, &path, 0, b"hello ").await.status, 204);
    let folder = t.stop().await;
    let t = TestServer::builder().on(folder).start().await;
    let hamlet = t.user("hamlet");
    assert_eq!(offset(&hamlet, &path).await, 6);
    let last = patch(&hamlet, &path, 6, b"world").await;
    assert_eq!(hamlet.fetch(url_of(&last.body)).await.2, b"hello world");
}

#[tokio::test]
async fn upload_can_be_cancelled() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let path = begun(&hamlet, 11, "a.txt", "text/plain").await;
    let cancelled = hamlet.bare(Method::DELETE, &path).header("Tus-Resumable", "1.0.0").await;
    assert_eq!((cancelled.status, staged(&t)), (204, 0));
    let again = hamlet.bare(Method::DELETE, &path).header("Tus-Resumable", "1.0.0").await;
    assert_eq!((again.status, message(&again)), (404, "This upload does not exist or has expired"));
}

#[tokio::test]
async fn uploaded_image_has_a_preview() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let picture = crate::api::pictures::png();
    let path = begun(&hamlet, picture.len() as u64, "cat.png", "image/png").await;
    let last = patch(&hamlet, &path, 0, &picture).await;
    let content = format!("[cat]({})", url_of(&last.body));
    let rendered = hamlet.post("/messages/render", &[("content", &content)]).ok().await;
    let html = rendered["rendered"].as_str().expect("HTML").to_owned();
    assert!(html.contains("data-original-dimensions=\"120x80\""), "{html}");
}
