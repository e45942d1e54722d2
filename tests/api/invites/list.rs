//! `GET /invites`.

use super::{create_link, invite, listed, start};
use crate::support::keys;
use serde_json::json;

#[tokio::test]
async fn list_invites_visibility() {
    let t = start().await;
    let [desdemona, iago, hamlet, othello, polonius] =
        t.users(["desdemona", "iago", "hamlet", "othello", "polonius"]);
    invite(&hamlet, "Ada@x.example", &[("invite_as", &600), ("notify_referrer_on_join", &false)]).ok().await;
    invite(&iago, "bob@x.example", &[("invite_expires_in_minutes", &"null")]).ok().await;
    let link = create_link(&iago, &[("invite_expires_in_minutes", &60)]).await;
    let all = listed(&iago).await;
    assert_eq!(all.len(), 3);
    let named = [
        "id",
        "invited_by_user_id",
        "invited",
        "expiry_date",
        "invited_as",
        "notify_referrer_on_join",
        "is_multiuse",
    ];
    for (invitation, own) in all.iter().zip(["email", "email", "link_url"]) {
        let mut expected = named.map(str::to_owned).to_vec();
        expected.push(own.to_owned());
        expected.sort();
        let mut found: Vec<String> = keys(invitation).into_iter().map(Into::into).collect();
        found.sort();
        assert_eq!(found, expected);
    }
    let first = &all[0];
    assert_eq!(first["email"], "Ada@x.example");
    assert_eq!((&first["invited_as"], &first["notify_referrer_on_join"]), (&json!(600), &json!(false)));
    assert_eq!((&first["invited_by_user_id"], &first["is_multiuse"]), (&json!(hamlet.id), &json!(false)));
    let secs = |key: &str| first[key].as_u64().expect("seconds");
    assert_eq!(secs("expiry_date") - secs("invited"), 14_400 * 60, "ten days");
    assert_eq!(all[1]["expiry_date"], json!(null));
    assert_eq!((&all[2]["link_url"], &all[2]["is_multiuse"]), (&json!(link), &json!(true)));
    assert_eq!(listed(&hamlet).await, all[..1]);
    assert_eq!(listed(&othello).await, [] as [serde_json::Value; 0]);
    polonius.get("/invites", &[]).bad("Not allowed for guest users").await;

    // A link that creates owners is visible to owners only.
    create_link(&desdemona, &[("invite_as", &100)]).await;
    assert_eq!(listed(&desdemona).await.len(), 4);
    assert_eq!(listed(&iago).await, all);
}

#[tokio::test]
async fn list_invites_omits_expired_and_used() {
    let clock = actors::ManualClock::new(model::Timestamp(1_800_000_000_000));
    let t = crate::support::TestServer::builder().clock(&clock).start().await;
    let iago = t.user("iago");
    create_link(&iago, &[("invite_expires_in_minutes", &1)]).await;
    create_link(&iago, &[("invite_expires_in_minutes", &"null")]).await;
    assert_eq!(listed(&iago).await.len(), 2);
    clock.advance_secs(60);
    assert_eq!(listed(&iago).await.len(), 1);
}
