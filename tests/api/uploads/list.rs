//! `GET /attachments` and `DELETE /attachments/{attachment_id}`.

use super::{status, upload};
use crate::support::TestServer;
use serde_json::{Value, json};

#[tokio::test]
async fn attachments_are_the_own_files() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let url = upload(&hamlet, "a b.txt", b"hello").await;
    upload(&iago, "c.txt", b"hi").await;
    let id = hamlet.send_direct(&[&iago], &format!("see [a]({url})")).await;
    let sent = hamlet.get(&format!("/messages/{id}"), &[]).ok().await["message"]["timestamp"].clone();
    let own = hamlet.get("/attachments", &[]).ok().await;
    let file = &own["attachments"][0];
    assert_eq!((own["attachments"].as_array().unwrap().len(), &own["upload_space_used"]), (1, &json!(7)));
    assert_eq!((&file["name"], &file["size"]), (&json!("a b.txt"), &json!(5)));
    assert_eq!(format!("/user_uploads/{}", file["path_id"].as_str().unwrap()), url);
    assert!(file["create_time"].as_u64().unwrap() % 1000 == 0, "{file}");
    let named = json!([{"id": id, "date_sent": sent.as_u64().unwrap() * 1000}]);
    assert_eq!(file["messages"], named);
    let none = json!([]);
    assert_eq!(t.user("othello").get("/attachments", &[]).ok().await["attachments"], none);
}

#[tokio::test]
async fn deleted_file_is_gone_and_its_link_is_dead() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let url = upload(&hamlet, "a.txt", b"hello").await;
    let id = hamlet.send_direct(&[&iago], &format!("see [a]({url})")).await;
    assert_eq!(status(&iago, &url).await, 200);
    let file = hamlet.get("/attachments", &[]).ok().await["attachments"][0]["id"].clone();
    let path = format!("/attachments/{file}");
    iago.delete(&path, &[]).bad("Invalid attachment").await;
    t.user("desdemona").delete(&path, &[]).bad("Invalid attachment").await;
    hamlet.delete(&path, &[]).ok().await;
    hamlet.delete(&path, &[]).bad("Invalid attachment").await;
    for person in [&hamlet, &iago] {
        let (status, content_type, body) = person.fetch(&url).await;
        assert_eq!((status, content_type.as_str()), (404, "text/html; charset=utf-8"));
        assert_eq!(body, b"<p>This file does not exist or has been deleted.</p>");
    }
    let message = iago.get(&format!("/messages/{id}"), &[]).ok().await["message"].clone();
    assert!(message["content"].as_str().unwrap().contains(&url), "{message}");
    let left: Value = hamlet.get("/attachments", &[]).ok().await;
    assert_eq!((&left["attachments"], &left["upload_space_used"]), (&json!([]), &json!(0)));
    // Ids are not used again.
    upload(&hamlet, "b.txt", b"x").await;
    let next = hamlet.get("/attachments", &[]).ok().await["attachments"][0]["id"].clone();
    assert!(next.as_u64() > file.as_u64());
}
