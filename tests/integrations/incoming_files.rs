//! Mail in: attachments become uploaded files, and an e-mail that arrives again is posted once.

use super::incoming::{address_of, newest, started, with_mail};
use crate::support::mail_sender::MailSender;
use crate::support::{ServerProcess, TestServer, TestUser};
use serde_json::{Value, json};

/// An e-mail with a text and files, given by name, type and content.
fn mail(message_id: &str, files: &[(&str, &str, &str)]) -> String {
    let mut mail = format!(
        "From: Ada <ada@acme.example>\nSubject: Files\nMessage-ID: <{message_id}>\nMIME-Version: 1.0\n\
         Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\nHere.\n"
    );
    for (name, kind, content) in files {
        mail += &format!(
            "--x\nContent-Type: {kind}\nContent-Disposition: attachment; filename=\"{name}\"\n\n{content}\n"
        );
    }
    mail + "--x--\n"
}

async fn files_of(user: &TestUser) -> Vec<Value> {
    user.get("/attachments", &[]).ok().await["attachments"].as_array().expect("a list").clone()
}

async fn count(user: &TestUser) -> usize {
    user.message_ids(json!([["topic", "Files"]])).await.len()
}

#[tokio::test]
async fn attachments_become_files_of_the_sender() {
    let (t, server) = started().await;
    let [hamlet, cordelia, othello] = t.users(["hamlet", "cordelia", "othello"]);
    let secret = hamlet.create_channel("secret").private().with(&cordelia).await;
    let address = address_of(&hamlet, &secret, &[("sender_id", &hamlet.id)]).await;
    let address = address.replace(".show-sender", "");
    let mut sender = MailSender::greet(server, "EHLO").await;
    let files =
        [("plan [1].txt", "text/plain", "the plan"), ("page.html", "text/html", "<script>x</script>")];
    sender.mail(&address, &mail("a@acme.example", &files), "250").await;
    let owned = files_of(&hamlet).await;
    let path = |name: &str| {
        let file = owned.iter().find(|file| file["name"] == name).expect("a file");
        file["path_id"].as_str().expect("a path").to_owned()
    };
    let (plan, page) = (path("plan [1].txt"), path("page.html"));
    let message = newest(&hamlet).await;
    assert_eq!(
        message["content"],
        format!("Here.\n\n[plan 1.txt](/user_uploads/{plan})\n[page.html](/user_uploads/{page})")
    );
    assert!(owned.iter().all(|file| file["messages"][0]["id"] == message["id"]), "{owned:?}");
    // Those who read the message read its files, and no other user does.
    for (who, status) in [(&hamlet, 200), (&cordelia, 200), (&othello, 403)] {
        let url = format!("{}/user_uploads/{plan}", who.url);
        let answer =
            who.http.get(url).basic_auth(&who.email, Some(&who.key)).send().await.expect("an answer");
        assert_eq!(answer.status(), status);
        if status == 200 {
            assert_eq!(answer.text().await.expect("a text").trim_end(), "the plan");
        }
    }
}

#[tokio::test]
async fn attachments_without_room_are_named() {
    let builder = with_mail(TestServer::builder()).set("uploads.file_mib_max", 1).set("uploads.quota_mib", 1);
    let t = builder.start().await;
    let hamlet = t.user("hamlet");
    let verona = hamlet.create_channel("Verona").await;
    let address =
        address_of(&hamlet, &verona, &[("sender_id", &hamlet.id)]).await.replace(".show-sender", "");
    let mut sender = MailSender::greet(t.mail_address(), "EHLO").await;
    let line = "x".repeat(70) + "\n";
    let (large, half) = (line.repeat(16_000), line.repeat(9_000));
    let files = [
        ("large.txt", "text/plain", &*large),
        ("one.txt", "text/plain", &half),
        ("two.txt", "text/plain", &half),
    ];
    sender.mail(&address, &mail("a@acme.example", &files), "250").await;
    let content = newest(&hamlet).await["content"].as_str().expect("a text").to_owned();
    assert!(
        content.contains(
            "(attachment left out: `large.txt`. File is larger than this server's configured maximum upload size (1 MiB).)"
        ),
        "{content}"
    );
    assert!(content.contains("\n[one.txt](/user_uploads/"), "{content}");
    assert!(
        content.contains(
            "\n(attachment left out: `two.txt`. Upload would exceed your organization's upload quota.)"
        ),
        "{content}"
    );
    assert_eq!(files_of(&hamlet).await.len(), 1);
    let names: Vec<String> = (0..25).map(|number| format!("{number}.txt")).collect();
    let many: Vec<(&str, &str, &str)> = names.iter().map(|name| (name.as_str(), "text/plain", "")).collect();
    sender.mail(&address, &mail("one-more@acme.example", &many[..21]), "250").await;
    let content = newest(&hamlet).await["content"].as_str().expect("a text").to_owned();
    assert!(content.ends_with("\n(1 more attachment left out)"), "{content}");
    sender.mail(&address, &mail("b@acme.example", &many), "250").await;
    let content = newest(&hamlet).await["content"].as_str().expect("a text").to_owned();
    assert!(content.ends_with("\n(5 more attachments left out)"), "{content}");
}

#[tokio::test]
async fn refused_mail_leaves_no_files() {
    let (t, server) = started().await;
    let hamlet = t.user("hamlet");
    let verona = hamlet.create_channel("Verona").await;
    let address = address_of(&hamlet, &verona, &[("sender_id", &hamlet.id)]).await;
    let mut sender = MailSender::greet(server, "EHLO").await;
    let file = [("a.txt", "text/plain", "x")];
    let automatic = format!("Auto-Submitted: auto-replied\n{}", mail("a@acme.example", &file));
    sender.mail(&address, &automatic, "550").await;
    assert_eq!((files_of(&hamlet).await.len(), count(&hamlet).await), (0, 0));
}

/// So that an operator can find out why an e-mail came back.
#[tokio::test]
async fn refused_mail_is_in_the_log() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
    let listen = free.expect("a port");
    let settings = [
        ("MILLSTREAM_LOG_FILTER", "info"),
        ("MILLSTREAM_MAIL_INCOMING_LISTEN", &*listen.to_string()),
        ("MILLSTREAM_MAIL_INCOMING_ADDRESS_PATTERN", "%s@mail.acme.example"),
    ];
    let server = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0"], &settings);
    let mut sender = MailSender::greet(listen, "EHLO").await;
    sender.say("MAIL FROM:<ada@acme.example>", "250").await;
    sender.say("RCPT TO:<unknown-word@mail.acme.example>", "550").await;
    server.wait_for_log("an e-mail was refused");
    let log = server.log.lock().expect("the lock").clone();
    let line = log.lines().find(|line| line.contains("an e-mail was refused")).expect("the line");
    assert!(line.contains("ada@acme.example") && line.contains("550 5.1.1 no such address"), "{line}");
    assert!(!line.contains("unknown-word"), "addresses are secrets: {line}");
}

#[tokio::test]
async fn repeated_mail_is_posted_once() {
    let (t, server) = started().await;
    let [hamlet, cordelia] = t.users(["hamlet", "cordelia"]);
    let verona = hamlet.create_channel("Verona").with(&cordelia).await;
    let other = hamlet.create_channel("Rome").await;
    let address = address_of(&hamlet, &verona, &[("sender_id", &hamlet.id)]).await;
    let in_rome = address_of(&hamlet, &other, &[("sender_id", &hamlet.id)]).await;
    let file = [("a.txt", "text/plain", "x")];
    let mut sender = MailSender::greet(server, "EHLO").await;
    for _ in 0..3 {
        sender.mail(&address, &mail("a@acme.example", &file), "250").await;
    }
    assert_eq!((files_of(&hamlet).await.len(), count(&hamlet).await), (1, 1));
    // Another e-mail, one without an id, and the same one to another channel.
    sender.mail(&address, &mail("b@acme.example", &[]), "250").await;
    sender.mail(&in_rome, &mail("a@acme.example", &[]), "250").await;
    for _ in 0..2 {
        sender.mail(&address, "Subject: Files\n\nx\n", "250").await;
    }
    assert_eq!(count(&hamlet).await, 5);
}
