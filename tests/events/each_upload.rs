//! Events for every change of uploaded files: recipients, and completeness of the change.

use super::each_type::kinds;
use super::verify;
use crate::api::uploads::upload;
use crate::support::TestServer;
use serde_json::json;

#[tokio::test]
async fn attachment_events() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let mut url = String::new();
    let seen = verify(&t, &["iago", "hamlet", "polonius"], async {
        url = upload(&hamlet, "a.txt", b"hello").await;
        let id = hamlet.send_direct(&[&iago], &format!("[a]({url})")).await;
        iago.send_direct(&[&iago], &format!("[a]({url})")).await;
        hamlet.edit(id, &[("content", &"none")]).ok().await;
        let own = hamlet.get("/attachments", &[]).ok().await;
        hamlet.delete(&format!("/attachments/{}", own["attachments"][0]["id"]), &[]).ok().await;
    })
    .await;
    let own = [
        "attachment add",
        "attachment update",
        "message",
        "attachment update",
        "attachment update",
        "update_message",
        "attachment remove",
    ];
    assert_eq!(kinds(&seen, "hamlet"), own);
    assert_eq!(kinds(&seen, "iago"), ["message", "message", "update_message"]);
    assert_eq!(kinds(&seen, "polonius"), [] as [&str; 0]);
    let events = &seen["hamlet"];
    let (added, removed) = (&events[0], &events[6]);
    assert_eq!((&added["attachment"]["name"], &added["upload_space_used"]), (&json!("a.txt"), &json!(5)));
    assert_eq!(format!("/user_uploads/{}", added["attachment"]["path_id"].as_str().unwrap()), url);
    let counts = [0, 1, 3, 4].map(|at| events[at]["attachment"]["messages"].as_array().unwrap().len());
    assert_eq!(counts, [0, 1, 2, 1]);
    assert_eq!(removed["attachment"], json!({"id": added["attachment"]["id"]}));
    assert_eq!(removed["upload_space_used"], 0);
}

#[tokio::test]
async fn deletions_announce_the_files_that_they_release() {
    let t = TestServer::start().await;
    let [hamlet, iago, desdemona] = t.users(["hamlet", "iago", "desdemona"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let url = upload(&hamlet, "a.txt", b"hello").await;
    let one = hamlet.send(&channel, "one", &format!("[a]({url})")).await;
    hamlet.send(&channel, "two", &format!("[a]({url})")).await;
    let seen = verify(&t, &["hamlet", "iago"], async {
        desdemona.delete(&format!("/messages/{one}"), &[]).ok().await;
        let topic = [("topic_name", &"two" as &(dyn std::fmt::Display + Sync))];
        desdemona.post(&format!("/streams/{}/delete_topic", channel.id), &topic).ok().await;
    })
    .await;
    let files: Vec<usize> = seen["hamlet"]
        .iter()
        .filter(|event| event["type"] == "attachment")
        .map(|event| event["attachment"]["messages"].as_array().unwrap().len())
        .collect();
    assert_eq!(files, [1, 0]);
    assert!(seen["iago"].iter().all(|event| event["type"] != "attachment"));
}
