//! Limits of uploads: size, quota, time.

use super::upload;
use crate::support::TestServer;
use crate::support::raw_connection::RawConnection;
use serde_json::json;

#[tokio::test]
async fn upload_size_is_limited() {
    let t = TestServer::builder().set("uploads.file_mib_max", 1).start().await;
    let hamlet = t.user("hamlet");
    let msg = "File is larger than this server's configured maximum upload size (1 MiB).";
    upload(&hamlet, "exact.bin", &vec![1; 1 << 20]).await;
    for bytes in [(1 << 20) + 1, 5 << 20] {
        hamlet.upload("/user_uploads", &[], &[("large.bin", vec![1; bytes])]).bad(msg).await;
    }
    let own = hamlet.get("/attachments", &[]).ok().await;
    assert_eq!(own["upload_space_used"], 1 << 20);
    let state = hamlet.register().await.state;
    let limits = (&state["max_file_upload_size_mib"], &state["realm_upload_quota_mib"]);
    assert_eq!(limits, (&json!(1), &json!(null)));
}

#[tokio::test]
async fn upload_quota_is_that_of_the_organization() {
    let t = TestServer::builder().set("uploads.quota_mib", 1).start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    upload(&hamlet, "a.bin", &vec![1; 600_000]).await;
    let refused = json!({
        "msg": "Upload would exceed your organization's upload quota.",
        "code": "REALM_UPLOAD_QUOTA",
    });
    iago.upload("/user_uploads", &[], &[("b.bin", vec![1; 600_000])]).refused(400, refused).await;
    let url = upload(&iago, "b.bin", &vec![1; 400_000]).await;
    assert_eq!(iago.register().await.state["realm_upload_quota_mib"], 1);
    let own = iago.get("/attachments", &[]).ok().await;
    iago.delete(&format!("/attachments/{}", own["attachments"][0]["id"]), &[]).ok().await;
    assert_eq!(iago.fetch(&url).await.0, 404);
    upload(&iago, "b.bin", &vec![1; 448_000]).await;
}

#[tokio::test]
async fn upload_without_progress_ends() {
    let t = TestServer::builder().set("http.body_secs_max", 1).start().await;
    let hamlet = t.user("hamlet");
    let mut connection = RawConnection::connect(&hamlet.url).await;
    let head = format!(
        "POST /api/v1/user_uploads HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\n\
         Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 2000000\r\n\r\n\
         --x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.bin\"\r\n\r\nabc",
        hamlet.authorization()
    );
    connection.write(head).await;
    let answer = connection.read_to_end().await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}
