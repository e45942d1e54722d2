//! Mail in with STARTTLS.

use super::incoming::{address_of, newest, started, with_mail};
use crate::support::TestServer;
use crate::support::certificates::Authority;
use crate::support::mail_sender::MailSender;
use std::fs;

#[tokio::test]
async fn mail_is_received_after_starttls() {
    let (folder, authority) = (tempfile::tempdir().expect("a folder"), Authority::new());
    let [cert, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    let write = |(certificate, secret): (String, String)| {
        fs::write(&cert, certificate).expect("a file");
        fs::write(&key, secret).expect("a file");
    };
    write(authority.certificate("mail.acme.example"));
    let builder = with_mail(TestServer::builder());
    let builder = builder.set("mail.incoming.tls_cert_file", cert.display());
    let t = builder.set("mail.incoming.tls_key_file", key.display()).start().await;
    let hamlet = t.user("hamlet");
    let verona = hamlet.create_channel("Verona").await;
    let address = address_of(&hamlet, &verona, &[]).await;
    for text in ["first", "with a renewed certificate"] {
        let mut sender = MailSender::connect(t.mail_address()).await;
        assert!(sender.extensions("EHLO").await.contains(&"STARTTLS".to_owned()));
        let mut sender = sender.encrypt(&authority.connector(), "mail.acme.example").await;
        // What was said before TLS does not count.
        sender.say("MAIL FROM:<ada@acme.example>", "503").await;
        assert!(!sender.extensions("EHLO").await.contains(&"STARTTLS".to_owned()));
        sender.say("STARTTLS", "502").await;
        sender.mail(&address, &format!("Subject: a\n\n{text}\n"), "250").await;
        assert!(newest(&hamlet).await["content"].as_str().expect("a text").ends_with(text));
        write(authority.certificate("mail.acme.example"));
    }
    // Commands behind STARTTLS, which were not encrypted, are never carried out.
    let mut sender = MailSender::greet(t.mail_address(), "EHLO").await;
    sender.write("STARTTLS\r\nNOOP\r\n").await;
    sender.expect("554").await;
    assert_eq!(sender.reply().await, "");
    fs::write(&key, "no key").expect("a file");
    let mut sender = MailSender::greet(t.mail_address(), "LHLO").await;
    sender.say("STARTTLS", "454").await;
    sender.say("NOOP", "250").await;
}

#[tokio::test]
async fn starttls_without_certificate_is_not_offered() {
    let (_t, server) = started().await;
    let mut sender = MailSender::connect(server).await;
    assert!(!sender.extensions("EHLO").await.contains(&"STARTTLS".to_owned()));
    sender.say("STARTTLS", "502").await;
}
