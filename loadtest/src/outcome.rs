//! The result of a run: plain data, written as JSON and drawn by `report`. The fields are the schema of the result
//! file, which `loadtest/README.md` describes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::LoadError;

/// Version of the result file's schema.
pub const FORMAT: u32 = 1;

/// The results of a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunResult {
    pub format: u32,
    /// Name of the server in a comparison, otherwise empty.
    pub server: String,
    pub url: String,
    /// Start of the run, in UNIX seconds.
    pub started_at: u64,
    pub machine: Machine,
    /// The results of the scenarios, in the order they ran.
    pub scenarios: Vec<ScenarioResult>,
    /// The names of those that were not run, or have not been yet.
    pub not_run: Vec<String>,
    /// The signal that ended the run, and where; absent if none did.
    pub interrupted: Option<String>,
    /// Whether every scenario was run to its end and met its expectations.
    pub met: bool,
}

/// The machine of a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    pub cpu: String,
    pub cores: usize,
    pub memory_mb: u64,
    pub kernel: String,
    /// One-minute load average at the start of the run.
    pub load_average: f64,
    pub loadtest_version: String,
    /// Version that the server reports, or empty.
    pub server_version: String,
}

/// The result of a scenario.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ScenarioResult {
    pub name: String,
    pub about: String,
    /// Whether sends are described as durable, and the server was started without syncing its writes.
    pub lacks_sync: bool,
    /// Whether the server was started without a data folder, whatever is sent.
    pub lacks_data: bool,
    /// Why the scenario ended early; absent if it did not.
    pub ended_early: Option<String>,
    pub phases: Vec<PhaseResult>,
    pub baselines: Baselines,
    /// The expectations, and whether they were met.
    pub verdicts: Vec<Verdict>,
}

/// The result of a phase.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PhaseResult {
    pub name: String,
    pub kind: String,
    pub secs: f64,
    /// The timed operations. The expectations are about the first.
    pub operations: Vec<Operation>,
    /// What the event receivers checked.
    pub delivery: Option<Delivery>,
    pub idle: Option<Idle>,
    pub start: Option<Start>,
    /// Changes of the server's counters, by name.
    pub counters: BTreeMap<String, CounterChange>,
    /// Resource usage of the server, if its process is known.
    pub server: Option<ServerUse>,
    /// Why there is none although a process was given.
    pub server_unmeasured: Option<Unmeasured>,
    /// CPU time of this program per request, in µs; absent if no request was answered.
    pub client_cpu_us_per_request: Option<f64>,
    /// The bare server that the phase is compared with.
    pub baseline: Option<BaselineShare>,
    /// CPU times of each stage, in the order of the operations' stages.
    pub stages: Vec<StageUse>,
    /// Resident memory of the server over time: seconds since the start of the phase, and MB.
    pub memory: Vec<(f64, f64)>,
    /// Growth of that memory in the second half of the phase, in MB a minute.
    pub rss_mb_per_min: Option<f64>,
    /// What else the machine did.
    pub machine_use: Option<MachineUse>,
}

/// Why the process that was given for the server has no figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unmeasured {
    /// It ended during the phase, or before.
    Ended,
    /// Another process answers the requests.
    OtherProcess,
}

/// CPU time for each request of the bare server of the same run, and the ratio to it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BaselineShare {
    /// `GET`, `POST` or `held GET`.
    pub method: String,
    /// Clients of the bare server; those of the phase, unless it has too many different numbers of them.
    pub clients: u32,
    pub server_cpu_us_per_request: f64,
    pub client_cpu_us_per_request: f64,
    /// CPU time of the server over that of the bare one; absent if its process is not known, or if it also answers requests that
    /// are not counted.
    pub cpu_ratio: Option<f64>,
    /// Rate of the first operation over the bare server's; absent if a rate is set, if the bare server has other clients, or if the
    /// clients do another operation in turn.
    pub rate_ratio: Option<f64>,
}

/// CPU times of a stage, for each request of any operation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StageUse {
    /// In µs; absent if no request was answered, or if the server's process is not known.
    pub server_cpu_us_per_request: Option<f64>,
    /// In µs; absent if no request was answered.
    pub client_cpu_us_per_request: Option<f64>,
    /// The bare server with the clients of the stage.
    pub baseline: Option<BaselineShare>,
}

/// The machine during a phase.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineUse {
    /// One-minute load average before the phase.
    pub load_average: f64,
    /// Time that the hypervisor gave to other machines, in percent of all cores.
    pub steal_percent: f64,
    /// CPU time of processes that are neither server nor client, in percent of all cores; absent if the server's process
    /// is not known.
    pub other_percent: Option<f64>,
}

/// A kind of request, or the delivery from send to receipt.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Operation {
    /// `send`, `receipt`, `fetch` or `get`.
    pub name: String,
    /// Successful replies in the measured time.
    pub completed: u64,
    pub failed: u64,
    pub failures: BTreeMap<String, u64>,
    /// Requests of a fixed rate that were due and could not be sent before the end.
    pub unsent: u64,
    /// Clients that ended before the phase, because they had failures only for a minute.
    pub ended_clients: u64,
    /// Successful replies a second, over all of the measured time.
    pub requests_per_sec: f64,
    /// Mean size of a successful reply's body, in bytes; absent without one.
    pub reply_bytes_mean: Option<f64>,
    /// Times from request (or from its due time, if a rate is set) to the complete reply; absent without one.
    pub latency: Option<Latency>,
    /// Percentile and milliseconds, for the plot.
    pub curve: Vec<(f64, f64)>,
    /// Seconds since the start (warm-up included) and successful replies per second, for the plot.
    pub timeline: Vec<(f64, f64)>,
    /// The figures of each stage.
    pub stages: Vec<StageResult>,
}

/// A stage of a phase, for one operation.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StageResult {
    /// `clients` or `requests per second`.
    pub of: String,
    pub secs: f64,
    pub from: f64,
    pub to: f64,
    pub completed: u64,
    pub failed: u64,
    pub requests_per_sec: f64,
    /// Absent without a successful reply.
    pub latency: Option<Latency>,
}

/// Percentiles of times, in milliseconds.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Latency {
    pub mean_ms: f64,
    pub p50_ms: f64,
    pub p90_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
    pub p999_ms: f64,
    pub max_ms: f64,
}

/// The checks of event receivers.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Delivery {
    pub receivers: u64,
    /// Messages acknowledged to their senders.
    pub messages: u64,
    pub deliveries: u64,
    /// Acknowledged messages that some receiver did not get.
    pub lost_events: u64,
    /// Messages, by id or content, or event ids that some receiver got twice.
    #[serde(alias = "doubled_events")]
    pub duplicate_events: u64,
    /// Events received after a later one, or messages after a newer one of the same channel.
    #[serde(alias = "disordered_events")]
    pub out_of_order_events: u64,
    /// Acknowledged messages that a receiver could not fetch, because the server limited the rate of its polls until the end.
    pub unfetched_events: u64,
    pub ended_receivers: u64,
}

/// The measurements of held polls.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Idle {
    /// Number of polls held at the same time.
    pub polls: u64,
    /// Growth of the server's resident memory per poll, in bytes; absent if it is less than a quarter of the bare server's, because
    /// the server had freed memory to use again.
    pub server_bytes_per_connection: Option<f64>,
    /// Growth of the bare server's resident memory per poll in this run, in bytes; absent in a run without baselines.
    pub bare_bytes_per_connection: Option<f64>,
    /// The growth per poll again, by the name of its expectation.
    pub bytes_per_poll: Option<f64>,
    /// From sending one message until the last receiver has it; absent unless all got it.
    pub last_receipt_ms: Option<f64>,
    /// From sending one message to the bare server until the last receiver has it, in milliseconds; absent in a run without baselines.
    pub bare_last_receipt_ms: Option<f64>,
}

/// The measurements of starts of the server.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Start {
    /// From exec to the first 200 of `GET /api/v1/server_settings`, per round.
    pub rounds_ms: Vec<f64>,
    pub start_ms: f64,
    /// Resident memory at that time, median, in MB (1,000,000 bytes); absent if another process than the started one listens.
    pub rss_mb: Option<f64>,
}

/// A counter of the server before and after a phase.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CounterChange {
    pub before: f64,
    /// Value after the phase, once it stopped changing.
    pub after: f64,
    /// Change per message sent in the phase; absent if none was sent.
    pub per_message: Option<f64>,
}

/// Resource usage of the server's process.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerUse {
    /// CPU time per request, in µs; absent if no request was answered.
    pub cpu_us_per_request: Option<f64>,
    /// Resident memory before the phase, in MB.
    pub rss_mb_before: f64,
    /// Maximum of resident memory in MB: of the samples during the phase, and those before and after it.
    pub rss_mb_peak: f64,
    /// Resident memory after the phase, in MB.
    pub rss_mb_after: f64,
}

/// The baselines of a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Baselines {
    /// Bare actix-web: GET of about 200 bytes of JSON, POST of a form of about 300 bytes. (Earlier versions had one of each, `web_get`
    /// and `web_post`.)
    pub bare: Vec<WebBaseline>,
    /// Overwriting of 4 KiB and fdatasync. (Earlier versions appended, which takes longer, and called it `disk`.)
    pub overwrite: Option<DiskBaseline>,
}

/// A bare actix-web server, driven by the same client.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WebBaseline {
    /// `GET` or `POST`.
    pub method: String,
    pub clients: u32,
    pub rounds_per_sec: Vec<f64>,
    pub requests_per_sec: f64,
    /// Median over the rounds of each round's median.
    pub p50_ms: f64,
    /// CPU time of the bare server per request, in µs, median.
    pub server_cpu_us_per_request: f64,
    /// CPU time of this program per request, in µs, median.
    pub client_cpu_us_per_request: f64,
}

/// The disk under the data folder.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DiskBaseline {
    pub folder: String,
    pub rounds_per_sec: Vec<f64>,
    pub syncs_per_sec: f64,
    /// Median over the rounds of each round's median.
    pub p50_ms: f64,
    /// The smallest median of a round.
    pub p50_ms_min: f64,
    /// The fastest of all rounds; 0 in results of earlier versions.
    pub least_ms: f64,
    /// Median over the rounds of each round's 99th percentile.
    pub p99_ms: f64,
}

/// An expectation and its result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Verdict {
    /// The phase, or empty for the whole scenario.
    pub phase: String,
    pub expectation: String,
    pub limit: f64,
    /// The measured value; absent if it could not be measured.
    pub measured: Option<f64>,
    pub met: bool,
}

impl RunResult {
    /// Notes how a scenario ended, and whether the expectations of the run so far are met.
    pub fn end_scenario(&mut self, failure: Option<&LoadError>) {
        if let Some(LoadError::Interrupted(place)) = failure {
            self.interrupted = Some(place.clone());
        }
        self.judge();
    }

    /// Whether there is something to report: figures, or a signal that ended the run before there were any.
    pub fn is_reported(&self) -> bool {
        self.interrupted.is_some() || self.scenarios.iter().any(|scenario| !scenario.phases.is_empty())
    }

    /// Sets whether the expectations of the run are met: never as long as a scenario, or a part of one, was not run.
    pub fn judge(&mut self) {
        let is_whole = self.not_run.is_empty() && self.interrupted.is_none();
        self.met = is_whole && self.scenarios.iter().all(ScenarioResult::is_met);
    }
}

impl ScenarioResult {
    /// Whether it was run to its end and met its expectations, if it has some.
    pub fn is_met(&self) -> bool {
        self.ended_early.is_none() && self.verdicts.iter().all(|verdict| verdict.met)
    }
}

impl Operation {
    /// Adds the faults of another run of the same operation.
    pub fn add_faults(&mut self, other: &Self) {
        self.failed += other.failed;
        for (cause, count) in &other.failures {
            *self.failures.entry(cause.clone()).or_default() += count;
        }
        self.unsent += other.unsent;
        self.ended_clients += other.ended_clients;
    }
}

impl ServerUse {
    /// Sets the memory before and after the phase, and raises its maximum to them and to what was seen meanwhile.
    pub fn set_memory(&mut self, before: f64, after: f64, seen: f64) {
        self.rss_mb_peak = self.rss_mb_peak.max(before).max(after).max(seen);
        (self.rss_mb_before, self.rss_mb_after) = (before, after);
    }
}

impl Delivery {
    /// Adds the checks of further receivers of the same messages.
    pub fn add(&mut self, other: &Self) {
        self.receivers += other.receivers;
        self.deliveries += other.deliveries;
        self.add_faults(other);
    }

    /// Everything that was wrong.
    pub fn faults(&self) -> u64 {
        let events =
            self.lost_events + self.duplicate_events + self.out_of_order_events + self.unfetched_events;
        events + self.ended_receivers
    }

    /// Adds the faults that further receivers, or those of another run, found.
    pub fn add_faults(&mut self, other: &Self) {
        self.lost_events += other.lost_events;
        self.duplicate_events += other.duplicate_events;
        self.out_of_order_events += other.out_of_order_events;
        self.unfetched_events += other.unfetched_events;
        self.ended_receivers += other.ended_receivers;
    }
}

impl PhaseResult {
    /// The result of an operation.
    pub fn operation(&self, name: &str) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.name == name)
    }

    /// Requests of fixed rates that could not be sent in time.
    pub fn unsent(&self) -> u64 {
        self.operations.iter().map(|operation| operation.unsent).sum()
    }

    /// All requests without a successful reply.
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
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-9);
        assert!(median(&[]).abs() < 1e-9);
    }

    #[test]
    fn maximum_of_memory_is_below_no_value() {
        let peak = |before, after, seen| {
            let mut used = ServerUse { rss_mb_peak: 20.0, ..ServerUse::default() };
            used.set_memory(before, after, seen);
            assert!((used.rss_mb_before, used.rss_mb_after) == (before, after));
            used.rss_mb_peak
        };
        let peaks = [(30.0, 10.0, 5.0), (10.0, 30.0, 5.0), (10.0, 15.0, 30.0), (1.0, 2.0, 0.0)];
        assert_eq!(peaks.map(|(before, after, seen)| peak(before, after, seen)), [30.0, 30.0, 30.0, 20.0]);
    }
}
