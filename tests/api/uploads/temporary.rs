//! `GET /api/v1/user_uploads/…`: a URL that is valid for a minute without logging in.

use super::upload;
use crate::api::pages::{Visitor, html};
use crate::support::TestServer;
use actors::ManualClock;

#[tokio::test]
async fn temporary_url_is_valid_for_a_minute() {
    let clock = ManualClock::new(model::Timestamp(1_790_000_000_000));
    let t = TestServer::builder().clock(&clock).start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let url = upload(&hamlet, "notes ä.txt", b"hello").await;
    let api = format!("/api/v1{url}");
    let temporary = hamlet.get(&api, &[]).ok().await["url"].as_str().unwrap().to_owned();
    assert!(temporary.starts_with("/user_uploads/temporary/") && temporary.ends_with("/notes-%C3%A4.txt"));
    let anonymous = t.anonymous();
    assert_eq!(anonymous.fetch(&temporary).await.2, b"hello");
    assert_eq!(iago.get(&api, &[]).await.status, 403);
    assert_eq!(hamlet.get(&api.replace(".txt", ".png"), &[]).await.status, 404);
    clock.shift_wall_secs(60);
    assert_eq!(anonymous.fetch(&temporary).await.0, 200);
    clock.shift_wall_secs(1);
    anonymous.get(&temporary, &[]).bad("Invalid token").await;
    let page = Visitor::new(&t).get(&temporary).await;
    assert!(page.status == 400 && html(&page).contains("Open the file from its message again"), "{page:?}");
}

#[tokio::test]
async fn temporary_url_cannot_be_changed() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let [first, second] = [upload(&hamlet, "a.txt", b"1").await, upload(&hamlet, "a.txt", b"2").await];
    let path = hamlet.get(&format!("/api/v1{first}"), &[]).ok().await["url"].as_str().unwrap().to_owned();
    let other = hamlet.get(&format!("/api/v1{second}"), &[]).ok().await["url"].as_str().unwrap().to_owned();
    let part =
        |path: &str, nth: usize| path.split('/').nth(3).unwrap().split('.').nth(nth).unwrap().to_owned();
    let (id, until, key) = (part(&path, 0), part(&path, 1), part(&path, 2));
    let later = until.parse::<u64>().unwrap() + 60;
    let anonymous = t.anonymous();
    for token in [
        format!("{id}.{later}.{key}"),
        format!("{}.{until}.{key}", part(&other, 0)),
        format!("{id}.{until}.{}", part(&other, 2)),
        format!("{id}.{until}"),
        "x".to_owned(),
    ] {
        anonymous.get(&format!("/user_uploads/temporary/{token}/a.txt"), &[]).bad("Invalid token").await;
    }
    anonymous.get(&path.replace("a.txt", "b.txt"), &[]).bad("Invalid filename").await;
    let own = hamlet.get("/attachments", &[]).ok().await;
    hamlet.delete(&format!("/attachments/{}", own["attachments"][0]["id"]), &[]).ok().await;
    assert_eq!(anonymous.fetch(&path).await.0, 404);
}
