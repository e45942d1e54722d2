//! Replies to missed-message e-mails are posted into the conversation, as the user who was mailed.

use crate::support::mail_sender::MailSender;
use crate::support::smtp::SmtpServer;
use crate::support::{TestServer, wait_until};
use actors::ManualClock;
use serde_json::json;

#[tokio::test]
async fn replies_are_posted_into_the_conversation() {
    let (clock, smtp) = (ManualClock::new(model::Timestamp(1_760_000_000_000)), SmtpServer::start().await);
    let plan = TestServer::builder().clock(&clock).mail(smtp.port());
    let plan = plan
        .set("mail.incoming.listen", "127.0.0.1:0")
        .set("mail.incoming.address_pattern", "in+%s@mail.acme.example");
    let t = plan.start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let verona = iago.create_channel("Verona").private().with(&hamlet).await;
    iago.send(&verona, "lunch", "@**King Hamlet** are you hungry?").await;
    iago.send_direct(&[&hamlet, &cordelia], "and you two?").await;
    wait_until("the e-mails are pending", || t.realm().directory().pending_mails().count() >= 2).await;
    clock.advance_secs(121);
    let mails = smtp.wait_for(3).await;
    let reply_to = |subject: &str| {
        let is_it = |mail: &&crate::support::smtp::Received| {
            mail.to == hamlet.email && mail.header("Subject").contains(subject)
        };
        let mail = mails.iter().find(is_it).expect("the e-mail");
        assert!(mail.text().contains("Replies to this email are posted"), "{}", mail.text());
        mail.header("Reply-To")
    };
    let (topic, direct) = (reply_to("lunch"), reply_to("Group DMs"));
    assert!(topic.starts_with("in+mm") && topic.ends_with("@mail.acme.example"), "{topic}");
    let mut sender = MailSender::greet(t.mail_address(), "EHLO").await;
    let quoted =
        "Subject: Re: #Verona > lunch\n\nVery.\n\nOn Monday, Acme wrote:\n> are you hungry?\n> really\n";
    sender.mail(&topic, quoted, "250").await;
    let message =
        iago.messages(json!([{"operator": "channel", "operand": verona.id}])).await.pop().expect("a message");
    assert_eq!((&message["sender_id"], &message["subject"]), (&json!(hamlet.id), &json!("lunch")));
    assert_eq!(message["content"], "<p>Very.</p>");
    sender.mail(&direct, "Subject: x\n\nYes.\n", "250").await;
    let message =
        cordelia.messages(json!([{"operator": "is", "operand": "dm"}])).await.pop().expect("a message");
    assert_eq!((&message["sender_id"], &message["content"]), (&json!(hamlet.id), &json!("<p>Yes.</p>")));
    assert_eq!(message["display_recipient"].as_array().expect("people").len(), 3);
    // Who can no longer read the message cannot answer it.
    hamlet.delete("/users/me/subscriptions", &[("subscriptions", &json!(["Verona"]))]).ok().await;
    sender.say("MAIL FROM:<hamlet@zulip.com>", "250").await;
    sender.say(&format!("RCPT TO:<{topic}>"), "550 5.1.1").await;
    sender.say(&format!("RCPT TO:<{}>", direct.replace("mm1-", "mm2-")), "550 5.1.1").await;
}
