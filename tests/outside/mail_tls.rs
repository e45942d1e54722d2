//! Mail servers that speak TLS: at once, or when they are asked to; and those that are somebody else.

use crate::support::TestServer;
use crate::support::certificates::Authority;
use crate::support::server::Plan;
use crate::support::smtp::{Security, SmtpServer};
use model::job::TaskKind;
use reqwest::Method;
use std::io::Write;
use tempfile::NamedTempFile;

const SECRET: &str = "correct-horse-battery";

/// A server that hands its mails to `smtp`, with a password.
fn plan(smtp: &SmtpServer, security: &str) -> Plan {
    TestServer::plan()
        .mail(smtp.port())
        .set("mail.security", security)
        .set("mail.user", "acme")
        .set("mail.password", SECRET)
}

/// Trusts an authority.
fn trusting(plan: Plan, authority: &Authority) -> (Plan, NamedTempFile) {
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(authority.pem().as_bytes()).expect("a certificate");
    (plan.set("mail.ca_file", file.path().display()), file)
}

async fn ask(t: &TestServer) {
    t.user("hamlet").call(Method::PATCH, "/settings", &[("email", &"new@elsinore.example")]).ok().await;
}

/// How many mails wait, and how many were given up.
fn jobs(t: &TestServer) -> (usize, usize) {
    t.realm().read(|view| (view.jobs.waiting_count(TaskKind::Mail), view.jobs.failed().count()))
}

/// After two tries nothing has come, and nothing was said that others must not hear; the mail waits.
async fn assert_kept_back(t: &TestServer, smtp: &SmtpServer) {
    ask(t).await;
    smtp.wait_for_connections(2).await;
    assert!(smtp.received().is_empty(), "{:?}", smtp.received());
    let heard = smtp.in_the_clear();
    let is_harmless = |line: &String| line.starts_with("EHLO") || line == "STARTTLS" || line == "QUIT";
    assert!(heard.iter().all(is_harmless), "{heard:?}");
    assert_eq!(jobs(t), (1, 0));
}

#[tokio::test]
async fn mails_go_through_tls() {
    let authority = Authority::new();
    let acceptor = || authority.acceptor("127.0.0.1");
    for (security, how) in [("tls", Security::Tls(acceptor())), ("starttls", Security::Starttls(acceptor()))]
    {
        let smtp = SmtpServer::with(how).await;
        let (plan, _file) = trusting(plan(&smtp, security), &authority);
        let t = plan.start().await;
        ask(&t).await;
        let mails = smtp.wait_for(1).await;
        assert_eq!((mails[0].to.as_str(), mails[0].is_secret), ("new@elsinore.example", true), "{security}");
        let heard = smtp.in_the_clear();
        match security {
            "tls" => assert_eq!(heard, [] as [&str; 0]),
            _ => assert_eq!(heard.last().map(String::as_str), Some("STARTTLS"), "{heard:?}"),
        }
    }
}

#[tokio::test]
async fn servers_that_nobody_vouches_for_get_nothing() {
    let authority = Authority::new();
    let acceptor = || authority.acceptor("127.0.0.1");
    for (security, how) in [("tls", Security::Tls(acceptor())), ("starttls", Security::Starttls(acceptor()))]
    {
        let smtp = SmtpServer::with(how).await;
        let t = plan(&smtp, security).start().await;
        assert_kept_back(&t, &smtp).await;
        // Until whoever runs the server trusts who vouches for it.
        let folder = t.stop().await;
        let (plan, _file) = trusting(plan(&smtp, security), &authority);
        let t = plan.on(folder).start().await;
        assert!(smtp.wait_for(1).await[0].is_secret);
        drop(t);
    }
}

#[tokio::test]
async fn trust_is_for_one_authority_and_one_name() {
    let (authority, other) = (Authority::new(), Authority::new());
    for acceptor in [other.acceptor("127.0.0.1"), authority.acceptor("mail.elsinore.example")] {
        let smtp = SmtpServer::with(Security::Starttls(acceptor)).await;
        let (plan, _file) = trusting(plan(&smtp, "starttls"), &authority);
        assert_kept_back(&plan.start().await, &smtp).await;
    }
}

/// Somebody on the way may say that a server has no TLS.
#[tokio::test]
async fn without_tls_nothing_is_sent_that_should_be_secret() {
    let smtp = SmtpServer::with(Security::None).await;
    assert_kept_back(&plan(&smtp, "starttls").start().await, &smtp).await;
}
