//! Killed between what was promised and its delivery: it is delivered all the same.

use crate::support::ServerProcess;
use crate::support::server::assert_clean;
use crate::support::smtp::{Mood, SmtpServer};
use reqwest::Method;
use std::path::Path;

/// `millstream dev` with a mail server.
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
async fn mails_that_were_owed_are_sent_after_a_kill_and_those_sent_are_not_sent_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let smtp = SmtpServer::on(0, Mood::Hangs).await;
    let server = start(&data, smtp.port());
    let hamlet = server.user("hamlet").await;
    let ask = async |server: &ServerProcess, address: &str| {
        let hamlet = server.again(&hamlet);
        hamlet.call(Method::PATCH, "/settings", &[("email", &address)]).ok().await;
    };
    ask(&server, "first@elsinore.example").await;
    smtp.wait_for_connections(1).await;
    let log = server.log.clone();
    server.kill();
    assert!(smtp.received().is_empty());
    smtp.set(Mood::Takes);

    let server = start(&data, smtp.port());
    let mails = smtp.wait_for(1).await;
    assert_eq!(mails[0].to, "first@elsinore.example");
    // Once the next mail is there and the one after that is asked for, the first one's end has long been stored.
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
        let log = log.lock().expect("nobody panics while writing").clone();
        assert!(!log.contains("correct-horse-battery"), "a password in the log");
        assert!(!log.contains("/confirm_email/1"), "a key in the log");
    }
}

#[tokio::test]
async fn a_mail_whose_arrival_was_not_confirmed_comes_again_under_the_same_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let smtp = SmtpServer::on(0, Mood::Forgets).await;
    let server = start(&data, smtp.port());
    let hamlet = server.user("hamlet").await;
    hamlet.call(Method::PATCH, "/settings", &[("email", &"new@elsinore.example")]).ok().await;
    smtp.wait_for(1).await;
    server.kill();
    smtp.set(Mood::Takes);
    let server = start(&data, smtp.port());
    let mails = smtp.wait_for(2).await;
    assert_eq!(mails[0].header("message-id"), mails[1].header("message-id"));
    drop(server);
}

#[tokio::test]
async fn an_operator_sees_what_is_owed_and_what_was_given_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let smtp = SmtpServer::on(0, Mood::Refuses).await;
    let server = start(&data, smtp.port());
    let hamlet = server.user("hamlet").await;
    hamlet.call(Method::PATCH, "/settings", &[("email", &"nobody@elsinore.example")]).ok().await;
    smtp.wait_for_connections(1).await;
    // Until its end is in the metrics.
    loop {
        let metrics = server.stranger().get("/metrics", &[]).await.body.to_string();
        if metrics.contains("millstream_outbox_total") && metrics.contains("given_up") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    smtp.set(Mood::Busy);
    hamlet.call(Method::PATCH, "/settings", &[("email", &"later@elsinore.example")]).ok().await;
    server.terminate();
    assert!(server.wait().success());
    let (status, said) = ServerProcess::run(&["outbox", "--data", &data.display().to_string()]);
    assert!(status.success(), "{said}");
    let lines: Vec<&str> = said.lines().filter(|line| line.contains("new address")).collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(lines[0].contains("waiting") && lines[1].contains("given up"), "{said}");
    assert!(lines[1].contains("no such user"), "{said}");
}
