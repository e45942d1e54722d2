//! The server is killed between the commit of a change and the delivery of its email: the email is delivered later.

use crate::support::server::assert_clean;
use crate::support::smtp::{SmtpBehavior, SmtpServer};
use crate::support::{ServerProcess, TestServer, poll_for};
use actors::ManualClock;
use model::Timestamp;
use reqwest::Method;
use std::path::Path;

/// Starts `millstream dev` with a mail server.
pub fn start(data: &Path, port: u16) -> ServerProcess {
    let data = data.display().to_string();
    let port = port.to_string();
    ServerProcess::start(
        &["dev", "--listen", "127.0.0.1:0", "--data", &data],
        &[
            ("MILLSTREAM_MAIL_HOST", "127.0.0.1"),
            ("MILLSTREAM_MAIL_PORT", &port),
            ("MILLSTREAM_MAIL_SECURITY", "none"),
            ("MILLSTREAM_MAIL_USER", "acme"),
            ("MILLSTREAM_MAIL_PASSWORD", "correct-horse-battery"),
            ("MILLSTREAM_MAIL_FROM", "chat@acme.example"),
            ("MILLSTREAM_LOG_FILTER", "trace"),
        ],
    )
}

#[tokio::test]
async fn outbox_mails_after_kill_are_sent_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let smtp = SmtpServer::on(0, SmtpBehavior::Hang).await;
    let server = start(&data, smtp.port());
    let hamlet = server.user("hamlet").await;
    let ask = async |server: &ServerProcess, address: &str| {
        let hamlet = server.reconnect(&hamlet);
        hamlet.call(Method::PATCH, "/settings", &[("email", &address)]).ok().await;
    };
    ask(&server, "first@elsinore.example").await;
    smtp.wait_for_connections(1).await;
    let log = server.log.clone();
    server.kill();
    assert!(smtp.received().is_empty());
    smtp.set(SmtpBehavior::Accept);

    let server = start(&data, smtp.port());
    let mails = smtp.wait_for(1).await;
    assert_eq!(mails[0].to, "first@elsinore.example");
    // Once the second email was delivered and the third was requested, the delivery of the first is stored.
    ask(&server, "second@elsinore.example").await;
    smtp.wait_for(2).await;
    server.terminate();
    assert!(server.wait().success());
    assert_clean(&data);

    let server = start(&data, smtp.port());
    ask(&server, "third@elsinore.example").await;
    let mails = smtp.wait_for(3).await;
    let to: Vec<&str> = mails.iter().map(|mail| mail.to.as_str()).collect();
    assert_eq!(to, ["first@elsinore.example", "second@elsinore.example", "third@elsinore.example"]);
    for log in [log, server.log.clone()] {
        let log = log.lock().expect("the lock").clone();
        assert!(!log.contains("correct-horse-battery"), "a password in the log");
        assert!(!log.contains("/confirm_email/1"), "a key in the log");
    }
}

#[tokio::test]
async fn outbox_unconfirmed_mail_is_resent_with_same_message_id() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let smtp = SmtpServer::on(0, SmtpBehavior::DropAfterData).await;
    let server = start(&data, smtp.port());
    let hamlet = server.user("hamlet").await;
    hamlet.call(Method::PATCH, "/settings", &[("email", &"new@elsinore.example")]).ok().await;
    smtp.wait_for(1).await;
    server.kill();
    smtp.set(SmtpBehavior::Accept);
    let server = start(&data, smtp.port());
    let mails = smtp.wait_for(2).await;
    assert_eq!(mails[0].header("message-id"), mails[1].header("message-id"));
    drop(server);
}

#[tokio::test]
async fn outbox_command_lists_pending_and_failed() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let smtp = SmtpServer::on(0, SmtpBehavior::Reject).await;
    let server = start(&data, smtp.port());
    let hamlet = server.user("hamlet").await;
    hamlet.call(Method::PATCH, "/settings", &[("email", &"nobody@elsinore.example")]).ok().await;
    smtp.wait_for_connections(1).await;
    poll_for("the failure is in the metrics", || async {
        let metrics = server.anonymous().get("/metrics", &[]).await.body.to_string();
        (metrics.contains("millstream_outbox_total") && metrics.contains("given_up")).then_some(())
    })
    .await;
    smtp.set(SmtpBehavior::TryLater);
    hamlet.call(Method::PATCH, "/settings", &[("email", &"later@elsinore.example")]).ok().await;
    server.terminate();
    assert!(server.wait().success());
    let (status, said) = ServerProcess::run(&["outbox", "--data", &data.display().to_string()]);
    assert!(status.success(), "{said}");
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("new address")).collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(lines[0].contains("waiting") && lines[1].contains("given up"), "{said}");
    assert!(lines[1].contains("no such user"), "{said}");
    assert!(
        lines[0].contains("later@elsinore.example") && lines[1].contains("nobody@elsinore.example"),
        "{said}"
    );
    assert!(lines[0].contains("no server runs that is configured to deliver it"), "{said}");
}

/// A hanging delivery does not delay the shutdown: it is aborted, and repeated after the next start.
#[tokio::test]
async fn outbox_hanging_mail_is_sent_after_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let smtp = SmtpServer::on(0, SmtpBehavior::Hang).await;
    let server = start(&data, smtp.port());
    let hamlet = server.user("hamlet").await;
    hamlet.call(Method::PATCH, "/settings", &[("email", &"new@elsinore.example")]).ok().await;
    smtp.wait_for_connections(1).await;
    server.terminate();
    assert!(server.wait().success());
    assert!(smtp.received().is_empty(), "it is given up, not waited for");
    assert_clean(&data);
    smtp.set(SmtpBehavior::Accept);
    let _server = start(&data, smtp.port());
    assert_eq!(smtp.wait_for(1).await[0].to, "new@elsinore.example");
}

#[tokio::test]
async fn mail_of_a_clock_that_was_ahead_is_sent_after_a_restart() {
    let clock = ManualClock::new(Timestamp(2_050_000_000_000));
    let smtp = SmtpServer::on(0, SmtpBehavior::TryLater).await;
    let builder = || TestServer::builder().clock(&clock).mail(smtp.port());
    let t = builder().start().await;
    t.user("hamlet").call(Method::PATCH, "/settings", &[("email", &"new@elsinore.example")]).ok().await;
    smtp.wait_for_connections(1).await;
    let folder = t.stop().await;
    assert!(smtp.received().is_empty());
    smtp.set(SmtpBehavior::Accept);
    clock.shift_wall_secs(-3000 * 24 * 3600);
    let _t = builder().on(folder).start().await;
    assert_eq!(smtp.wait_for(1).await[0].to, "new@elsinore.example");
}
