//! Messages that name files: who may name them, and what edits and deletions change.

use super::{status, upload};
use crate::support::{TestServer, TestUser};
use serde_json::{Value, json};

async fn messages_of(person: &TestUser, url: &str) -> Vec<u64> {
    let own = person.get("/attachments", &[]).ok().await;
    let files = own["attachments"].as_array().unwrap();
    let path = url.trim_start_matches("/user_uploads/");
    let file = files.iter().find(|file| file["path_id"] == path).expect("the file");
    file["messages"].as_array().unwrap().iter().map(|named| named["id"].as_u64().unwrap()).collect()
}

async fn with_attachment(person: &TestUser) -> Vec<u64> {
    person.message_ids(json!([["has", "attachment"]])).await
}

#[tokio::test]
async fn message_claims_only_files_that_its_sender_may_read() {
    let t = TestServer::start().await;
    let [hamlet, iago, othello] = t.users(["hamlet", "iago", "othello"]);
    let url = upload(&hamlet, "secret.txt", b"hello").await;
    // A link that was guessed gives no access, neither to the sender nor to readers.
    let guessed = iago.send_direct(&[&othello], &format!("[x]({url})")).await;
    assert_eq!((status(&iago, &url).await, status(&othello, &url).await), (403, 403));
    assert!(!with_attachment(&iago).await.contains(&guessed));
    let sent = hamlet.send_direct(&[&iago], &format!("[x]({url})")).await;
    assert_eq!((status(&iago, &url).await, status(&othello, &url).await), (200, 403));
    // Everyone who can read it may pass it on.
    let passed = iago.send_direct(&[&othello], &format!("> [x]({url})")).await;
    assert_eq!(status(&othello, &url).await, 200);
    assert_eq!(messages_of(&hamlet, &url).await, [sent, passed]);
    assert_eq!(with_attachment(&iago).await, [sent, passed]);
    // With the whole address, and percent-encoded.
    let encoded = format!("{}{}", t.anonymous().url, url.replace("secret", "%73ecret"));
    let again = hamlet.send_direct(&[&hamlet], &format!("[x]({encoded})")).await;
    assert_eq!(messages_of(&hamlet, &url).await, [sent, passed, again]);
    let code = hamlet.send_direct(&[&hamlet], &format!("`[x]({url})`")).await;
    assert!(!with_attachment(&hamlet).await.contains(&code));
}

#[tokio::test]
async fn edit_changes_the_claims_and_names_detached_files() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let [first, second] = [upload(&hamlet, "a.txt", b"1").await, upload(&hamlet, "b.txt", b"2").await];
    let both = format!("[a]({first}) [b]({second})");
    let id = hamlet.send_direct(&[&iago], &both).await;
    let other = hamlet.send_direct(&[&iago], &format!("[b]({second})")).await;
    let edited = hamlet.edit(id, &[("content", &"nothing")]).ok().await;
    let detached = edited["detached_uploads"].as_array().unwrap();
    assert_eq!(
        (detached.len(), &detached[0]["name"], &detached[0]["messages"]),
        (1, &json!("a.txt"), &json!([]))
    );
    assert_eq!(format!("/user_uploads/{}", detached[0]["path_id"].as_str().unwrap()), first);
    assert_eq!((status(&iago, &first).await, status(&iago, &second).await), (403, 200));
    assert_eq!(status(&hamlet, &first).await, 200);
    assert_eq!(with_attachment(&iago).await, [other]);
    let edited = hamlet.edit(id, &[("content", &both)]).ok().await;
    assert_eq!(edited["detached_uploads"], json!([]));
    assert_eq!(status(&iago, &first).await, 200);
    assert_eq!(with_attachment(&iago).await, [id, other]);
    let moved = hamlet.edit(id, &[("content", &format!("[a]({first})"))]).ok().await;
    assert_eq!(moved["detached_uploads"], json!([]), "another message names the second file");
    assert_eq!(messages_of(&hamlet, &second).await, [other]);
}

#[tokio::test]
async fn deleted_messages_release_their_files() {
    let t = TestServer::start().await;
    let [hamlet, iago, desdemona] = t.users(["hamlet", "iago", "desdemona"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let url = upload(&hamlet, "a.txt", b"1").await;
    let link = format!("[a]({url})");
    let one = hamlet.send(&channel, "one", &link).await;
    let two = hamlet.send(&channel, "two", &link).await;
    assert_eq!(messages_of(&hamlet, &url).await, [one, two]);
    desdemona.delete(&format!("/messages/{one}"), &[]).ok().await;
    assert_eq!((messages_of(&hamlet, &url).await, status(&iago, &url).await), (vec![two], 200));
    desdemona.post(&format!("/streams/{}/delete_topic", channel.id), &[("topic_name", &"two")]).ok().await;
    assert_eq!(messages_of(&hamlet, &url).await, [] as [u64; 0]);
    assert_eq!((status(&iago, &url).await, status(&hamlet, &url).await), (403, 200));
}

#[tokio::test]
async fn lists_name_the_newest_messages_of_a_file() {
    let t = TestServer::builder().set("limits.enabled", false).start().await;
    let hamlet = t.user("hamlet");
    let url = upload(&hamlet, "a.txt", b"1").await;
    let mut sent = Vec::new();
    for _ in 0..205 {
        sent.push(hamlet.send_direct(&[&hamlet], &format!("[a]({url})")).await);
    }
    assert_eq!(messages_of(&hamlet, &url).await, sent[5..]);
    let own: Value = hamlet.get("/attachments", &[]).ok().await;
    assert_eq!(own["attachments"].as_array().unwrap().len(), 1);
}
