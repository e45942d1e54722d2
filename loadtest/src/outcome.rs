//! What a run found out: plain data, written as JSON and drawn by `report`. The fields are the schema of the result
//! file, which `loadtest/README.md` describes.

use std::collections::BTreeMap;

use serde::Serialize;

/// Number of the result file's shape.
pub const FORMAT: u32 = 1;

/// Everything of one run.
#[derive(Debug, Clone, Serialize)]
pub struct RunResult {
    /// [`FORMAT`].
    pub format: u32,
    /// UNIX seconds.
    pub started_at: u64,
    /// Where it ran.
    pub machine: Machine,
    /// In the order they ran.
    pub scenarios: Vec<ScenarioResult>,
    /// No expectation was missed.
    pub met: bool,
}

/// Where a run took place.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Machine {
    /// CPU model name.
    pub cpu: String,
    /// Cores this process may use.
    pub cores: usize,
    /// Memory, in MB.
    pub memory_mb: u64,
    /// Kernel release.
    pub kernel: String,
    /// One-minute load average when the run began.
    pub load_average: f64,
    /// Version of this program.
    pub loadtest_version: String,
    /// What the server calls itself, or empty.
    pub server_version: String,
}

/// One scenario.
#[derive(Debug, Clone, Serialize)]
pub struct ScenarioResult {
    /// Its name.
    pub name: String,
    /// Its sentence.
    pub about: String,
    /// Its phases, in order.
    pub phases: Vec<PhaseResult>,
    /// What the machine gave in the same run.
    pub baselines: Baselines,
    /// What was expected, and whether it held.
    pub verdicts: Vec<Verdict>,
}

/// One phase.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PhaseResult {
    /// Its name.
    pub name: String,
    /// The step's kind.
    pub kind: String,
    /// Measured seconds.
    pub secs: f64,
    /// What was timed. The first is the one the expectations are about.
    pub operations: Vec<Operation>,
    /// Checks of the event receivers.
    pub delivery: Option<Delivery>,
    /// Held polls.
    pub idle: Option<Idle>,
    /// Start of the server.
    pub start: Option<Start>,
    /// Counters of the server, by name.
    pub counters: BTreeMap<String, CounterChange>,
    /// What the server used, when its process is known.
    pub server: Option<ServerUse>,
    /// CPU time of this program per request, in µs.
    pub client_cpu_us_per_request: f64,
}

/// One kind of request, or the way from send to receipt.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Operation {
    /// `send`, `receipt`, `fetch` or `get`.
    pub name: String,
    /// Good replies in the measured time.
    pub completed: u64,
    /// All others.
    pub failed: u64,
    /// How many of each kind of failure.
    pub failures: BTreeMap<String, u64>,
    /// Good replies a second.
    pub requests_per_sec: f64,
    /// Mean size of a good reply's body.
    pub reply_bytes_mean: f64,
    /// Times from request (or from when it was due, where a rate is set) to whole reply.
    pub latency: Latency,
    /// Percentile and milliseconds, for the plot.
    pub curve: Vec<(f64, f64)>,
    /// Seconds since the start (warm-up included) and good replies a second, for the plot.
    pub timeline: Vec<(f64, f64)>,
}

/// Milliseconds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Latency {
    /// Arithmetic mean.
    pub mean_ms: f64,
    /// Median.
    pub p50_ms: f64,
    /// 90th percentile.
    pub p90_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
    /// 99.9th percentile.
    pub p999_ms: f64,
    /// Longest.
    pub max_ms: f64,
}

/// What the event receivers saw.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Delivery {
    /// Event queues that were polled.
    pub receivers: u64,
    /// Messages acknowledged to their senders.
    pub messages: u64,
    /// Message events received.
    pub deliveries: u64,
    /// Acknowledged messages some receiver did not get.
    pub lost_events: u64,
    /// Messages or event ids some receiver got twice.
    pub doubled_events: u64,
    /// Messages received after a newer one of the same channel.
    pub disordered_events: u64,
    /// Receivers that ended early.
    pub ended_receivers: u64,
}

/// Held polls.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Idle {
    /// How many were held at once.
    pub polls: u64,
    /// Growth of the server's resident memory, per poll.
    pub server_bytes_per_connection: f64,
    /// The same for the bare server of this run.
    pub bare_bytes_per_connection: f64,
    /// The difference.
    pub bytes_per_poll: f64,
    /// From sending one message until the last receiver has it.
    pub last_receipt_ms: f64,
    /// The same for the bare server.
    pub bare_last_receipt_ms: f64,
}

/// Start of the server.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Start {
    /// From exec to the first 200 of `GET /api/v1/server_settings`, of each round.
    pub rounds_ms: Vec<f64>,
    /// Their median.
    pub start_ms: f64,
    /// Resident memory then, median, in MB (1,000,000 bytes).
    pub rss_mb: f64,
}

/// A counter of the server around a phase.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct CounterChange {
    /// Value before.
    pub before: f64,
    /// Value after, when it had stopped moving.
    pub after: f64,
    /// Change per message sent in the phase.
    pub per_message: f64,
}

/// What the server's process used.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct ServerUse {
    /// CPU time per request, in µs.
    pub cpu_us_per_request: f64,
    /// Resident memory before, in MB.
    pub rss_mb_before: f64,
    /// Resident memory after, in MB.
    pub rss_mb_after: f64,
}

/// What the machine gives without our server.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Baselines {
    /// Bare actix-web, GET of about 200 bytes of JSON.
    pub web_get: Option<WebBaseline>,
    /// Bare actix-web, POST of a form of about 300 bytes.
    pub web_post: Option<WebBaseline>,
    /// Append of 4 KiB and fdatasync.
    pub disk: Option<DiskBaseline>,
}

/// A bare actix-web server, driven by the same client.
#[derive(Debug, Clone, Default, Serialize)]
pub struct WebBaseline {
    /// Concurrent clients.
    pub clients: u32,
    /// Requests a second of each round.
    pub rounds_per_sec: Vec<f64>,
    /// Their median.
    pub requests_per_sec: f64,
    /// Median over the rounds.
    pub p50_ms: f64,
    /// CPU time of the bare server per request, in µs, median.
    pub server_cpu_us_per_request: f64,
    /// CPU time of this program per request, in µs, median.
    pub client_cpu_us_per_request: f64,
}

/// The disk under the data folder.
#[derive(Debug, Clone, Default, Serialize)]
pub struct DiskBaseline {
    /// Folder that was written in.
    pub folder: String,
    /// Operations a second of each round.
    pub rounds_per_sec: Vec<f64>,
    /// Their median.
    pub syncs_per_sec: f64,
    /// Median over the rounds.
    pub p50_ms: f64,
    /// Median over the rounds.
    pub p99_ms: f64,
}

/// One expectation and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The phase, or empty for the whole scenario.
    pub phase: String,
    /// The expectation's name in the scenario.
    pub expectation: String,
    /// Its limit.
    pub limit: f64,
    /// What was measured; absent when it could not be.
    pub measured: Option<f64>,
    /// Whether the limit was kept.
    pub met: bool,
}

impl PhaseResult {
    /// Messages that the server acknowledged in this phase.
    pub fn operation(&self, name: &str) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.name == name)
    }

    /// All requests that were not answered well.
    pub fn failed(&self) -> u64 {
        self.operations.iter().map(|operation| operation.failed).sum()
    }
}

/// The middle value; of an even number, the mean of the two in the middle. 0 for none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        length if length % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_in_the_middle() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-9);
        assert!(median(&[]).abs() < 1e-9);
    }
}
