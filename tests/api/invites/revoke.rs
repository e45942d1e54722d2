//! `DELETE /invites/{id}` and `POST /invites/{id}/resend`.

use super::{DAILY_LIMIT, create_link, failed, invite, kinds, link_in, listed, mail_to, open, start};
use crate::support::TestUser;
use serde_json::{Value, json};

#[tokio::test]
async fn revoke_invite_by_inviter_or_administrator() {
    let t = start().await;
    let [desdemona, iago, shiva, hamlet] = t.users(["desdemona", "iago", "shiva", "hamlet"]);
    for address in ["a@x.example", "b@x.example"] {
        invite(&hamlet, address, &[]).ok().await;
    }
    invite(&desdemona, "c@x.example", &[("invite_as", &100)]).ok().await;
    let link = link_in(&mail_to(&t, "a@x.example", 1).await);
    assert_eq!(open(&t, &link).await.0, 200);

    let no_administrator = "Must be an organization administrator";
    let no_owner = || json!({"msg": "Must be an organization owner", "code": "UNAUTHORIZED_PRINCIPAL"});
    shiva.delete("/invites/1", &[]).bad(no_administrator).await;
    shiva.post("/invites/1/resend", &[]).bad(no_administrator).await;
    iago.delete("/invites/3", &[]).refused(400, no_owner()).await;
    iago.post("/invites/3/resend", &[]).refused(400, no_owner()).await;
    for path in ["/invites/99", "/invites/4294967295"] {
        iago.delete(path, &[]).bad("No such invitation").await;
        iago.post(&format!("{path}/resend"), &[]).bad("No such invitation").await;
    }

    let mut queue = hamlet.register().events(&["invites_changed"]).await;
    hamlet.delete("/invites/1", &[]).ok().await;
    iago.delete("/invites/2", &[]).ok().await;
    desdemona.delete("/invites/3", &[]).ok().await;
    assert_eq!(kinds(&mut queue).await, ["invites_changed", "invites_changed"]);
    assert_eq!(listed(&desdemona).await, [] as [Value; 0]);
    hamlet.delete("/invites/1", &[]).bad("Invitation already used or deactivated.").await;
    hamlet.post("/invites/1/resend", &[]).bad("Invitation already used or deactivated.").await;
    let (status, page) = open(&t, &link).await;
    assert!(status == 410 && page.contains("This invitation has been revoked"), "{page}");
}

#[tokio::test]
async fn resend_expired_invite() {
    let clock = actors::ManualClock::new(model::Timestamp(1_800_000_000_000));
    let t = crate::support::TestServer::builder().development().clock(&clock).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    invite(&hamlet, "a@x.example", &[("invite_expires_in_minutes", &5)]).ok().await;
    let link = link_in(&mail_to(&t, "a@x.example", 1).await);
    clock.advance_secs(5 * 60);
    let (status, page) = open(&t, &link).await;
    assert!(status == 410 && page.contains("This invitation has expired"), "{page}");
    assert_eq!(listed(&hamlet).await, [] as [Value; 0]);

    let mut queue = iago.register().events(&["invites_changed"]).await;
    assert_eq!(hamlet.post("/invites/1/resend", &[]).ok().await, json!({"result": "success", "msg": ""}));
    let again = &listed(&hamlet).await[0];
    let secs = |key: &str| again[key].as_u64().expect("seconds");
    assert_eq!((secs("invited"), secs("expiry_date")), (1_800_000_300, 1_800_000_600));
    assert_eq!(kinds(&mut queue).await, [] as [&str; 0]);
    assert_eq!(link_in(&mail_to(&t, "a@x.example", 2).await), link);
    assert_eq!(open(&t, &link).await.0, 200);
    clock.advance_secs(5 * 60);
    // An expired invitation can be revoked as well.
    iago.delete("/invites/1", &[]).ok().await;
    assert!(open(&t, &link).await.1.contains("This invitation has been revoked"));
}

#[tokio::test]
async fn resend_is_limited_in_an_hour_and_a_day() {
    let clock = actors::ManualClock::new(model::Timestamp(1_800_000_000_000));
    let server = crate::support::TestServer::builder().development().clock(&clock);
    let limited = server.set("invitations.resends_hourly_max", 2).set("invitations.member_daily_max", 4);
    let t = limited.start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    invite(&hamlet, "a@x.example", &[]).ok().await;
    let resend = |who: &TestUser| who.post("/invites/1/resend", &[]);
    for _ in 0..2 {
        resend(&hamlet).ok().await;
    }
    for who in [&hamlet, &iago] {
        resend(who).bad("This invitation was sent again too often; try again later.").await;
    }
    clock.advance_secs(3600);
    resend(&hamlet).ok().await;
    let refused = || failed(DAILY_LIMIT, json!([]), false, true);
    resend(&hamlet).refused(400, refused()).await;
    invite(&hamlet, "b@x.example", &[]).refused(400, refused()).await;
    // Administrators have only the limits of the organization and of the invitation.
    resend(&iago).ok().await;
    mail_to(&t, "a@x.example", 5).await;
}

#[tokio::test]
async fn invites_revoked_when_inviter_is_deactivated() {
    let t = start().await;
    let [iago, othello] = t.users(["iago", "othello"]);
    invite(&othello, "a@x.example", &[]).ok().await;
    let link = link_in(&mail_to(&t, "a@x.example", 1).await);
    let mut queue = iago.register().events(&["invites_changed"]).await;
    iago.delete(&format!("/users/{}", othello.id), &[]).ok().await;
    assert_eq!(kinds(&mut queue).await, ["invites_changed"]);
    assert!(open(&t, &link).await.1.contains("This invitation has been revoked"));
    assert_eq!(listed(&iago).await, [] as [Value; 0]);
}

#[tokio::test]
async fn revoke_email_and_multiuse_invites_use_separate_endpoints() {
    let t = start().await;
    let iago = t.user("iago");
    create_link(&iago, &[]).await;
    invite(&iago, "a@x.example", &[]).ok().await;
    iago.delete("/invites/1", &[]).bad("No such invitation").await;
    iago.post("/invites/1/resend", &[]).bad("No such invitation").await;
    iago.delete("/invites/multiuse/2", &[]).bad("No such invitation").await;
}

/// Demoting the inviter revokes what they may no longer offer, and reduces the other invitations.
#[tokio::test]
async fn invites_revoked_or_reduced_when_inviter_is_demoted() {
    let t = start().await;
    let [desdemona, iago, shiva] = t.users(["desdemona", "iago", "shiva"]);
    let path = format!("/users/{}", iago.id);
    desdemona.patch(&path, &[("role", &100)]).ok().await;
    let core = iago.create_channel("core").private().await;
    let channels = json!([core.id]);
    invite(&iago, "owner@x.example", &[("invite_as", &100)]).ok().await;
    invite(&iago, "administrator@x.example", &[("invite_as", &200)]).ok().await;
    invite(&iago, "member@x.example", &[("stream_ids", &channels)]).ok().await;
    let link = create_link(&iago, &[("invite_as", &600)]).await;
    let owner = link_in(&mail_to(&t, "owner@x.example", 1).await);
    let administrator = link_in(&mail_to(&t, "administrator@x.example", 1).await);
    let member = link_in(&mail_to(&t, "member@x.example", 1).await);

    let mut queue = desdemona.register().events(&["invites_changed"]).await;
    desdemona.patch(&path, &[("role", &200)]).ok().await;
    assert_eq!(kinds(&mut queue).await, ["invites_changed"]);
    let revoked = "This invitation has been revoked";
    assert!(open(&t, &owner).await.1.contains(revoked));
    for open_still in [&administrator, &member, &link] {
        assert_eq!(open(&t, open_still).await.0, 200);
    }
    desdemona.patch(&path, &[("role", &400)]).ok().await;
    for gone in [&administrator, &link] {
        assert!(open(&t, gone).await.1.contains(revoked));
    }
    assert_eq!(listed(&desdemona).await.len(), 1);
    // The inviter may no longer subscribe users to the channel.
    iago.delete("/users/me/subscriptions", &[("subscriptions", &json!(["core"]))]).ok().await;
    let form = [("full_name", "New Member"), ("password", super::PASSWORD)];
    assert_eq!(super::fill_in(&t, &member, &form).await.0, 200);
    let inside = t.realm().directory().user_by_email("member@x.example").unwrap().id;
    assert!(!t.realm().directory().is_subscribed(model::ChannelId(core.id as u32), inside));
    // Guests may not invite at all.
    invite(&shiva, "late@x.example", &[]).ok().await;
    desdemona.patch(&format!("/users/{}", shiva.id), &[("role", &600)]).ok().await;
    assert_eq!(listed(&desdemona).await, [] as [Value; 0]);
}
