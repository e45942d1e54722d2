//! `GET /messages/{id}/read_receipts`.

use crate::support::shape::fields;
use crate::support::{TestServer, TestUser};

async fn readers(who: &TestUser, id: u64) -> Vec<u32> {
    let body = who.get(&format!("/messages/{id}/read_receipts"), &[]).ok().await;
    assert_eq!(fields(&body), ["user_ids"]);
    body["user_ids"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap() as u32).collect()
}

#[tokio::test]
async fn read_receipts_list_readers() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let channel = iago.create_channel("Verona").with(&hamlet).with(&cordelia).await;
    let id = iago.send(&channel, "t", "x").await;
    assert_eq!(readers(&iago, id).await, [] as [u32; 0]);
    // The sender is not listed.
    for person in [&iago, &hamlet, &cordelia] {
        person.flag("add", "read", &[id]).await;
    }
    let mut both = [hamlet.id, cordelia.id];
    both.sort_unstable();
    assert_eq!(readers(&iago, id).await, both);
    // Users who can read the message can ask, even without a row.
    assert_eq!(readers(&t.user("othello"), id).await, both);
    cordelia.flag("remove", "read", &[id]).await;
    assert_eq!(readers(&hamlet, id).await, [hamlet.id]);
    let dm = iago.send_direct(&[&hamlet], "x").await;
    hamlet.flag("add", "read", &[dm]).await;
    assert_eq!(readers(&iago, dm).await, [hamlet.id]);
    hamlet.patch("/settings", &[("send_read_receipts", &false)]).ok().await;
    assert_eq!(readers(&iago, dm).await, [] as [u32; 0]);
}

#[tokio::test]
async fn read_receipts_errors() {
    let t = TestServer::start().await;
    let [iago, hamlet, desdemona] = t.users(["iago", "hamlet", "desdemona"]);
    let secret = iago.create_channel("secret").private().await;
    let id = iago.send(&secret, "t", "x").await;
    for id in [id, 999_999] {
        let path = format!("/messages/{id}/read_receipts");
        hamlet.get(&path, &[]).bad("Invalid message(s)").await;
    }
    desdemona.patch("/realm", &[("enable_read_receipts", &false)]).ok().await;
    let path = format!("/messages/{id}/read_receipts");
    iago.get(&path, &[]).bad("Read receipts are disabled in this organization.").await;
    // Inaccessible and missing messages give the same error.
    hamlet.get(&path, &[]).bad("Invalid message(s)").await;
}
