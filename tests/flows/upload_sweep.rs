//! Uploaded files that nothing needs are deleted: records that no message names, and bytes without a record.

use crate::api::uploads::{status, upload};
use crate::support::{TestServer, TestUser, poll_for};
use actors::ManualClock;
use bytes::Bytes;
use millstream::integrations::blobs::BlobName;
use millstream::integrations::blobs::sweep::sweep;
use model::Timestamp;
use serde_json::json;
use std::time::{SystemTime, UNIX_EPOCH};

const DAY_SECS: u64 = 24 * 3600;

/// A clock that begins now, because the store has a clock of its own.
fn clock() -> ManualClock {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_millis();
    ManualClock::new(Timestamp(now as u64))
}

async fn names(person: &TestUser) -> Vec<String> {
    let own = person.get("/attachments", &[]).ok().await;
    let files = own["attachments"].as_array().expect("a list");
    files.iter().map(|file| file["name"].as_str().expect("a name").to_owned()).collect()
}

/// Lets days pass, one sweep each, and waits until the user has only these files.
async fn pass(clock: &ManualClock, days: u64, person: &TestUser, expected: &[&str]) {
    for _ in 0..days {
        clock.advance_secs(DAY_SECS);
    }
    poll_for("the sweep has run", || async {
        clock.advance_secs(1);
        (names(person).await == expected).then_some(())
    })
    .await;
}

#[tokio::test]
async fn unclaimed_files_are_deleted_after_weeks() {
    let clock = clock();
    let t = TestServer::builder().clock(&clock).set("actors.sweep_secs", 1).start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let unused = upload(&hamlet, "unused.txt", b"1").await;
    let sent = upload(&hamlet, "sent.txt", b"2").await;
    let drafted = upload(&hamlet, "draft.txt", b"3").await;
    let scheduled = upload(&hamlet, "later.txt", b"4").await;
    let released = upload(&hamlet, "released.txt", b"5").await;
    let stays = hamlet.send_direct(&[&iago], &format!("[a]({sent})")).await;
    let channel = hamlet.create_channel("Verona").await;
    let deleted = hamlet.send(&channel, "t", &format!("[a]({released})")).await;
    let draft = json!([{"type": "", "to": [], "topic": "", "content": format!("[a]({drafted})")}]);
    hamlet.post("/drafts", &[("drafts", &draft)]).ok().await;
    let due = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_secs() + 200 * DAY_SECS;
    let to = json!([iago.id]);
    let content = format!("[a]({scheduled})");
    hamlet
        .post(
            "/scheduled_messages",
            &[
                ("type", &"direct"),
                ("to", &to),
                ("content", &content),
                ("scheduled_delivery_timestamp", &due),
            ],
        )
        .ok()
        .await;
    clock.advance_secs(10 * DAY_SECS);
    t.user("desdemona").delete(&format!("/messages/{deleted}"), &[]).ok().await;
    // Its message is gone: within a day it is, too.
    pass(&clock, 1, &hamlet, &["unused.txt", "sent.txt", "draft.txt", "later.txt"]).await;
    // Four weeks after the upload nothing else is deleted.
    pass(&clock, 17, &hamlet, &["unused.txt", "sent.txt", "draft.txt", "later.txt"]).await;
    assert_eq!(status(&hamlet, &unused).await, 200);
    pass(&clock, 8, &hamlet, &["sent.txt", "draft.txt", "later.txt"]).await;
    assert_eq!(status(&hamlet, &unused).await, 404);
    assert_eq!(hamlet.get(&format!("/messages/{stays}"), &[]).await.status, 200);
    assert_eq!(status(&iago, &sent).await, 200);
    // The bytes follow with the sweep of the store.
    assert_eq!(sweep(&t.app().blobs, t.server()).await.expect("a sweep"), 2);
    assert_eq!(status(&hamlet, &drafted).await, 200);
}

#[tokio::test]
async fn bytes_without_a_record_are_deleted_once_they_are_old() {
    let clock = clock();
    let t = TestServer::builder().clock(&clock).start().await;
    let hamlet = t.user("hamlet");
    let url = upload(&hamlet, "a.txt", b"1").await;
    let blobs = &t.app().blobs;
    let orphan = BlobName::parse("uploads/1/ab/abcdefghijklmnopqrstuvwx").expect("a name");
    blobs.put(&orphan, Bytes::from_static(b"x")).await.expect("stored");
    assert_eq!(sweep(blobs, t.server()).await.expect("a sweep"), 0);
    clock.advance_secs(8 * DAY_SECS);
    assert_eq!(sweep(blobs, t.server()).await.expect("a sweep"), 1);
    assert!(blobs.get(&orphan).await.is_err());
    assert_eq!(status(&hamlet, &url).await, 200);
}
