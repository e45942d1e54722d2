//! Missed-message emails.

use crate::support::smtp::{Received, SmtpServer};
use crate::support::{TestServer, TestUser, wait_until};
use actors::ManualClock;

const PERIOD: u64 = 121;

struct Scene {
    t: TestServer,
    clock: ManualClock,
    smtp: SmtpServer,
}

impl Scene {
    async fn start() -> Self {
        let (clock, smtp) =
            (ManualClock::new(model::Timestamp(1_760_000_000_000)), SmtpServer::start().await);
        let t = TestServer::builder().clock(&clock).mail(smtp.port()).start().await;
        Self { t, clock, smtp }
    }

    /// Waits until missed-message emails are pending for `users` users, so that all messages sent before are processed.
    async fn prepared(&self, users: usize) {
        let pending = || self.t.realm().directory().pending_mails().count();
        wait_until("the missed-message emails are pending", || pending() >= users).await;
        assert_eq!(pending(), users);
    }

    /// Waits until `count` mails were delivered; returns recipient, subject and text, sorted.
    async fn mails(&self, count: usize) -> Vec<(String, String, String)> {
        let all: Vec<Received> = self.smtp.wait_for(count).await;
        let mut mails: Vec<_> =
            all.iter().map(|mail| (mail.to.clone(), mail.header("Subject"), mail.text())).collect();
        mails.sort();
        mails
    }
}

async fn set(person: &TestUser, name: &str, value: &str) {
    person.patch("/settings", &[(name, &value)]).ok().await;
}

#[tokio::test]
async fn missed_message_email_per_conversation() {
    let s = Scene::start().await;
    let [iago, hamlet, othello] = s.t.users(["iago", "hamlet", "othello"]);
    let channel = iago.create_channel("Verona").await;
    hamlet.subscribe(&channel).await;
    iago.send_direct(&[&hamlet], "first & foremost").await;
    iago.send_direct(&[&hamlet], "second").await;
    iago.send(&channel, "lunch", "@**King Hamlet** are you hungry?").await;
    let read = othello.send_direct(&[&hamlet], "read in time").await;
    s.prepared(1).await;
    hamlet.flag("add", "read", &[read]).await;
    assert!(s.smtp.received().is_empty());
    s.clock.advance_secs(PERIOD);
    let mails = s.mails(2).await;
    let subjects: Vec<&str> = mails.iter().map(|(_, subject, _)| subject.as_str()).collect();
    assert_eq!(subjects, ["#Verona > lunch", "DMs with Iago"]);
    assert!(mails.iter().all(|(to, ..)| *to == hamlet.email), "{mails:?}");
    assert!(mails[0].2.contains("Iago:\n@King Hamlet are you hungry?"), "{}", mails[0].2);
    assert!(mails[1].2.contains("first & foremost") && mails[1].2.contains("second"), "{}", mails[1].2);
    assert!(!mails.iter().any(|(.., text)| text.contains("read in time")), "{mails:?}");
    // The next message starts another delay.
    iago.send_direct(&[&hamlet], "third").await;
    s.prepared(1).await;
    s.clock.advance_secs(PERIOD);
    let mails = s.mails(3).await;
    let news: Vec<_> = mails.iter().filter(|(.., text)| text.contains("third")).collect();
    assert_eq!(news.len(), 1);
    assert!(!news[0].2.contains("second"), "{}", news[0].2);
}

#[tokio::test]
async fn missed_message_email_not_sent_to_active_or_opted_out_users() {
    let s = Scene::start().await;
    let [iago, hamlet, othello, zoe] = s.t.users(["iago", "hamlet", "othello", "ZOE"]);
    hamlet.post("/users/me/presence", &[("status", &"active")]).ok().await;
    set(&othello, "enable_offline_email_notifications", "false").await;
    iago.send_direct(&[&hamlet, &othello, &zoe], "all of you").await;
    s.prepared(1).await;
    s.clock.advance_secs(PERIOD);
    let mails = s.mails(1).await;
    assert_eq!(mails[0].0, zoe.email);
    assert!(mails[0].1.starts_with("Group DMs with "), "{}", mails[0].1);
}

#[tokio::test]
async fn missed_message_email_omits_content_by_setting() {
    let s = Scene::start().await;
    let [desdemona, iago, hamlet, othello] = s.t.users(["desdemona", "iago", "hamlet", "othello"]);
    set(&hamlet, "message_content_in_email_notifications", "false").await;
    iago.send_direct(&[&hamlet], "a secret").await;
    s.prepared(1).await;
    s.clock.advance_secs(PERIOD);
    let mails = s.mails(1).await;
    assert_eq!(mails[0].1, "New messages");
    assert!(!mails[0].2.contains("secret") && !mails[0].2.contains("Iago"), "{}", mails[0].2);
    desdemona.patch("/realm", &[("message_content_allowed_in_email_notifications", &"false")]).ok().await;
    iago.send_direct(&[&othello], "another secret").await;
    s.prepared(1).await;
    s.clock.advance_secs(PERIOD);
    let mails = s.mails(2).await;
    assert!(mails.iter().all(|(.., text)| !text.contains("secret")), "{mails:?}");
    assert!(mails[1].2.contains("your organization does not allow it"), "{}", mails[1].2);
}

#[tokio::test]
async fn missed_message_email_delay_setting_survives_restart() {
    let Scene { t, clock, smtp } = Scene::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    set(&hamlet, "email_notifications_batching_period_seconds", "3600").await;
    iago.send_direct(&[&hamlet], "later").await;
    let s = Scene { t, clock, smtp };
    s.prepared(1).await;
    let Scene { t, clock, smtp } = s;
    clock.advance_secs(3000);
    let folder = t.stop().await;
    assert!(smtp.received().is_empty());
    let _t = TestServer::builder().on(folder).clock(&clock).mail(smtp.port()).start().await;
    clock.advance_secs(601);
    let mails = smtp.wait_for(1).await;
    assert!(mails[0].text().contains("later"));
}

/// Unread messages that notify of nothing are not examined.
#[tokio::test]
async fn missed_message_email_includes_only_notifiable_messages() {
    let s = Scene::start().await;
    let [iago, hamlet, othello] = s.t.users(["iago", "hamlet", "othello"]);
    let channel = iago.create_channel("Verona").with(&hamlet).with(&othello).await;
    for number in 0..20 {
        iago.send(&channel, "lunch", &number.to_string()).await;
    }
    // Once an email to another user is pending, all messages before it were processed.
    iago.send_direct(&[&othello], "for another user").await;
    s.prepared(1).await;
    let mention = iago.send(&channel, "lunch", "@**King Hamlet** are you hungry?").await;
    // A mention makes the user follow its topic, and no other topic.
    iago.send(&channel, "supper", "later").await;
    let direct = iago.send_direct(&[&hamlet], "are you?").await;
    s.prepared(2).await;
    let kept = || {
        let directory = s.t.realm().directory();
        let pending = directory.pending_mail(model::UserId(hamlet.id));
        pending.map(|mail| mail.messages.iter().map(|id| u64::from(id.0)).collect::<Vec<_>>())
    };
    wait_until("both messages are pending", || kept().is_none_or(|kept| kept.len() >= 2)).await;
    assert_eq!(kept(), Some(vec![mention, direct]));
    s.clock.advance_secs(PERIOD);
    assert_eq!(s.mails(3).await.len(), 3);
    assert_eq!(kept(), None);
}

#[tokio::test]
async fn missed_message_email_includes_messages_sent_while_reader_was_active() {
    let s = Scene::start().await;
    let [iago, hamlet] = s.t.users(["iago", "hamlet"]);
    iago.send_direct(&[&hamlet], "while you were away").await;
    s.prepared(1).await;
    hamlet.post("/users/me/presence", &[("status", &"active")]).ok().await;
    iago.send_direct(&[&hamlet], "while you were here").await;
    let is_kept = || {
        let pending = s.t.realm().directory().pending_mail(model::UserId(hamlet.id));
        pending.is_some_and(|mail| mail.messages.len() == 2)
    };
    wait_until("both messages are pending", is_kept).await;
    s.clock.advance_secs(PERIOD);
    let mails = s.mails(1).await;
    assert!(mails[0].2.contains("were away") && mails[0].2.contains("were here"), "{}", mails[0].2);
}

/// Lists keep their numbers, links their addresses, and what begins with `/me` is about the sender. What is no web or mail address
/// is no link.
#[tokio::test]
async fn missed_message_email_keeps_what_was_written() {
    let s = Scene::start().await;
    let [iago, hamlet] = s.t.users(["iago", "hamlet"]);
    let text = "5. five\n6. six\n\n[click <b>here](https://example.com/doc?a=1&b=2), [call](tel:5), https://example.com/bare and \
                [file](/user_uploads/1/x/a.pdf)";
    iago.send_direct(&[&hamlet], text).await;
    iago.send_direct(&[&hamlet], "/me waves").await;
    s.prepared(1).await;
    s.clock.advance_secs(PERIOD);
    let mail = s.mails(1).await.remove(0).2;
    let url = &s.t.url;
    for expected in [
        "5. five\n6. six\n",
        "click <b>here (https://example.com/doc?a=1&b=2), call, https://example.com/bare and file (",
        "/user_uploads/1/x/a.pdf)",
        "\n\nIago waves\n",
        "<a href=\"https://example.com/doc?a=1&amp;b=2\">click &lt;b&gt;here</a>, call, <a href=\"https://example.com/bare\">",
        "<p>Iago waves</p>",
        "/about#your-settings",
    ] {
        assert!(mail.contains(expected), "{expected} of {url}: {mail}");
    }
    assert!(!mail.contains("tel:5") && !mail.contains("<b>here</a>"), "{mail}");
}

#[tokio::test]
async fn missed_message_email_keeps_tables_and_rules() {
    let s = Scene::start().await;
    let [iago, hamlet] = s.t.users(["iago", "hamlet"]);
    let text = "| a | b |\n|---|---|\n| 1 | [2](https://example.com/) |\n\n---\n\nafter";
    iago.send_direct(&[&hamlet], text).await;
    s.prepared(1).await;
    s.clock.advance_secs(PERIOD);
    let mail = s.mails(1).await.remove(0).2;
    for expected in [
        ":\na | b\n1 | 2 (https://example.com/)\n---\nafter\n",
        "<tr><th>a</th><th>b</th></tr>\n<tr><td>1</td><td><a href=\"https://example.com/\">2</a></td></tr>\n</table>\n<hr>\n<p>after</p>",
    ] {
        assert!(mail.contains(expected), "{expected} of {mail}");
    }
}

/// Who was mentioned through a group reads that; the name of the group is content, which not every mail may have.
#[tokio::test]
async fn missed_message_email_says_which_group_was_mentioned() {
    let s = Scene::start().await;
    let [iago, hamlet, othello] = s.t.users(["iago", "hamlet", "othello"]);
    let channel = iago.create_channel("Verona").with(&hamlet).with(&othello).await;
    let members = serde_json::json!([hamlet.id, othello.id]);
    iago.post("/user_groups/create", &[("name", &"cooks"), ("description", &""), ("members", &members)])
        .ok()
        .await;
    set(&othello, "message_content_in_email_notifications", "false").await;
    iago.send(&channel, "lunch", "@*cooks* what is there?").await;
    s.prepared(2).await;
    s.clock.advance_secs(PERIOD);
    let mails = s.mails(2).await;
    let of = |person: &TestUser| mails.iter().find(|(to, ..)| *to == person.email).expect("a mail").2.clone();
    assert!(of(&hamlet).contains("because @*cooks* was mentioned."), "{}", of(&hamlet));
    let hidden = of(&othello);
    assert!(
        hidden.contains("because a group that you are in was mentioned.") && !hidden.contains("cooks"),
        "{hidden}"
    );
    iago.send(&channel, "lunch", "@*cooks* and @**King Hamlet**").await;
    s.prepared(2).await;
    s.clock.advance_secs(PERIOD);
    let both = s.mails(4).await;
    let both = both.iter().find(|(to, _, text)| *to == hamlet.email && text.contains("and @King Hamlet"));
    assert!(both.expect("a mail").2.contains("because you were mentioned."), "{both:?}");
}
