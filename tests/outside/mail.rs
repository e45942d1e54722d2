//! Mail servers that refuse, hang and disappear.

use crate::support::server::Plan;
use crate::support::smtp::{Mood, SmtpServer};
use crate::support::{PATIENCE, Person, TestServer};
use model::job::TaskKind;
use reqwest::Method;
use std::time::Instant;

async fn ask(person: &Person, address: &str) {
    person.call(Method::PATCH, "/settings", &[("email", &address)]).ok().await;
}

/// Jobs that wait, and those that were given up with the reason.
pub fn jobs(t: &TestServer) -> (usize, Vec<String>) {
    t.realm().read(|view| {
        let why = |job: &std::sync::Arc<model::job::Job>| job.failure.as_ref().unwrap().why.clone();
        (view.jobs.waiting_count(TaskKind::Mail), view.jobs.failed().map(why).collect())
    })
}

pub async fn until_jobs(t: &TestServer, is_so: impl Fn(usize, &[String]) -> bool) -> Vec<String> {
    let deadline = Instant::now() + PATIENCE * 2;
    loop {
        let (waiting, failed) = jobs(t);
        if is_so(waiting, &failed) {
            return failed;
        }
        assert!(Instant::now() < deadline, "{waiting} {failed:?}");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn what_is_refused_for_now_comes_later_and_once() {
    let smtp = SmtpServer::on(0, Mood::Busy).await;
    let t = TestServer::plan().mail(smtp.port()).start().await;
    let hamlet = t.user("hamlet");
    ask(&hamlet, "new@elsinore.example").await;
    smtp.wait_for_connections(2).await;
    assert!(smtp.received().is_empty() && jobs(&t) == (1, Vec::new()));
    smtp.set(Mood::Takes);
    let mails = smtp.wait_for(1).await;
    until_jobs(&t, |waiting, _| waiting == 0).await;
    assert_eq!(smtp.received().len(), mails.len());
    // What was confirmed is not sent again by the next server.
    let connections = smtp.connections();
    let folder = t.stop().await;
    let t = TestServer::plan().mail(smtp.port()).on(folder).start().await;
    ask(&t.user("hamlet"), "other@elsinore.example").await;
    let mails = smtp.wait_for(2).await;
    assert_eq!(mails[1].to, "other@elsinore.example");
    assert_eq!(smtp.connections(), connections + 1);
}

#[tokio::test]
async fn what_is_refused_for_ever_is_given_up_at_once_and_remembered() {
    let smtp = SmtpServer::on(0, Mood::Refuses).await;
    let t = TestServer::plan().mail(smtp.port()).start().await;
    ask(&t.user("hamlet"), "nobody@elsinore.example").await;
    let failed = until_jobs(&t, |_, failed| !failed.is_empty()).await;
    assert!(failed[0].contains("no such user"), "{failed:?}");
    let folder = t.stop().await;
    let t = TestServer::plan().mail(smtp.port()).on(folder).start().await;
    assert_eq!(jobs(&t), (0, failed));
}

#[tokio::test]
async fn what_fails_for_too_long_is_given_up() {
    let smtp = SmtpServer::on(0, Mood::Busy).await;
    let t = TestServer::plan().mail(smtp.port()).set("outbox.give_up_secs", 2).start().await;
    ask(&t.user("hamlet"), "new@elsinore.example").await;
    let failed = until_jobs(&t, |waiting, failed| waiting == 0 && !failed.is_empty()).await;
    assert!(failed[0].contains("try again later"), "{failed:?}");
    assert!(smtp.connections() > 1, "it was tried more than once");
}

#[tokio::test]
async fn a_wrong_password_is_for_the_operator_to_mend() {
    let smtp = SmtpServer::on(0, Mood::RefusesLogin).await;
    let secret = "correct-horse-battery";
    let with_login = |plan: Plan| plan.set("mail.user", "acme").set("mail.password", secret);
    let t = with_login(TestServer::plan().mail(smtp.port())).start().await;
    ask(&t.user("hamlet"), "new@elsinore.example").await;
    smtp.wait_for_connections(2).await;
    assert_eq!(jobs(&t), (1, Vec::new()), "it waits");
    smtp.set(Mood::Takes);
    smtp.wait_for(1).await;
}

#[tokio::test]
async fn a_server_that_says_nothing_or_is_gone_holds_nothing_up() {
    let smtp = SmtpServer::on(0, Mood::Hangs).await;
    let t = TestServer::plan().mail(smtp.port()).set("outbox.delivery_secs_max", 2).start().await;
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
    // To himself: nobody else is told of it by mail.
    iago.send_direct(&[&iago], "and still").await;
    assert_eq!(jobs(&t).0, 20, "nothing is lost");
    let smtp = SmtpServer::on(port, Mood::Takes).await;
    let mails = smtp.wait_for(20).await;
    let mut to: Vec<&str> = mails.iter().map(|mail| mail.to.as_str()).collect();
    to.sort_unstable();
    to.dedup();
    assert_eq!(to.len(), 20);
}
