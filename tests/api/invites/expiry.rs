//! Expired invitations stay expired, even if the server's clock is set back.

use super::{create_link, open};
use crate::support::TestServer;
use actors::ManualClock;

fn clock() -> ManualClock {
    ManualClock::new(model::Timestamp(1_790_000_000_000))
}

#[tokio::test]
async fn expired_invitation_stays_expired_after_clock_set_back() {
    let clock = clock();
    let t = TestServer::builder().clock(&clock).start().await;
    let iago = t.user("iago");
    let short = create_link(&iago, &[("invite_expires_in_minutes", &10)]).await;
    let long = create_link(&iago, &[("invite_expires_in_minutes", &1440)]).await;
    let mut queue = iago.register().events(&["invites_changed"]).await;
    clock.advance_secs(11 * 60);
    // The expiry is stored, and those who see the list of invitations get an event.
    assert_eq!(queue.next().await["type"], "invites_changed");
    clock.shift_wall_secs(-3600);
    let (status, page) = open(&t, &short).await;
    assert!(status == 410 && page.contains("has expired"), "{status} {page}");
    assert_eq!(open(&t, &long).await.0, 200);
    let folder = t.stop().await;
    let t = TestServer::builder().clock(&clock).on(folder).start().await;
    let path = &short[short.find("/join/").expect("the page for joining")..];
    assert_eq!(open(&t, &format!("{}{path}", t.url)).await.0, 410);
}

#[tokio::test]
async fn invitation_expired_by_wrong_clock_stays_expired() {
    let clock = clock();
    let t = TestServer::builder().clock(&clock).start().await;
    let iago = t.user("iago");
    let link = create_link(&iago, &[("invite_expires_in_minutes", &10)]).await;
    let mut queue = iago.register().events(&["invites_changed"]).await;
    clock.shift_wall_secs(7200);
    assert_eq!(queue.next().await["type"], "invites_changed");
    clock.shift_wall_secs(-7200);
    assert_eq!(open(&t, &link).await.0, 410);
    // An invitation made after the clock was corrected works.
    let link = create_link(&iago, &[("invite_expires_in_minutes", &10)]).await;
    assert_eq!(open(&t, &link).await.0, 200);
}
