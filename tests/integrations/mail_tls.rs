//! Mail servers with TLS or STARTTLS, and with certificates that must not be trusted.

use crate::support::TestServer;
use crate::support::certificates::Authority;
use crate::support::server::TestServerBuilder;
use crate::support::smtp::{Security, SmtpServer};
use model::job::TaskKind;
use reqwest::Method;
use std::io::Write;
use tempfile::NamedTempFile;

const SECRET: &str = "correct-horse-battery";

/// A server that sends its emails to `smtp`, with a password.
fn plan(smtp: &SmtpServer, security: &str) -> TestServerBuilder {
    TestServer::builder()
        .mail(smtp.port())
        .set("mail.security", security)
        .set("mail.user", "acme")
        .set("mail.password", SECRET)
}

/// Adds a trusted CA certificate.
fn trusting(plan: TestServerBuilder, authority: &Authority) -> (TestServerBuilder, NamedTempFile) {
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(authority.pem().as_bytes()).expect("a certificate");
    (plan.set("mail.ca_file", file.path().display()), file)
}

async fn ask(t: &TestServer) {
    t.user("hamlet").call(Method::PATCH, "/settings", &[("email", &"new@elsinore.example")]).ok().await;
}

/// The number of pending emails, and of those that failed for good.
fn jobs(t: &TestServer) -> (usize, usize) {
    (t.waiting_jobs(TaskKind::Mail), t.failed_jobs().len())
}

/// Asserts that after two attempts no email and no secret was sent, and that the email is still pending.
async fn assert_kept_back(t: &TestServer, smtp: &SmtpServer) {
    ask(t).await;
    smtp.wait_for_connections(2).await;
    assert!(smtp.received().is_empty(), "{:?}", smtp.received());
    let heard = smtp.plaintext_lines();
    let is_harmless = |line: &String| line.starts_with("EHLO") || line == "STARTTLS" || line == "QUIT";
    assert!(heard.iter().all(is_harmless), "{heard:?}");
    assert_eq!(jobs(t), (1, 0));
}

#[tokio::test]
async fn mail_over_tls_and_starttls() {
    let authority = Authority::new();
    let acceptor = || authority.acceptor("127.0.0.1");
    for (security, how) in [("tls", Security::Tls(acceptor())), ("starttls", Security::Starttls(acceptor()))]
    {
        let smtp = SmtpServer::with(how).await;
        let (plan, _file) = trusting(plan(&smtp, security), &authority);
        let t = plan.start().await;
        ask(&t).await;
        let mails = smtp.wait_for(1).await;
        assert_eq!(
            (mails[0].to.as_str(), mails[0].is_encrypted),
            ("new@elsinore.example", true),
            "{security}"
        );
        let heard = smtp.plaintext_lines();
        match security {
            "tls" => assert_eq!(heard, [] as [&str; 0]),
            _ => assert_eq!(heard.last().map(String::as_str), Some("STARTTLS"), "{heard:?}"),
        }
    }
}

#[tokio::test]
async fn mail_untrusted_certificate_is_refused() {
    let authority = Authority::new();
    let acceptor = || authority.acceptor("127.0.0.1");
    for (security, how) in [("tls", Security::Tls(acceptor())), ("starttls", Security::Starttls(acceptor()))]
    {
        let smtp = SmtpServer::with(how).await;
        let t = plan(&smtp, security).start().await;
        assert_kept_back(&t, &smtp).await;
        // Until the operator trusts the CA that signed its certificate.
        let folder = t.stop().await;
        let (plan, _file) = trusting(plan(&smtp, security), &authority);
        let t = plan.on(folder).start().await;
        assert!(smtp.wait_for(1).await[0].is_encrypted);
        drop(t);
    }
}

#[tokio::test]
async fn mail_tls_checks_authority_and_host_name() {
    let (authority, other) = (Authority::new(), Authority::new());
    for acceptor in [other.acceptor("127.0.0.1"), authority.acceptor("mail.elsinore.example")] {
        let smtp = SmtpServer::with(Security::Starttls(acceptor)).await;
        let (plan, _file) = trusting(plan(&smtp, "starttls"), &authority);
        assert_kept_back(&plan.start().await, &smtp).await;
    }
}

/// An attacker on the network can remove the STARTTLS offer.
#[tokio::test]
async fn mail_requires_tls_before_credentials() {
    let smtp = SmtpServer::with(Security::None).await;
    assert_kept_back(&plan(&smtp, "starttls").start().await, &smtp).await;
}
