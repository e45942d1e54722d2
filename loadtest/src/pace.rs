//! The schedules of clients: as fast as they get replies, at a fixed rate, or in stages.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::recorder::{Recorder, Window};
use crate::scenario::stages::{Quantity, Ramp};

/// How often a client that a stage does not use yet checks whether it does.
const INACTIVE_POLL: Duration = Duration::from_millis(20);
/// The name of the failure of a request without a reply by then.
pub const NO_REPLY: &str = "no reply within 30 s of the end";
/// Unsent requests are counted up to this.
const UNSENT_MAX: u64 = 100_000_000;

/// The load of all clients of a phase together.
#[derive(Debug, Clone)]
pub enum Load {
    /// Each client sends again as soon as it got a reply.
    Unpaced,
    PerSec(f64),
    Staged(Arc<Ramp>),
}

impl Load {
    /// The stages of a phase, or otherwise the rate of its step.
    pub fn of(ramp: Option<&Arc<Ramp>>, rate_per_sec: Option<f64>) -> Self {
        match (ramp, rate_per_sec) {
            (Some(ramp), _) => Self::Staged(ramp.clone()),
            (None, Some(rate)) => Self::PerSec(rate),
            (None, None) => Self::Unpaced,
        }
    }
}

/// The schedule of one client's requests.
///
/// With a rate the schedule does not depend on the server: a client that still waits when a request falls due
/// sends it late but times it from when it was due, so that a stall counts against every request it delayed
/// (no coordinated omission). A client whose own timer fires late times from the actual start. No request is sent after the
/// end of the phase; those that were due and are left then are unsent.
#[derive(Debug)]
pub struct Pace {
    schedule: Schedule,
    begins: Instant,
    stop_at: Instant,
    replies_until: Instant,
}

#[derive(Debug)]
enum Schedule {
    Unpaced,
    /// The request of a number is due after `offset + number · interval`.
    Even {
        offset: Duration,
        interval: Duration,
        number: u32,
    },
    /// Every this many requests of a growing or falling rate, from a number on.
    Rates {
        ramp: Arc<Ramp>,
        number: u64,
        step: u32,
    },
    /// As fast as it gets replies, while there are more clients than its number.
    Clients {
        ramp: Arc<Ramp>,
        index: u32,
    },
}

impl Pace {
    /// The pace of client `index` of `clients`, which together have this load, evenly spread.
    pub fn new(window: &Window, load: &Load, index: u32, clients: u32) -> Self {
        let schedule = match load {
            Load::Unpaced => Schedule::Unpaced,
            Load::PerSec(rate) => {
                let interval = Duration::from_secs_f64(f64::from(clients) / rate);
                let offset = interval.mul_f64(f64::from(index) / f64::from(clients));
                Schedule::Even { offset, interval, number: 0 }
            }
            Load::Staged(ramp) => match ramp.quantity {
                Quantity::Rate => {
                    Schedule::Rates { ramp: ramp.clone(), number: u64::from(index), step: clients }
                }
                Quantity::Clients => Schedule::Clients { ramp: ramp.clone(), index },
            },
        };
        let Window { begins, stop_at, replies_until, .. } = *window;
        Self { schedule, begins, stop_at, replies_until }
    }

    /// Waits for the next request; returns its start time, or `None` when the phase has ended.
    pub async fn wait(&mut self) -> Option<Instant> {
        loop {
            let now = Instant::now();
            if now >= self.stop_at {
                return None;
            }
            if let Schedule::Clients { ramp, index } = &self.schedule {
                let secs = now.saturating_duration_since(self.begins).as_secs_f64();
                if ramp.value_at(secs) <= f64::from(*index) {
                    tokio::time::sleep_until((now + INACTIVE_POLL).min(self.stop_at).into()).await;
                    continue;
                }
            }
            let Some(due) = self.next_due() else { return Some(now) };
            if due >= self.stop_at {
                // The phase, and what is measured in it, lasts until its end also if nothing more is due.
                tokio::time::sleep_until(self.stop_at.into()).await;
                return None;
            }
            self.advance();
            if due <= now {
                return Some(due);
            }
            tokio::time::sleep_until(due.into()).await;
            return Some(Instant::now());
        }
    }

    /// Whether the schedule, and not the replies, says when requests are sent.
    pub fn has_rate(&self) -> bool {
        matches!(self.schedule, Schedule::Even { .. } | Schedule::Rates { .. })
    }

    /// When the phase ends.
    pub fn stop_at(&self) -> Instant {
        self.stop_at
    }

    /// Whether the client may wait between a reply and its next request.
    pub fn rests(&self) -> bool {
        !matches!(self.schedule, Schedule::Unpaced)
    }

    /// Awaits the outcome of a request until the end of [`Window::replies_until`], so that a reply that never comes is a failure of
    /// that request, and those that were due meanwhile are unsent.
    pub async fn within<T, E: From<String>>(
        &self,
        outcome: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        match tokio::time::timeout_at(self.replies_until.into(), outcome).await {
            Ok(outcome) => outcome,
            Err(_) => Err(NO_REPLY.to_owned().into()),
        }
    }

    /// Reports the requests that were due by the end of the phase and were not sent, also if the client ended before.
    pub fn finish(mut self, recorder: &Recorder) {
        let mut unsent = 0;
        while unsent < UNSENT_MAX && self.next_due().is_some_and(|due| due < self.stop_at) {
            self.advance();
            unsent += 1;
        }
        recorder.record_unsent(unsent);
    }

    /// When the next request is due; none if that depends on replies.
    fn next_due(&self) -> Option<Instant> {
        match &self.schedule {
            Schedule::Unpaced | Schedule::Clients { .. } => None,
            Schedule::Even { offset, interval, number } => Some(self.begins + *offset + *interval * *number),
            Schedule::Rates { ramp, number, .. } => {
                let due = ramp.due(crate::units::as_float(*number));
                Some(due.map_or(self.stop_at, |secs| self.begins + Duration::from_secs_f64(secs)))
            }
        }
    }

    fn advance(&mut self) {
        match &mut self.schedule {
            Schedule::Unpaced | Schedule::Clients { .. } => {}
            Schedule::Even { number, .. } => *number += 1,
            Schedule::Rates { number, step, .. } => *number += u64::from(*step),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::stages::StagePlan;

    #[tokio::test]
    async fn stalled_client_measures_from_due_time() {
        let window = Window::starting_now(0.0, 0.2);
        let mut pace = Pace::new(&window, &Load::PerSec(100.0), 0, 1);
        assert_eq!(pace.wait().await, Some(window.begins));
        tokio::time::sleep(Duration::from_millis(55)).await; // the server stalls
        for number in 1..=5 {
            assert_eq!(pace.wait().await, Some(window.begins + Duration::from_millis(10 * number)));
        }
        let waited = pace.wait().await.unwrap();
        assert!(waited >= window.begins + Duration::from_millis(60));
        let mut rest = 0;
        while pace.wait().await.is_some() {
            rest += 1;
        }
        assert_eq!(rest, 13, "the schedule has 20 requests in all");
    }

    #[tokio::test]
    async fn phase_lasts_until_its_end_when_nothing_more_is_due() {
        let window = Window::starting_now(0.0, 0.1);
        let recorder = Recorder::new("send", window);
        let mut pace = Pace::new(&window, &Load::PerSec(0.001), 0, 1);
        while let Some(started) = pace.wait().await {
            recorder.record_success(started, 1);
        }
        assert!(Instant::now() >= window.stop_at);
        pace.finish(&recorder);
        let (operation, secs) = recorder.finish(window.stop_at);
        assert_eq!((operation.completed, operation.unsent), (1, 0));
        assert!(
            (secs - 0.1).abs() < 1e-6 && (operation.requests_per_sec - 10.0).abs() < 0.01,
            "{operation:?}"
        );
    }

    #[tokio::test]
    async fn no_request_is_sent_after_the_end_and_the_rest_is_counted() {
        let window = Window::starting_now(0.0, 0.1);
        let mut pace = Pace::new(&window, &Load::PerSec(1_000.0), 0, 1);
        let mut sent = 0;
        while pace.wait().await.is_some() {
            sent += 1;
            tokio::time::sleep(Duration::from_millis(20)).await; // a server that is too slow
        }
        assert!(Instant::now() < window.stop_at + Duration::from_millis(500), "it ended late");
        let recorder = Recorder::new("send", window);
        pace.finish(&recorder);
        let (operation, _) = recorder.finish(Instant::now());
        assert!(sent <= 6 && operation.unsent + sent == 100, "{sent} sent, {} unsent", operation.unsent);
    }

    #[tokio::test]
    async fn a_reply_that_never_comes_is_a_failure_and_what_was_due_is_unsent() {
        let ended = Instant::now();
        let window = Window {
            begins: ended - Duration::from_secs(2),
            stop_at: ended,
            replies_until: ended,
            ..Window::starting_now(0.0, 2.0)
        };
        let pace = Pace::new(&window, &Load::PerSec(100.0), 0, 1);
        let outcome = pace.within(std::future::pending::<Result<(), String>>()).await;
        assert_eq!(outcome, Err(NO_REPLY.to_owned()));
        assert_eq!(pace.within(async { Ok::<_, String>(7) }).await, Ok(7));
        let recorder = Recorder::new("send", window);
        pace.finish(&recorder);
        let (operation, _) = recorder.finish(Instant::now());
        assert_eq!(operation.unsent, 200);
    }

    #[tokio::test]
    async fn stages_of_clients_use_more_and_more() {
        let plan = |secs, clients| StagePlan { secs, clients: Some(clients), rate_per_sec: None };
        let ramp = Arc::new(Ramp::new(&[plan(0.2, 2)]).unwrap().unwrap());
        let window = Window::starting_now(0.0, 0.2);
        let load = Load::Staged(ramp);
        let mut second = Pace::new(&window, &load, 1, 2);
        let first_request = second.wait().await.unwrap();
        assert!(
            first_request >= window.begins + Duration::from_millis(99),
            "the second client begins halfway"
        );
    }

    #[tokio::test]
    async fn stages_of_rates_have_the_requests_of_their_area() {
        let plan = |secs, rate| StagePlan { secs, clients: None, rate_per_sec: Some(rate) };
        let ramp = Arc::new(Ramp::new(&[plan(0.1, 400.0), plan(0.1, 400.0)]).unwrap().unwrap());
        let window = Window::starting_now(0.0, 0.2);
        let mut requests = 0;
        for index in 0..2 {
            let mut pace = Pace::new(&window, &Load::Staged(ramp.clone()), index, 2);
            while pace.wait().await.is_some() {
                requests += 1;
            }
            let recorder = Recorder::new("send", window);
            pace.finish(&recorder);
            requests += recorder.finish(Instant::now()).0.unsent;
        }
        assert_eq!(requests, 60);
    }
}
