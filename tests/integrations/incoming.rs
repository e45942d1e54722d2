//! Mail in: e-mails become messages, under the right name and with the right text, and nothing else gets through.

use crate::support::mail_sender::MailSender;
use crate::support::server::TestServerBuilder;
use crate::support::{Channel, Params, TestServer, TestUser};
use serde_json::{Value, json};
use std::net::SocketAddr;

pub(super) async fn started() -> (TestServer, SocketAddr) {
    let t = with_mail(TestServer::builder()).start().await;
    let address = t.mail_address();
    (t, address)
}

pub(super) fn with_mail(plan: TestServerBuilder) -> TestServerBuilder {
    plan.set("mail.incoming.listen", "127.0.0.1:0")
        .set("mail.incoming.address_pattern", "%s@mail.acme.example")
}

pub(super) async fn address_of(user: &TestUser, channel: &Channel, params: Params<'_>) -> String {
    let body = user.get(&format!("/streams/{}/email_address", channel.id), params).ok().await;
    body["email"].as_str().expect("an address").to_owned()
}

pub(super) async fn newest(user: &TestUser) -> Value {
    let params: Params<'_> =
        &[("anchor", &"newest"), ("num_before", &1), ("num_after", &0), ("apply_markdown", &false)];
    user.get("/messages", params).ok().await["messages"][0].clone()
}

#[tokio::test]
async fn mail_to_a_channel_is_posted() {
    let (t, server) = started().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let address = address_of(&hamlet, &verona, &[]).await;
    assert!(
        address.starts_with("verona.") && address.ends_with(".show-sender@mail.acme.example"),
        "{address}"
    );
    let mut sender = MailSender::greet(server, "EHLO").await;
    let mail = "From: Ada <ada@acme.example>\nSubject: Re: Lunch\n\nAt *noon*?\n.dot\n-- \nAda\n";
    sender.mail(&address.to_uppercase(), mail, "250").await;
    let message = newest(&iago).await;
    assert_eq!(message["sender_full_name"], "Email Gateway");
    assert_eq!(message["subject"], "Lunch");
    assert_eq!(message["content"], "From: Ada <ada@acme.example>\nAt *noon*?\n.dot");
    // Several e-mails in one connection, with other options.
    let plain = address.replace(".show-sender", ".include-footer");
    sender.mail(&plain, "Subject: \n\nx\n--\ny\n", "250").await;
    let message = newest(&iago).await;
    assert_eq!(
        (&message["subject"], &message["content"]),
        (&json!("Email with no subject"), &json!("x\n--\ny"))
    );
    sender.say("QUIT", "221").await;
}

#[tokio::test]
async fn mail_is_sent_as_the_chosen_user() {
    let (t, server) = started().await;
    let [hamlet, cordelia] = t.users(["hamlet", "cordelia"]);
    let verona = hamlet.create_channel("Verona").with(&cordelia).await;
    let own = address_of(&hamlet, &verona, &[("sender_id", &hamlet.id)]).await;
    let mut sender = MailSender::greet(server, "EHLO").await;
    sender.mail(&own, "Subject: a\n\nx\n", "250").await;
    assert_eq!(newest(&hamlet).await["sender_id"], hamlet.id);
    let path = format!("/streams/{}/email_address", verona.id);
    hamlet.get(&path, &[("sender_id", &cordelia.id)]).bad("No such bot").await;
    // A new API key ends the addresses that were made with the old one.
    hamlet.post("/users/me/api_key/regenerate", &[]).ok().await;
    sender.say("MAIL FROM:<ada@acme.example>", "250").await;
    sender.say(&format!("RCPT TO:<{own}>"), "550 5.1.1").await;
}

#[tokio::test]
async fn only_known_addresses_are_accepted() {
    let (t, server) = started().await;
    let [hamlet, cordelia] = t.users(["hamlet", "cordelia"]);
    let secret = hamlet.create_channel("secret").private().await;
    let open = cordelia.create_channel("open").await;
    cordelia.get(&format!("/streams/{}/email_address", secret.id), &[]).bad("Invalid channel ID").await;
    let address = address_of(&hamlet, &secret, &[]).await;
    let mut sender = MailSender::greet(server, "EHLO").await;
    sender.say("RCPT TO:<x@mail.acme.example>", "503").await;
    sender.say("MAIL FROM:<ada@acme.example>", "250").await;
    let moved = address.replace(&format!("-{}-", secret.id), &format!("-{}-", open.id));
    let forged = address.replacen(".show-sender", "0.show-sender", 1);
    for unknown in [
        "x@mail.acme.example",
        "someone@elsewhere.example",
        "hamlet@zulip.com",
        "mm1-1-1-00000000000000000000@mail.acme.example",
        moved.as_str(),
        forged.as_str(),
    ] {
        sender.say(&format!("RCPT TO:<{unknown}>"), "550 5.1.1 no such address").await;
    }
    sender.say("DATA", "503").await;
    sender.say(&format!("RCPT TO:<{address}>"), "250").await;
    // One recipient, so that one reply is the whole truth.
    sender.say(&format!("RCPT TO:<{address}>"), "452").await;
    sender.say("RSET", "250").await;
    sender.say("VRFY hamlet", "252").await;
    sender.say("EXPN staff", "502").await;
    // Without the right to post, the address is none.
    hamlet.delete(&format!("/streams/{}", secret.id), &[]).ok().await;
    sender.say("MAIL FROM:<ada@acme.example>", "250").await;
    sender.say(&format!("RCPT TO:<{address}>"), "550 5.1.1").await;
}

#[tokio::test]
async fn lmtp_answers_for_each_recipient() {
    let (t, server) = started().await;
    let hamlet = t.user("hamlet");
    let (one, two) = (hamlet.create_channel("one").await, hamlet.create_channel("two").await);
    let addresses = [address_of(&hamlet, &one, &[]).await, address_of(&hamlet, &two, &[]).await];
    let mut sender = MailSender::greet(server, "LHLO").await;
    sender.say("MAIL FROM:<ada@acme.example> SIZE=100", "250").await;
    for address in &addresses {
        sender.say(&format!("RCPT TO:<{address}>"), "250").await;
    }
    sender.say("DATA", "354").await;
    sender.data("Subject: both\n\nx\n").await;
    sender.expect("250").await;
    sender.expect("250").await;
    for channel in [&one, &two] {
        let narrow = json!([{"operator": "channel", "operand": channel.id}]);
        let params: Params<'_> =
            &[("anchor", &"newest"), ("num_before", &1), ("num_after", &0), ("narrow", &narrow)];
        let body = hamlet.get("/messages", params).ok().await;
        assert_eq!(body["messages"][0]["subject"], "both");
    }
}

#[tokio::test]
async fn automatic_mails_and_bounces_are_refused() {
    let (t, server) = started().await;
    let hamlet = t.user("hamlet");
    let verona = hamlet.create_channel("Verona").await;
    let address = address_of(&hamlet, &verona, &[]).await;
    let before = newest(&hamlet).await["id"].clone();
    let mut sender = MailSender::greet(server, "EHLO").await;
    for header in ["Auto-Submitted: auto-replied", "Auto-Submitted: auto-generated", "Precedence: bulk"] {
        sender.mail(&address, &format!("Subject: x\n{header}\n\nx\n"), "550 5.7.1").await;
    }
    sender.say("MAIL FROM:<>", "250").await;
    sender.say(&format!("RCPT TO:<{address}>"), "550 5.7.1").await;
    assert_eq!(newest(&hamlet).await["id"], before);
}

#[tokio::test]
async fn smuggled_and_oversized_mails_are_refused() {
    let t = with_mail(TestServer::builder()).set("mail.incoming.bytes_max", 65_536).start().await;
    let server = t.mail_address();
    let hamlet = t.user("hamlet");
    let verona = hamlet.create_channel("Verona").await;
    let address = address_of(&hamlet, &verona, &[]).await;
    let before = newest(&hamlet).await["id"].clone();
    for end in ["\n.\n", "\r\n.\n", "\n.\r\n", "\r.\r", "\r\n.\r"] {
        let mut sender = MailSender::greet(server, "EHLO").await;
        sender.say("MAIL FROM:<ada@acme.example>", "250").await;
        sender.say(&format!("RCPT TO:<{address}>"), "250").await;
        sender.say("DATA", "354").await;
        let smuggled =
            format!("MAIL FROM:<eve@acme.example>\r\nRCPT TO:<{address}>\r\nDATA\r\nSubject: eve\r\n\r\nx");
        sender.write(format!("Subject: x\r\n\r\nx{end}{smuggled}\r\n.\r\n")).await;
        sender.expect("554 5.6.0").await;
        sender.say("NOOP", "250").await;
    }
    let mut sender = MailSender::greet(server, "EHLO").await;
    sender.say("MAIL FROM:<ada@acme.example> SIZE=65537", "552").await;
    sender.mail(&address, &format!("Subject: x\n\n{}\n", "x".repeat(70_000)), "552 5.3.4").await;
    sender.mail(&address, "this is no e-mail", "550").await;
    // Data that comes with the command was meant for another server.
    sender.say("MAIL FROM:<ada@acme.example>", "250").await;
    sender.say(&format!("RCPT TO:<{address}>"), "250").await;
    sender.write("DATA\r\nSubject: x\r\n\r\nx\r\n.\r\n").await;
    sender.expect("554 5.5.0").await;
    assert_eq!(sender.reply().await, "");
    assert_eq!(newest(&hamlet).await["id"], before);
}

#[tokio::test]
async fn wrong_clients_disturb_nobody() {
    let (t, server) = started().await;
    let hamlet = t.user("hamlet");
    let verona = hamlet.create_channel("Verona").await;
    let address = address_of(&hamlet, &verona, &[]).await;
    // Silent connections, up to the bound; the next one is asked to come later.
    let mut silent = Vec::new();
    for _ in 0..60 {
        silent.push(MailSender::connect(server).await);
    }
    let endless = "A".repeat(5_000);
    for bytes in
        [endless.as_str(), "EHLO x\nQUIT\n", "\r\r\n", "\u{0}\u{1}\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"]
    {
        let mut sender = MailSender::connect(server).await;
        sender.write(bytes).await;
        assert!(sender.reply().await.starts_with('5'), "{bytes:?}");
    }
    let mut sender = MailSender::connect(server).await;
    for _ in 0..21 {
        sender.say("WHAT", "500").await;
    }
    sender.expect("421").await;
    MailSender::greet(server, "EHLO").await.mail(&address, "Subject: x\n\nstill here\n", "250").await;
    assert_eq!(newest(&hamlet).await["content"], "From: unknown\nstill here");
    for _ in 0..10 {
        silent.push(MailSender::connect_silently(server).await);
    }
    assert!(silent.pop().expect("a connection").reply().await.starts_with("421"));
    drop(silent);
}

#[tokio::test]
async fn the_gateway_has_the_rights_of_who_made_the_address() {
    let (t, server) = started().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let nobody = json!({"direct_members": [iago.id], "direct_subgroups": []});
    let news = iago.create_channel("news").with(&hamlet).set("can_send_message_group", nobody).await;
    let mut sender = MailSender::greet(server, "EHLO").await;
    let member = address_of(&hamlet, &news, &[]).await;
    sender.say("MAIL FROM:<ada@acme.example>", "250").await;
    sender.say(&format!("RCPT TO:<{member}>"), "550").await;
    sender.say("RSET", "250").await;
    sender.mail(&address_of(&iago, &news, &[]).await, "Subject: x\n\nx\n", "250").await;
    // In a channel with one topic, the subject is none.
    let one = hamlet.create_channel("one").set("topics_policy", json!("empty_topic_only")).await;
    sender.mail(&address_of(&hamlet, &one, &[]).await, "Subject: x\n\nx\n", "250").await;
    let params: Params<'_> =
        &[("anchor", &"newest"), ("num_before", &1), ("num_after", &0), ("allow_empty_topic_name", &true)];
    assert_eq!(hamlet.get("/messages", params).ok().await["messages"][0]["subject"], "");
}

#[tokio::test]
async fn mails_to_an_address_are_limited() {
    let plan = with_mail(TestServer::builder())
        .set("limits.enabled", "true")
        .set("limits.mails_by_address", "[[60, 3]]");
    let t = plan.start().await;
    let hamlet = t.user("hamlet");
    let verona = hamlet.create_channel("Verona").await;
    let address = address_of(&hamlet, &verona, &[]).await;
    let mut sender = MailSender::greet(t.mail_address(), "EHLO").await;
    for _ in 0..3 {
        sender.mail(&address, "Subject: x\n\nx\n", "250").await;
    }
    sender.say("MAIL FROM:<ada@acme.example>", "250").await;
    sender.say(&format!("RCPT TO:<{address}>"), "451 4.7.1").await;
}

#[tokio::test]
async fn without_a_listener_there_are_no_addresses() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let verona = hamlet.create_channel("Verona").await;
    assert_eq!(address_of(&hamlet, &verona, &[]).await, "");
}
