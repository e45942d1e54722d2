//! `POST /invites/multiuse` and `DELETE /invites/multiuse/{id}`.

use super::{create_link, kinds, listed, open};
use crate::support::TestServer;
use serde_json::{Value, json};

#[tokio::test]
async fn multiuse_invite_create_and_revoke() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let mut queues = [
        iago.register().events(&["invites_changed"]).await,
        hamlet.register().events(&["invites_changed"]).await,
    ];
    let link = create_link(&iago, &[]).await;
    let key = link.strip_prefix(&format!("{}/join/", t.url)).and_then(|rest| rest.strip_suffix('/'));
    assert!(key.is_some_and(|key| key.len() >= 24), "{link}");
    assert_ne!(create_link(&iago, &[]).await, link);
    // With and without a trailing slash.
    assert_eq!(open(&t, &link).await.0, 200);
    assert_eq!(open(&t, link.trim_end_matches('/')).await.0, 200);

    hamlet.delete("/invites/multiuse/1", &[]).bad("Must be an organization administrator").await;
    iago.delete("/invites/multiuse/99", &[]).bad("No such invitation").await;
    iago.delete("/invites/multiuse/1", &[]).ok().await;
    iago.delete("/invites/multiuse/1", &[]).bad("Invitation has already been revoked").await;
    let (status, page) = open(&t, &link).await;
    assert!(status == 410 && page.contains("This invitation has been revoked"), "{page}");
    assert_eq!(listed(&iago).await.len(), 1);
    assert_eq!(kinds(&mut queues[0]).await, ["invites_changed"; 3]);
    assert_eq!(kinds(&mut queues[1]).await, [] as [&str; 0]);
}

#[tokio::test]
async fn multiuse_invite_permission_and_errors() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    let path = "/invites/multiuse";
    hamlet.post(path, &[]).bad("Insufficient permission").await;
    let members = json!({"new": t.realm().directory().group_by_name("role:members").expect("a group").id.0});
    desdemona.patch("/realm", &[("create_multiuse_invite_group", &members)]).ok().await;
    hamlet.post(path, &[("invite_as", &300)]).bad("Must be an organization administrator").await;
    hamlet.post(path, &[("invite_as", &5)]).bad("Invalid invite_as").await;
    let owner = json!({"msg": "Must be an organization owner", "code": "UNAUTHORIZED_PRINCIPAL"});
    iago.post(path, &[("invite_as", &100)]).refused(400, owner).await;
    let refusal = "Invalid channel ID 77. No invites were sent.";
    hamlet.post(path, &[("stream_ids", &"[77]")]).bad(refusal).await;
    hamlet.post(path, &[("group_ids", &"[1]")]).bad("Invalid user group").await;
    let text = [("welcome_message_custom_text", &"x" as &(dyn std::fmt::Display + Sync))];
    hamlet.post(path, &text).bad("Must be an organization administrator").await;
    assert_eq!(listed(&desdemona).await, [] as [Value; 0]);
    create_link(&hamlet, &[]).await;
    assert_eq!(listed(&hamlet).await.len(), 1);
}
