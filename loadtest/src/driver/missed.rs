//! Unread messages and the emails about them: one user after another is sent a message or mentioned, and each email is
//! timed from when it was due until the development server lists it.

use std::collections::HashMap;
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
        Ok(Self { channel: channel.id, recipients, every, due, sent: 0 })
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
        let path = "/api/v1/messages";
        if number.is_multiple_of(2) {
            let (to, content) = (format!("[{recipient}]"), format!("missed mail {number}."));
            let fields = [("type", "direct"), ("to", to.as_str()), ("content", content.as_str())];
            api.post_ok(path, Some(writer), &fields).await?;
        } else {
            let (to, content) =
                (self.channel.to_string(), format!("@**|{recipient}** missed mail {number}."));
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
        for number in texts.filter_map(number_in) {
            if let Some(due) = self.due.remove(&number) {
                recorder.record_success(due, None);
            }
        }
        Ok(())
    }
}

/// The number of the message that an email is about.
fn number_in(text: &str) -> Option<usize> {
    let (_, rest) = text.split_once("missed mail ")?;
    rest.split_once('.')?.0.parse().ok()
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
    use super::number_in;

    #[test]
    fn mails_are_distinguished_by_number() {
        assert_eq!(number_in("Hi,\n\n@Load 7 missed mail 12.\nView"), Some(12));
        assert_eq!(number_in("You have 1 new message."), None);
    }
}
