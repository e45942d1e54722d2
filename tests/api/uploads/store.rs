//! `POST /user_uploads`: stores a file.

use super::upload;
use crate::support::TestServer;
use crate::support::raw_connection::RawConnection;
use reqwest::Method;
use serde_json::json;

#[tokio::test]
async fn upload_answers_the_url_and_the_name() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let stored =
        hamlet.upload("/user_uploads", &[], &[("notes ä.txt", b"hello\nworld\n".to_vec())]).ok().await;
    let url = stored["url"].as_str().unwrap();
    assert_eq!((&stored["uri"], &stored["filename"]), (&json!(url), &json!("notes ä.txt")));
    let parts: Vec<&str> = url.split('/').collect();
    assert_eq!((parts[1], parts[2], parts[5]), ("user_uploads", "1", "notes-ä.txt"), "{url}");
    assert_eq!((parts[3].len(), parts[4].len()), (2, 24), "{url}");
    assert_eq!(
        hamlet.fetch(url).await,
        (200, "text/plain; charset=utf-8".to_owned(), b"hello\nworld\n".to_vec())
    );
    // Two files of the same name are two files.
    assert_ne!(upload(&hamlet, "a.txt", b"1").await, upload(&hamlet, "a.txt", b"1").await);
    let empty = upload(&hamlet, "empty.txt", b"").await;
    assert_eq!(hamlet.fetch(&empty).await, (200, "text/plain; charset=utf-8".to_owned(), Vec::new()));
}

#[tokio::test]
async fn upload_takes_exactly_one_file() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let missing = "You must specify a file to upload";
    hamlet.upload("/user_uploads", &[], &[]).bad(missing).await;
    hamlet.post("/user_uploads", &[("file", &"x")]).bad(missing).await;
    let two = [("a.txt", b"1".to_vec()), ("b.txt", b"2".to_vec())];
    hamlet.upload("/user_uploads", &[], &two).bad("You may only upload one file at a time").await;
    let answer = hamlet.upload("/user_uploads", &[("extra", &1)], &[("a.txt", b"1".to_vec())]).ok().await;
    assert_eq!(answer["ignored_parameters_unsupported"], json!(["extra"]));
    let own = hamlet.get("/attachments", &[]).ok().await;
    assert_eq!(own["attachments"].as_array().unwrap().len(), 1, "refused uploads leave nothing");
}

#[tokio::test]
async fn upload_of_a_large_file_keeps_every_byte() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    // Not a multiple of any buffer, with what looks like boundaries inside.
    let bytes: Vec<u8> = (0..3_000_017u32).map(|n| [b'\r', b'\n', b'-', n as u8][n as usize % 4]).collect();
    let url = upload(&hamlet, "large.bin", &bytes).await;
    let (status, content_type, read) = hamlet.fetch(&url).await;
    assert_eq!((status, content_type.as_str()), (200, "application/octet-stream"));
    assert!(read == bytes);
}

#[tokio::test]
async fn upload_type_is_declared_or_follows_from_the_name() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let boundary = "multipart/form-data; boundary=x";
    for (headers, expected) in [
        ("filename=\"a.png\"\r\nContent-Type: image/jpeg", "image/jpeg"),
        ("filename=\"a.png\"\r\nContent-Type: application/octet-stream", "image/png"),
        ("filename=\"a.png\"", "image/png"),
        ("filename=\"a.png\"\r\nContent-Type: <script>", "image/png"),
        ("filename=\"a\"", "application/octet-stream"),
        ("filename=\"a.html\"", "text/html"),
    ] {
        let body =
            format!("--x\r\nContent-Disposition: form-data; name=\"f\"; {headers}\r\n\r\nabc\r\n--x--\r\n");
        let stored = hamlet.send_body(Method::POST, "/user_uploads", boundary, body.into()).ok().await;
        let (status, content_type, bytes) = hamlet.fetch(stored["url"].as_str().unwrap()).await;
        assert_eq!(
            (status, content_type.as_str(), bytes.as_slice()),
            (200, expected, &b"abc"[..]),
            "{headers}"
        );
    }
}

#[tokio::test]
async fn broken_off_upload_leaves_nothing() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let mut connection = RawConnection::connect(&hamlet.url).await;
    let head = format!(
        "POST /api/v1/user_uploads HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\n\
         Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 2000000\r\n\r\n\
         --x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.bin\"\r\n\r\n",
        hamlet.authorization()
    );
    connection.write(head).await;
    connection.write(vec![7; 1 << 20]).await;
    let files = || walk(&t.data().join("blobs"));
    crate::support::wait_until("the file is begun", || !files().is_empty()).await;
    drop(connection);
    crate::support::wait_until("the file is gone", || files().is_empty()).await;
    assert_eq!(hamlet.get("/attachments", &[]).ok().await["upload_space_used"], 0);
}

/// All files below a folder.
fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| if entry.path().is_dir() { walk(&entry.path()) } else { vec![entry.path()] })
        .collect()
}
