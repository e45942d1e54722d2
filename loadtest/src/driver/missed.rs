//! Unread messages and the emails about them: one user after another is sent a message or mentioned, and each email is
//! timed from when it was due until the development server lists it.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::client::{Account, Api, NAME_CHARS_MAX};
use crate::error::LoadError;
use crate::recorder::{Recorder, Window};
use crate::scenario::background::{MISSED_MAIL_LAST_SECS, MISSED_MAIL_SECS};
use crate::setup::Stage;
use crate::text::one_line;

/// The delay of an email.
const PERIOD: Duration = Duration::from_secs(MISSED_MAIL_SECS);
/// Interval at which the list is read, and so the resolution of the measured delays.
const POLL: Duration = Duration::from_millis(500);
/// No message is sent whose email would be due in the last seconds of a phase.
const LAST_LAG: Duration = Duration::from_secs(MISSED_MAIL_LAST_SECS);

/// Messages to send, and the emails to wait for.
#[derive(Debug)]
pub struct MissedMail {
    channel: u64,
    /// A random number in all texts: the server also lists the emails of earlier phases and runs.
    run: u64,
    recipients: Vec<u64>,
    every: Duration,
    /// The due time of the email for each sent message, by the number in its text.
    due: HashMap<usize, Instant>,
    sent: usize,
}

impl MissedMail {
    /// All load users, in turn.
    pub fn prepare(stage: &Stage, channel: &str, every_ms: u64) -> Result<Self, LoadError> {
        let channel = stage.channel(channel)?;
        let recipients = channel.members.iter().map(|number| stage.user_id(*number)).collect();
        let (due, every) = (HashMap::new(), Duration::from_millis(every_ms));
        let run = RandomState::new().build_hasher().finish();
        Ok(Self { channel: channel.id, run, recipients, every, due, sent: 0 })
    }

    /// Sends messages and reads the list until the phase ends. Missing emails are failures.
    pub async fn run(
        mut self,
        api: &mut Api,
        writer: &Account,
        window: Window,
        recorder: &Recorder,
    ) -> Result<(), LoadError> {
        let (mut next_send, mut next_look) = (Instant::now(), Instant::now());
        while Instant::now() < window.stop_at {
            tokio::time::sleep_until(next_send.min(next_look).into()).await;
            let now = Instant::now();
            if now >= next_send {
                next_send += self.every;
                if now + PERIOD + LAST_LAG < window.stop_at && self.sent < self.recipients.len() {
                    self.send(api, writer).await?;
                }
            }
            if now >= next_look {
                next_look = now + POLL;
                self.read_mails(api, recorder).await?;
            }
        }
        for _ in 0..self.due.len() {
            recorder.record_failure("no e-mail");
        }
        Ok(())
    }

    async fn send(&mut self, api: &mut Api, writer: &Account) -> Result<(), LoadError> {
        let (number, recipient) = (self.sent, self.recipients[self.sent]);
        let (path, text) = ("/api/v1/messages", self.text_of(number));
        if number.is_multiple_of(2) {
            let to = format!("[{recipient}]");
            let fields = [("type", "direct"), ("to", to.as_str()), ("content", text.as_str())];
            api.post_ok(path, Some(writer), &fields).await?;
        } else {
            let (to, content) = (self.channel.to_string(), format!("@**|{recipient}** {text}"));
            let fields = [
                ("type", "channel"),
                ("to", to.as_str()),
                ("topic", "mentions"),
                ("content", content.as_str()),
            ];
            api.post_ok(path, Some(writer), &fields).await?;
        }
        self.due.insert(number, Instant::now() + PERIOD);
        self.sent += 1;
        Ok(())
    }

    /// Records the mails that have arrived.
    async fn read_mails(&mut self, api: &mut Api, recorder: &Recorder) -> Result<(), LoadError> {
        let listed = api.get_ok("/emails.json", None).await?;
        let texts =
            listed["emails"].as_array().into_iter().flatten().filter_map(|mail| mail["text"].as_str());
        texts.for_each(|text| self.receive(text, recorder));
        Ok(())
    }

    /// Records the messages that an email is about, each once.
    fn receive(&mut self, email: &str, recorder: &Recorder) {
        for number in numbers_in(self.run, email) {
            if let Some(due) = self.due.remove(&number) {
                recorder.record_success(due, None);
            }
        }
    }

    /// The text of the message of a number.
    fn text_of(&self, number: usize) -> String {
        format!("{}{number}.", mark(self.run))
    }
}

/// What the number of a message follows in its text.
fn mark(run: u64) -> String {
    format!("missed mail {run:x}-")
}

/// The numbers of the messages of a run that an email is about.
fn numbers_in(run: u64, email: &str) -> Vec<usize> {
    let mark = mark(run);
    let numbers = email.split(&mark).skip(1);
    numbers.filter_map(|rest| rest.split_once('.')?.0.parse().ok()).collect()
}

/// The recorder of emails and the sender of their messages, as background work.
pub async fn run(
    work: MissedMail,
    (mut api, writer): (Api, Account),
    window: Window,
    recorder: Arc<Recorder>,
) {
    if let Err(error) = work.run(&mut api, &writer, window, &recorder).await {
        recorder.record_failure(&one_line(&error.to_string(), NAME_CHARS_MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Emails that are due now about this many messages.
    fn due(run: u64, count: usize) -> MissedMail {
        let due = (0..count).map(|number| (number, Instant::now())).collect();
        MissedMail { channel: 1, run, recipients: Vec::new(), every: POLL, due, sent: count }
    }

    #[test]
    fn mails_are_distinguished_by_number() {
        let text = due(0xbeef, 13).text_of(12);
        assert_eq!(numbers_in(0xbeef, &format!("Hi,\n\n@Load 7 {text}\nView")), [12]);
        assert_eq!(numbers_in(0xbeef, &format!("{text}\n> {text}\nmissed mail beef-3.")), [12, 12, 3]);
        assert!(numbers_in(0xbeef, "You have 1 new message.").is_empty());
        assert!(numbers_in(0xbeef, "missed mail beef-1").is_empty(), "a number that is cut off");
    }

    #[test]
    fn mails_of_an_earlier_phase_are_not_those_of_this_one() {
        let (before, mut now) = (due(0xbeef, 2), due(0xbee, 2));
        let recorder = Recorder::new("missed_mail", Window::starting_now(0.0, 1.0));
        for earlier in [before.text_of(0), "missed mail 0.".to_owned(), "missed mail f-0.".to_owned()] {
            now.receive(&earlier, &recorder);
        }
        assert_eq!((recorder.total(), now.due.len()), (0, 2));
        let both = format!("{}\n{}", before.text_of(0), now.text_of(1));
        (0..2).for_each(|_| now.receive(&both, &recorder));
        assert_eq!((recorder.total(), now.due.len()), (1, 1), "once, beside an earlier one");
    }

    #[tokio::test]
    async fn phases_have_marks_of_their_own() {
        let text = serde_json::json!({
            "name": "x", "about": "x", "users": 1, "channels": [{"name": "c", "subscribers": 1}],
            "phases": [{"name": "p", "secs": 1, "step": {
                "do": "send", "clients": 1, "channel": "c", "chars": [24, 30], "topics": 1
            }}]
        });
        let scenario = crate::scenario::Scenario::parse(&text.to_string()).unwrap();
        let target = crate::fake::start(crate::fake::Faults::default());
        let stage = Stage::prepare(&target, &scenario, &None).await.unwrap();
        let texts = [0, 0].map(|number| MissedMail::prepare(&stage, "c", 500).unwrap().text_of(number));
        assert_ne!(texts[0], texts[1]);
    }
}
