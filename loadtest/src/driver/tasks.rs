//! The client tasks of a phase with their progress line and deadline, and the resource usage of server and client.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::meter::Meter;
use crate::client::Failure;
use crate::outcome::{Operation, PhaseResult};
use crate::pace::Pace;
use crate::recorder::{Recorder, Window};
use crate::report::progress::PhaseLine;

/// How long clients may take to end once they no longer await a reply.
const END_WAIT: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(200);
/// A client ends after this time without anything but failures.
const FAILURES_MAX: Duration = Duration::from_secs(60);
/// The pause after a failure, which doubles with each further one up to the maximum.
const FAILURE_PAUSE: Duration = Duration::from_millis(10);
const FAILURE_PAUSE_MAX: Duration = Duration::from_secs(1);
/// Every pause after a failure of a client with a rate.
const RATED_PAUSE: Duration = Duration::from_millis(1);

/// The client tasks of a phase.
#[derive(Debug)]
pub struct ClientTasks {
    label: String,
    window: Window,
    recorders: Vec<Arc<Recorder>>,
    tasks: JoinSet<()>,
    meter: Meter,
    /// When the stages end that have not ended yet.
    stage_ends: VecDeque<Instant>,
}

impl ClientTasks {
    /// Without clients. The first recorder is the phase's main operation.
    pub fn new(label: &str, window: Window, recorders: Vec<Arc<Recorder>>, server_pid: Option<u32>) -> Self {
        let stage_ends = recorders.first().map_or_else(VecDeque::new, |first| first.stage_ends().into());
        Self {
            label: label.to_owned(),
            window,
            stage_ends,
            recorders,
            tasks: JoinSet::new(),
            meter: Meter::start(server_pid),
        }
    }

    /// Adds a client, which ends by itself when the phase ends.
    pub fn add(&mut self, client: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(client);
    }

    /// Waits until all clients have ended, or, without a client, until the phase ends, showing progress. Those that end much later than their last reply can come are
    /// aborted, and count as failures.
    pub async fn wait(&mut self) {
        let mut line =
            PhaseLine::new(&self.label, self.window.stop_at.saturating_duration_since(self.window.begins));
        let deadline = self.window.replies_until + END_WAIT;
        if self.tasks.is_empty() {
            // Only event receivers, which hold their polls as long.
            self.tasks.spawn(tokio::time::sleep_until(self.window.stop_at.into()));
        }
        while !self.tasks.is_empty() {
            let stage_end = self.stage_ends.front().copied();
            tokio::select! {
                _ = self.tasks.join_next() => {}
                () = sleep_until(stage_end) => self.end_stage(),
                () = tokio::time::sleep(TICK) => {
                    self.meter.sample();
                    let progress: Vec<_> = self.recorders.iter().map(|recorder| recorder.sample()).collect();
                    if let Some(first) = progress.first() {
                        line.show(*first);
                    }
                }
            }
            if Instant::now() > deadline {
                for _ in 0..self.tasks.len() {
                    self.recorders[0].record_failure("a client did not end");
                }
                self.tasks.abort_all();
                break;
            }
        }
        line.finish();
        // The last one, or, if the work ended early, the one it ended in.
        self.end_stage();
    }

    /// Counts the requests until now to the next stage, if there is one.
    fn end_stage(&mut self) {
        if self.stage_ends.pop_front().is_some() {
            self.meter.end_stage(self.recorders.iter().map(|recorder| recorder.total()).sum());
        }
    }

    /// Ends the measurement of resources, so that what is done to evaluate the phase is not counted.
    pub fn end_meter(&mut self) {
        let requests = self.recorders.iter().map(|recorder| recorder.total()).sum();
        self.meter.end(requests);
    }

    /// The phase's result so far: operations, and resource usage since the tasks were created, until its measurement
    /// ended or now.
    pub fn into_result(self, ended: Instant) -> PhaseResult {
        let finished: Vec<(Operation, f64)> =
            self.recorders.iter().map(|recorder| recorder.finish(ended)).collect();
        let requests: u64 = self.recorders.iter().map(|recorder| recorder.total()).sum();
        let secs = finished.first().map_or(0.0, |(_, secs)| *secs);
        let operations = finished.into_iter().map(|(operation, _)| operation).collect();
        self.meter.finish(requests, PhaseResult { secs, operations, ..PhaseResult::default() })
    }
}

/// Waits until then; for ever without a time.
pub async fn sleep_until(end: Option<Instant>) {
    match end {
        Some(end) => tokio::time::sleep_until(end.into()).await,
        None => std::future::pending().await,
    }
}

/// Consecutive failures of a client. After each it pauses, so that a server that cannot be reached is not flooded, or as long
/// as the server asks for; after a minute of failures alone it ends.
#[derive(Debug)]
pub struct FailureLimit {
    /// When the phase ends, and any pause with it.
    end: Instant,
    /// The first pause, the next one, and the longest.
    first: Duration,
    pause: Duration,
    longest: Duration,
    since: Option<Instant>,
}

impl FailureLimit {
    /// For a client of this pace.
    pub fn of(pace: &Pace) -> Self {
        match pace.has_rate() {
            // The rate bounds the requests, and a long pause would count as a delay of the server.
            true => Self::new(pace.stop_at(), RATED_PAUSE, RATED_PAUSE),
            false => Self::new(pace.stop_at(), FAILURE_PAUSE, FAILURE_PAUSE_MAX),
        }
    }

    /// For an event receiver, whose polls depend on replies, until then.
    pub fn of_receiver(end: Instant) -> Self {
        Self::new(end, FAILURE_PAUSE, FAILURE_PAUSE_MAX)
    }

    fn new(end: Instant, first: Duration, longest: Duration) -> Self {
        Self { end, first, pause: first, longest, since: None }
    }

    /// Records a reply of this many bytes, or a failure, and pauses after a failure; `false` when the client must end.
    pub async fn record(
        &mut self,
        recorder: &Recorder,
        started: Instant,
        outcome: Result<impl Into<Option<usize>>, Failure>,
    ) -> bool {
        match outcome {
            Ok(bytes) => {
                recorder.record_success(started, bytes);
                self.good();
                true
            }
            Err(failure) => self.record_failure(recorder, &failure).await,
        }
    }

    /// Records a failure and pauses; `false` when the client must end, which is recorded, too.
    pub async fn record_failure(&mut self, recorder: &Recorder, failure: &Failure) -> bool {
        recorder.record_failure(&failure.name);
        let goes_on = self.pause(failure).await;
        if !goes_on {
            recorder.record_ended_client();
        }
        goes_on
    }

    /// Forgets the failures.
    pub fn good(&mut self) {
        (self.since, self.pause) = (None, self.first);
    }

    /// Pauses; `false` when the client must end.
    pub async fn pause(&mut self, failure: &Failure) -> bool {
        let now = Instant::now();
        if let Some(wait) = failure.retry_after {
            // A server that says when to ask again has not failed.
            self.good();
            // After the end, when only receivers go on, it is asked once a second.
            let least = if now < self.end { FAILURE_PAUSE } else { FAILURE_PAUSE_MAX };
            let until = (now + wait).min(self.end).max(now + least);
            tokio::time::sleep_until(until.into()).await;
            return true;
        }
        let since = *self.since.get_or_insert(now);
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(self.longest);
        since.elapsed() < FAILURES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::Load;

    #[tokio::test]
    async fn client_ends_after_a_minute_of_failures_and_waits_when_it_is_asked_to() {
        let window = Window::starting_now(0.0, 0.05);
        let recorder = Recorder::new("get", window);
        let mut limit = FailureLimit::of(&Pace::new(&window, &Load::Unpaced, 0, 1));
        assert!(limit.record_failure(&recorder, &"500".into()).await);
        limit.since = Instant::now().checked_sub(FAILURES_MAX);
        let limited = Failure { name: "429".to_owned(), retry_after: Some(Duration::from_secs(3_600)) };
        assert!(limit.record_failure(&recorder, &limited).await, "the server is there");
        assert!(Instant::now() >= window.stop_at, "it waited, but not beyond the end of the phase");
        limit.since = Instant::now().checked_sub(FAILURES_MAX);
        assert!(!limit.record(&recorder, Instant::now(), Err::<usize, _>("500".into())).await);
        let (operation, _) = recorder.finish(Instant::now());
        assert_eq!((operation.failed, operation.ended_clients), (3, 1));
    }
}
