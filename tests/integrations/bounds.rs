//! Hundreds of requests to services that accept connections and never reply: only a bounded number is in flight, the
//! rest waits in the outbox, and users can go on sending messages.

use super::mail::{ask, jobs};
use crate::api::bots::make;
use crate::support::phone::{Phone, service_url};
use crate::support::smtp::{SmtpBehavior, SmtpServer};
use crate::support::{Call, HttpStub, Params, StubReply, TestServer, TestUser};
use model::job::TaskKind;
use serde_json::json;

/// The limits of `actors::outbox::schedule`.
const KIND_IN_PROGRESS_MAX: usize = 16;
const DESTINATION_IN_PROGRESS_MAX: usize = 4;
const OWNER_IN_PROGRESS_MAX: usize = 6;

/// The limits of `actors::outbox::room`.
const UNREQUESTED_MAILS_MAX: usize = 5_000;
const OWNER_CALLS_MAX: usize = 1_000;

/// Invites this many people by mail.
fn invite(who: &TestUser, count: usize) -> Call {
    let addresses: Vec<String> = (0..count).map(|number| format!("new{number}@x.example")).collect();
    let none = json!([]);
    let params: Params<'_> = &[("invitee_emails", &addresses.join(",")), ("stream_ids", &none)];
    who.post("/invites", params)
}

fn waiting(t: &TestServer, kind: TaskKind) -> usize {
    t.waiting_jobs(kind)
}

/// A server whose outgoing webhooks may reach this machine and take 25 s.
async fn server_of_webhooks() -> TestServer {
    let plan = TestServer::builder().set("webhooks.private_addresses", true);
    plan.set("webhooks.request_secs_max", 25).start().await
}

/// Creates an outgoing webhook bot.
async fn outgoing(owner: &TestUser, name: &str, service: &HttpStub) -> TestUser {
    let url = json!(service.url());
    let params: Params<'_> = &[("bot_type", &3), ("payload_url", &url), ("interface_type", &1)];
    make(owner, name, params).await.0
}

/// One user sends, and another receives it.
async fn chat(sender: &TestUser, reader: &TestUser) {
    let channel = sender.create_channel("chat").with(reader).await;
    let mut queue = reader.register().events(&["message"]).await;
    for number in 0..50 {
        sender.send(&channel, "still here", &format!("number {number}")).await;
    }
    for number in 0..50 {
        assert_eq!(queue.next().await["message"]["content"], format!("number {number}"));
    }
}

#[tokio::test]
async fn hanging_mail_server_gets_at_most_four_connections() {
    let smtp = SmtpServer::on(0, SmtpBehavior::Hang).await;
    let t = TestServer::builder().mail(smtp.port()).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    invite(&iago, 300).ok().await;
    smtp.wait_for_connections(DESTINATION_IN_PROGRESS_MAX).await;
    chat(&iago, &hamlet).await;
    assert_eq!(t.realm().deliveries_in_progress(), DESTINATION_IN_PROGRESS_MAX);
    assert_eq!(smtp.connections(), DESTINATION_IN_PROGRESS_MAX);
    let (count, failed) = jobs(&t);
    assert!(count >= 300 && failed.is_empty(), "{count} {failed:?}");
}

#[tokio::test]
async fn invitations_do_not_delay_mail_that_a_person_waits_for() {
    let smtp = SmtpServer::on(0, SmtpBehavior::Hang).await;
    let t = TestServer::builder().mail(smtp.port()).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    invite(&iago, 300).ok().await;
    smtp.wait_for_connections(DESTINATION_IN_PROGRESS_MAX).await;
    ask(&hamlet, "new@elsinore.example").await;
    smtp.wait_for_connections(DESTINATION_IN_PROGRESS_MAX + 1).await;
    assert_eq!(t.realm().deliveries_in_progress(), DESTINATION_IN_PROGRESS_MAX + 1);
}

#[tokio::test]
async fn invitations_without_room_are_refused_and_leave_room_for_others() {
    let smtp = SmtpServer::on(0, SmtpBehavior::Hang).await;
    let t = TestServer::builder().mail(smtp.port()).set("invitations.daily_max", 0).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let known = || t.realm().directory().invitations().count();
    invite(&iago, UNREQUESTED_MAILS_MAX + 1).bad("Too many invitations at once (maximum 5000).").await;
    assert_eq!(known(), 0);
    invite(&iago, UNREQUESTED_MAILS_MAX - 10).ok().await;
    let full = || {
        let msg = "Too many emails of this organization are waiting to be sent, so no invitations were sent; try \
                   again later.";
        json!({"msg": msg, "code": "SERVER_OVERLOADED", "retry-after": 60.0})
    };
    invite(&iago, 11).refused(503, full()).await;
    assert_eq!(known(), UNREQUESTED_MAILS_MAX - 10, "none of them was made");
    invite(&iago, 10).ok().await;
    iago.post("/invites/1/resend", &[]).refused(503, full()).await;
    ask(&hamlet, "new@elsinore.example").await;
    smtp.wait_for_connections(DESTINATION_IN_PROGRESS_MAX + 1).await;
    assert!(waiting(&t, TaskKind::Mail) > UNREQUESTED_MAILS_MAX);
}

#[tokio::test]
async fn hanging_webhooks_get_at_most_sixteen_requests() {
    let t = server_of_webhooks().await;
    let owners = t.users(["iago", "hamlet", "othello", "cordelia"]);
    let [iago, hamlet, ..] = &owners;
    let mut service = HttpStub::start().await;
    service.reply_always(StubReply::Hang);
    let mut bots = Vec::new();
    for number in 0..8 {
        bots.push(outgoing(&owners[number % 4], &format!("asker{number}"), &service).await);
    }
    for number in 0..30 {
        for bot in &bots {
            hamlet.send_direct(&[bot], &format!("question {number}")).await;
        }
    }
    for _ in 0..KIND_IN_PROGRESS_MAX {
        service.next_request().await;
    }
    chat(iago, hamlet).await;
    assert_eq!(t.realm().deliveries_in_progress(), KIND_IN_PROGRESS_MAX);
    assert_eq!(service.take_received().len(), 0, "no further request was sent");
    assert_eq!(waiting(&t, TaskKind::Webhook), 240, "and nothing is lost");
}

#[tokio::test]
async fn slow_services_of_one_owner_do_not_delay_those_of_others() {
    let t = server_of_webhooks().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let (mut slow, mut fast) = (HttpStub::start().await, HttpStub::start().await);
    slow.reply_always(StubReply::Hang);
    let mut bots = Vec::new();
    for number in 0..10 {
        bots.push(outgoing(&hamlet, &format!("slow{number}"), &slow).await);
    }
    let all: Vec<&TestUser> = bots.iter().collect();
    for number in 0..=OWNER_CALLS_MAX / all.len() {
        hamlet.send_direct(&all, &format!("question {number}")).await;
    }
    for _ in 0..OWNER_IN_PROGRESS_MAX {
        slow.next_request().await;
    }
    assert_eq!(waiting(&t, TaskKind::Webhook), OWNER_CALLS_MAX, "further ones of this owner are dropped");
    let own = outgoing(&othello, "fast", &fast).await;
    hamlet.send_direct(&[&own], "a question").await;
    fast.next_request().await;
    assert_eq!(slow.take_received().len(), 0, "no further request was sent");
}

#[tokio::test]
async fn hanging_push_service_gets_at_most_four_requests() {
    let mut service = HttpStub::start().await;
    let t = TestServer::builder()
        .set("push.service_url", service_url(&service))
        .set("push.request_secs_max", 25)
        .start()
        .await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    Phone::new(1, "fcm").register(&hamlet, &mut service).await;
    t.wait_for_empty_push_outbox().await;
    service.reply_always(StubReply::Hang);
    for number in 0..300 {
        iago.send_direct(&[&hamlet], &format!("number {number}")).await;
    }
    for _ in 0..DESTINATION_IN_PROGRESS_MAX {
        service.next_request().await;
    }
    chat(&iago, &hamlet).await;
    assert_eq!(t.realm().deliveries_in_progress(), DESTINATION_IN_PROGRESS_MAX);
    assert_eq!(service.take_received().len(), 0, "no further request was sent");
    let waiting = waiting(&t, TaskKind::Push);
    assert!((DESTINATION_IN_PROGRESS_MAX..=350).contains(&waiting), "{waiting}");
}
