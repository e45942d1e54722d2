//! Mail servers that reject, hang or are down.

use crate::support::server::TestServerBuilder;
use crate::support::smtp::{SmtpBehavior, SmtpServer};
use crate::support::{TestServer, TestUser, poll_for, wait_until};
use actors::ManualClock;
use model::job::TaskKind;
use reqwest::Method;
use serde_json::json;

/// Asks for another address, which is confirmed by mail.
pub async fn ask(person: &TestUser, address: &str) {
    person.call(Method::PATCH, "/settings", &[("email", &address)]).ok().await;
}

/// The number of pending mail jobs, and the reasons of those that failed for good.
pub fn jobs(t: &TestServer) -> (usize, Vec<String>) {
    let why = |job: &std::sync::Arc<model::job::Job>| job.failure.as_ref().unwrap().why.clone();
    (t.waiting_jobs(TaskKind::Mail), t.failed_jobs().iter().map(why).collect())
}

/// Waits until the mail jobs meet a condition; returns the reasons of those that failed for good.
pub async fn until_jobs(t: &TestServer, is_so: impl Fn(usize, &[String]) -> bool) -> Vec<String> {
    poll_for("the mail jobs change", || async {
        let (pending, failed) = jobs(t);
        is_so(pending, &failed).then_some(failed)
    })
    .await
}

#[tokio::test]
async fn mail_temporary_failure_is_retried_once_delivered() {
    let smtp = SmtpServer::on(0, SmtpBehavior::TryLater).await;
    let t = TestServer::builder().mail(smtp.port()).start().await;
    let hamlet = t.user("hamlet");
    ask(&hamlet, "new@elsinore.example").await;
    smtp.wait_for_connections(2).await;
    assert!(smtp.received().is_empty() && jobs(&t) == (1, Vec::new()));
    smtp.set(SmtpBehavior::Accept);
    let mails = smtp.wait_for(1).await;
    until_jobs(&t, |waiting, _| waiting == 0).await;
    assert_eq!(smtp.received().len(), mails.len());
    // After a restart, delivered emails are not sent again.
    let connections = smtp.connections();
    let folder = t.stop().await;
    let t = TestServer::builder().mail(smtp.port()).on(folder).start().await;
    ask(&t.user("hamlet"), "other@elsinore.example").await;
    let mails = smtp.wait_for(2).await;
    assert_eq!(mails[1].to, "other@elsinore.example");
    assert_eq!(smtp.connections(), connections + 1);
}

#[tokio::test]
async fn mail_permanent_failure_is_dropped_and_recorded() {
    let smtp = SmtpServer::on(0, SmtpBehavior::Reject).await;
    let t = TestServer::builder().mail(smtp.port()).start().await;
    ask(&t.user("hamlet"), "nobody@elsinore.example").await;
    let failed = until_jobs(&t, |_, failed| !failed.is_empty()).await;
    assert!(failed[0].contains("no such user"), "{failed:?}");
    let folder = t.stop().await;
    let t = TestServer::builder().mail(smtp.port()).on(folder).start().await;
    assert_eq!(jobs(&t), (0, failed));
}

#[tokio::test]
async fn mail_dropped_after_retry_period() {
    let smtp = SmtpServer::on(0, SmtpBehavior::TryLater).await;
    let t = TestServer::builder().mail(smtp.port()).set("outbox.give_up_secs", 2).start().await;
    ask(&t.user("hamlet"), "new@elsinore.example").await;
    let failed = until_jobs(&t, |waiting, failed| waiting == 0 && !failed.is_empty()).await;
    assert!(failed[0].contains("try again later"), "{failed:?}");
    assert!(smtp.connections() > 1, "it was tried more than once");
}

#[tokio::test]
async fn mail_wrong_credentials_keep_mail_pending() {
    let smtp = SmtpServer::on(0, SmtpBehavior::RejectLogin).await;
    let secret = "correct-horse-battery";
    let with_login = |plan: TestServerBuilder| plan.set("mail.user", "acme").set("mail.password", secret);
    let t = with_login(TestServer::builder().mail(smtp.port())).start().await;
    ask(&t.user("hamlet"), "new@elsinore.example").await;
    smtp.wait_for_connections(2).await;
    assert_eq!(jobs(&t), (1, Vec::new()), "it waits");
    smtp.set(SmtpBehavior::Accept);
    smtp.wait_for(1).await;
}

#[tokio::test]
async fn mail_server_hanging_or_down_blocks_nothing() {
    let smtp = SmtpServer::on(0, SmtpBehavior::Hang).await;
    let t = TestServer::builder()
        .mail(smtp.port())
        .set("outbox.delivery_secs_max", 2)
        .set("webhooks.request_secs_max", 1)
        .start()
        .await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    for number in 0..20 {
        ask(&hamlet, &format!("new{number}@elsinore.example")).await;
    }
    smtp.wait_for_connections(1).await;
    let verona = iago.create_channel("Verona").await;
    for number in 0..20 {
        iago.send(&verona, "mails", &format!("still here {number}")).await;
    }
    let port = smtp.port();
    drop(smtp);
    // To the user's own address, so only this email is sent.
    iago.send_direct(&[&iago], "and still").await;
    assert_eq!(jobs(&t).0, 20, "nothing is lost");
    let smtp = SmtpServer::on(port, SmtpBehavior::Accept).await;
    let mails = smtp.wait_for(20).await;
    let mut to: Vec<&str> = mails.iter().map(|mail| mail.to.as_str()).collect();
    to.sort_unstable();
    to.dedup();
    assert_eq!(to.len(), 20);
}

#[tokio::test]
async fn mail_does_not_name_hidden_senders() {
    let (clock, smtp) = (ManualClock::new(model::Timestamp(1_760_000_000_000)), SmtpServer::start().await);
    let t = TestServer::builder().clock(&clock).mail(smtp.port()).start().await;
    let [desdemona, iago, polonius] = t.users(["desdemona", "iago", "polonius"]);
    let members = t.realm().directory().group_by_name("role:members").expect("a group").id.0;
    desdemona.patch("/realm", &[("can_access_all_users_group", &json!({"new": members}))]).ok().await;
    let verona = desdemona.create_channel("Verona").with(&polonius).await;
    let mention = format!("@**{}** hello", polonius.full_name);
    iago.send(&verona, "lunch", &mention).await;
    wait_until("the e-mail is pending", || t.realm().directory().pending_mails().count() > 0).await;
    clock.advance_secs(121);
    let mail = smtp.wait_for(1).await.remove(0);
    assert_eq!(mail.to, polonius.email);
    let text = mail.text();
    assert!(text.contains("Unknown user") && !text.contains(&iago.full_name), "{text}");
}
