//! Fills a channel before measuring, with many concurrent senders, and skips messages that an earlier run sent.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::budget::Budget;
use super::fetch::count_up_to;
use super::send::{REPEATED_ID, Sent, open_senders};
use crate::client::Api;
use crate::error::LoadError;
use crate::output::note;
use crate::pace::{Load, Pace};
use crate::recorder::{Recorder, Window};
use crate::report::progress::CountingLine;
use crate::scenario::FillPlan;
use crate::setup::Stage;
use crate::text::Writer;

const FILL_SECS_MAX: f64 = 3_600.0;
/// A fill ends after this time without a message that was accepted.
const STALL_MAX: Duration = Duration::from_secs(120);

/// Sends the missing messages.
pub async fn fill(stage: &mut Stage, plan: &FillPlan) -> Result<(), LoadError> {
    let channel = stage.channel(&plan.channel)?;
    let accounts = stage.accounts(&channel.members, plan.senders as usize).await?;
    let mut api = Api::open(&stage.target).await?;
    let present = count_up_to(&mut api, &accounts[0], channel.id, plan.messages).await?;
    let missing = plan.messages.saturating_sub(present);
    if missing == 0 {
        if plan.messages > 0 {
            note(format!("the fill was skipped: {} has {} messages already", plan.channel, plan.messages));
        }
        return Ok(());
    }
    let writer = Arc::new(Writer::new(Instant::now(), plan.chars));
    let senders = open_senders(stage, &accounts, &[channel.id], plan.topics, &writer).await?;
    let window = Window::starting_now(0.0, FILL_SECS_MAX);
    let recorder = Arc::new(Recorder::new("send", window));
    let budget = Arc::new(Budget::new(missing));
    let sent = Arc::new(Sent::default());
    let mut tasks = tokio::task::JoinSet::new();
    for sender in senders {
        let pace = Pace::new(&window, &Load::Unpaced, 0, 1);
        tasks.spawn(sender.run(pace, recorder.clone(), budget.clone(), sent.clone()));
    }
    let line = CountingLine::new(missing, "messages");
    let mut watch = Watch::new(Instant::now());
    while !tasks.is_empty() {
        tokio::select! {
            _ = tasks.join_next() => {}
            () = tokio::time::sleep(Duration::from_millis(200)) => line.set(recorder.total()),
        }
        if let Some(failure) = watch.first_failure(&recorder) {
            note(format!("the fill of {}: sends fail and are repeated: {failure}", plan.channel));
        }
        if watch.is_stalled(Instant::now(), recorder.total()) {
            tasks.abort_all();
        }
    }
    line.finish();
    let (operation, _) = recorder.finish(Instant::now());
    if operation.completed < missing {
        return Err(LoadError::Server(format!(
            "the fill sent {} of {missing} messages; failures: {:?}",
            operation.completed, operation.failures
        )));
    }
    Ok(())
}

/// What happens to a fill.
#[derive(Debug)]
struct Watch {
    has_failed: bool,
    /// The messages that were accepted, and since when there are no more.
    accepted: u64,
    since: Instant,
}

impl Watch {
    fn new(now: Instant) -> Self {
        Self { has_failed: false, accepted: 0, since: now }
    }

    /// The first failure whose send is repeated, once. What was acknowledged, with whichever id, is not sent again.
    fn first_failure(&mut self, recorder: &Recorder) -> Option<String> {
        let failure = if self.has_failed { None } else { recorder.failure_but(REPEATED_ID) };
        self.has_failed |= failure.is_some();
        failure
    }

    /// Whether no message was accepted for too long.
    fn is_stalled(&mut self, now: Instant, accepted: u64) -> bool {
        if accepted > self.accepted {
            (self.accepted, self.since) = (accepted, now);
        }
        now.saturating_duration_since(self.since) > STALL_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fill_that_goes_on_is_not_stalled() {
        let begun = Instant::now();
        let after = |secs| begun + Duration::from_secs(secs);
        let mut watch = Watch::new(begun);
        assert!(!watch.is_stalled(after(119), 0) && !watch.is_stalled(after(121), 1));
        assert!(!watch.is_stalled(after(240), 1) && watch.is_stalled(after(242), 1));
    }

    #[test]
    fn first_failure_of_a_fill_is_given_once() {
        let recorder = Recorder::new("send", Window::starting_now(0.0, 1.0));
        let mut watch = Watch::new(Instant::now());
        assert_eq!(watch.first_failure(&recorder), None);
        recorder.record_failure(REPEATED_ID);
        assert_eq!(watch.first_failure(&recorder), None, "it is not repeated");
        recorder.record_failure("429 RATE_LIMIT_HIT");
        assert_eq!(watch.first_failure(&recorder).as_deref(), Some("429 RATE_LIMIT_HIT"));
        assert_eq!(watch.first_failure(&recorder), None);
    }
}
