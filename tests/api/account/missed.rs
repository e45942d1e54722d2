//! Mails about messages that nobody has read for a while.

use crate::support::smtp::{Received, SmtpServer};
use crate::support::{Person, TestServer};
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
        let t = TestServer::plan().clock(&clock).mail(smtp.port()).start().await;
        Self { t, clock, smtp }
    }

    /// Waits until everything that was sent has been looked at: the last of it is written to `marker`, who gets a mail.
    async fn prepared(&self, people: usize) {
        let waiting = || {
            self.t.realm().read(|view| {
                let jobs = view.jobs.after(model::JobId(0));
                jobs.map(|job| match &job.task {
                    model::job::Task::Mail(model::job::MailTask::Missed { users, .. }) => users.len(),
                    _ => 0,
                })
                .sum::<usize>()
            })
        };
        let deadline = tokio::time::Instant::now() + crate::support::PATIENCE;
        while waiting() < people {
            assert!(tokio::time::Instant::now() < deadline, "only {} are prepared for", waiting());
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        assert_eq!(waiting(), people);
    }

    /// Waits until so many mails have arrived, and gives them by recipient and subject.
    async fn mails(&self, count: usize) -> Vec<(String, String, String)> {
        let all: Vec<Received> = self.smtp.wait_for(count).await;
        let mut mails: Vec<_> =
            all.iter().map(|mail| (mail.to.clone(), mail.header("Subject"), mail.text())).collect();
        mails.sort();
        mails
    }
}

async fn set(person: &Person, name: &str, value: &str) {
    person.patch("/settings", &[(name, &value)]).ok().await;
}

#[tokio::test]
async fn what_is_unread_after_a_while_is_one_mail_for_each_conversation() {
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
    // A new while begins with the next message.
    iago.send_direct(&[&hamlet], "third").await;
    s.prepared(1).await;
    s.clock.advance_secs(PERIOD);
    let mails = s.mails(3).await;
    let news: Vec<_> = mails.iter().filter(|(.., text)| text.contains("third")).collect();
    assert_eq!(news.len(), 1);
    assert!(!news[0].2.contains("second"), "{}", news[0].2);
}

#[tokio::test]
async fn nobody_is_told_who_is_here_or_does_not_want_to_be() {
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
async fn content_stays_here_where_somebody_wants_that() {
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
async fn a_while_is_as_long_as_one_wants_it_and_outlives_a_restart() {
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
    let _t = TestServer::plan().on(folder).clock(&clock).mail(smtp.port()).start().await;
    clock.advance_secs(601);
    let mails = smtp.wait_for(1).await;
    assert!(mails[0].text().contains("later"));
}
