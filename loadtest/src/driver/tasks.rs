//! The client tasks of a phase with their progress line and deadline, and the resource usage of server and client.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::meter::Meter;
use crate::outcome::{Operation, PhaseResult};
use crate::recorder::{Recorder, Window};
use crate::report::progress::PhaseLine;

/// How long clients may take to end once they no longer await a reply.
const END_WAIT: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(200);
/// A client stops after this many consecutive failures.
const FAILURES_IN_A_ROW_MAX: u32 = 100;
const FAILURE_PAUSE: Duration = Duration::from_millis(10);

/// The client tasks of a phase.
#[derive(Debug)]
pub struct ClientTasks {
    label: String,
    window: Window,
    recorders: Vec<Arc<Recorder>>,
    tasks: JoinSet<()>,
    meter: Meter,
}

impl ClientTasks {
    /// Without clients. The first recorder is the phase's main operation.
    pub fn new(label: &str, window: Window, recorders: Vec<Arc<Recorder>>, server_pid: Option<u32>) -> Self {
        Self {
            label: label.to_owned(),
            window,
            recorders,
            tasks: JoinSet::new(),
            meter: Meter::start(server_pid),
        }
    }

    /// Adds a client, which ends by itself when the phase ends.
    pub fn add(&mut self, client: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(client);
    }

    /// Waits until all clients have ended, showing progress. Those that end much later than their last reply can come are
    /// aborted, and count as failures.
    pub async fn wait(&mut self) {
        let mut line =
            PhaseLine::new(&self.label, self.window.stop_at.saturating_duration_since(self.window.begins));
        let deadline = self.window.replies_until + END_WAIT;
        while !self.tasks.is_empty() {
            tokio::select! {
                _ = self.tasks.join_next() => {}
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
    }

    /// The phase's result so far: operations, and resource usage since the tasks were created.
    pub fn into_result(self, ended: Instant) -> PhaseResult {
        let finished: Vec<(Operation, f64)> =
            self.recorders.iter().map(|recorder| recorder.finish(ended)).collect();
        let requests: u64 = self.recorders.iter().map(|recorder| recorder.total()).sum();
        let secs = finished.first().map_or(0.0, |(_, secs)| *secs);
        let operations = finished.into_iter().map(|(operation, _)| operation).collect();
        self.meter.finish(requests, PhaseResult { secs, operations, ..PhaseResult::default() })
    }
}

/// Consecutive failures of a client: a pause after each, so that an unreachable server is not flooded.
#[derive(Debug, Default)]
pub struct FailureLimit {
    failures: u32,
}

impl FailureLimit {
    /// Records a reply of this many bytes, or a failure by name, and pauses after a failure; `false` when the client should
    /// stop.
    pub async fn record(
        &mut self,
        recorder: &Recorder,
        started: Instant,
        outcome: Result<usize, String>,
    ) -> bool {
        match outcome {
            Ok(bytes) => {
                recorder.record_success(started, bytes);
                self.good();
                true
            }
            Err(reason) => {
                recorder.record_failure(&reason);
                self.pause().await
            }
        }
    }

    /// Resets the count.
    pub fn good(&mut self) {
        self.failures = 0;
    }

    /// Pauses; `false` when the client should stop.
    pub async fn pause(&mut self) -> bool {
        self.failures += 1;
        tokio::time::sleep(FAILURE_PAUSE).await;
        self.failures < FAILURES_IN_A_ROW_MAX
    }
}
