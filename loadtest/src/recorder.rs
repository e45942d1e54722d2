//! Counts and times requests. One recorder per operation is shared by all clients of a phase; its lock is held for some
//! tens of nanoseconds, and the clients run on one or two threads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::outcome::{Latency, Operation, StageResult};
use crate::scenario::Phase;
use crate::scenario::stages::{Quantity, Ramp, Segment};
use crate::units::as_float as float;

/// How long after the end of a phase a reply is still awaited.
const LATE_REPLY_WAIT: Duration = Duration::from_secs(30);
/// Longest measurable time: two minutes.
const MICROS_MAX: u64 = 120_000_000;
/// Maximum of distinct failure names; further failures are counted together.
const FAILURE_NAMES_MAX: usize = 32;
/// Percentiles of the plotted curve.
const CURVE: &[f64] = &[0.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 98.0, 99.0, 99.5, 99.9, 99.99, 100.0];
const SAMPLES_MAX: usize = 20_000;

/// The measured window of a phase. Copied into every client.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub begins: Instant,
    /// Replies before this are warm-up.
    pub measure_from: Instant,
    /// No request starts after this.
    pub stop_at: Instant,
    /// No reply is awaited after this.
    pub replies_until: Instant,
}

impl Window {
    /// The window of a phase that begins now.
    pub fn of(phase: &Phase) -> Self {
        Self::starting_now(phase.warmup_secs, phase.measured_secs())
    }

    /// A window that begins now.
    pub fn starting_now(warmup_secs: f64, secs: f64) -> Self {
        let begins = Instant::now();
        let measure_from = begins + Duration::from_secs_f64(warmup_secs);
        let stop_at = measure_from + Duration::from_secs_f64(secs);
        Self { begins, measure_from, stop_at, replies_until: stop_at + LATE_REPLY_WAIT }
    }
}

/// The common record of one operation by all clients.
#[derive(Debug)]
pub struct Recorder {
    name: &'static str,
    window: Window,
    ramp: Option<Arc<Ramp>>,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    micros: Histogram<u64>,
    bytes: u64,
    /// Replies whose size is known.
    sized: u64,
    failed: u64,
    failures: BTreeMap<String, u64>,
    /// Requests that a schedule had, and that could not be sent before the end.
    unsent: u64,
    /// Clients that ended before the phase.
    ended_clients: u64,
    /// Times and failures of each stage.
    stages: Vec<(Histogram<u64>, u64)>,
    last_finish: Option<Instant>,
    /// Successful replies since the load began, warm-up included.
    total: u64,
    samples: Vec<(f64, u64)>,
}

/// The values of a progress line.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    /// Successful replies so far, warm-up included.
    pub total: u64,
    pub failed: u64,
    /// Absent before the first measured reply, as the next one.
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
}

impl Recorder {
    /// An empty record.
    pub fn new(name: &'static str, window: Window) -> Self {
        Self::staged(name, window, None)
    }

    /// An empty record that also has the figures of each stage.
    pub fn staged(name: &'static str, window: Window, ramp: Option<Arc<Ramp>>) -> Self {
        let stages = ramp.as_ref().map_or(0, |ramp| ramp.segments.len());
        let inner = Inner {
            micros: histogram(),
            unsent: 0,
            ended_clients: 0,
            stages: (0..stages).map(|_| (histogram(), 0)).collect(),
            bytes: 0,
            sized: 0,
            failed: 0,
            failures: BTreeMap::new(),
            last_finish: None,
            total: 0,
            samples: Vec::new(),
        };
        Self { name, window, ramp, inner: Mutex::new(inner) }
    }

    /// Records a successful reply to a request that started (or was due) at `started`, with its size if that is known.
    pub fn record_success(&self, started: Instant, bytes: impl Into<Option<usize>>) {
        let finished = Instant::now();
        let micros =
            u64::try_from(finished.saturating_duration_since(started).as_micros()).unwrap_or(u64::MAX);
        let mut inner = self.lock();
        inner.total += 1;
        // The time of the reply decides: at a rate above capacity, what is sent after the warm-up was due during it.
        if finished < self.window.measure_from {
            return;
        }
        inner.micros.saturating_record(micros.max(1));
        if let Some(stage) = self.stage_at(finished) {
            inner.stages[stage].0.saturating_record(micros.max(1));
        }
        if let Some(bytes) = bytes.into() {
            inner.bytes += bytes as u64;
            inner.sized += 1;
        }
        inner.last_finish = Some(finished);
    }

    /// Records a failed request under the name of its failure, also during the warm-up.
    pub fn record_failure(&self, reason: &str) {
        let stage = self.stage_at(Instant::now());
        let mut inner = self.lock();
        inner.failed += 1;
        if let Some(stage) = stage {
            inner.stages[stage].1 += 1;
        }
        let known = inner.failures.contains_key(reason) || inner.failures.len() < FAILURE_NAMES_MAX;
        *inner.failures.entry(if known { reason } else { "other" }.to_owned()).or_default() += 1;
    }

    /// Counts requests of a schedule that could not be sent in time.
    pub fn record_unsent(&self, count: u64) {
        self.lock().unsent += count;
    }

    /// Counts a client that ended before the phase, because it had failures only.
    pub fn record_ended_client(&self) {
        self.lock().ended_clients += 1;
    }

    /// When each stage that lasts ends, in their order.
    pub fn stage_ends(&self) -> Vec<Instant> {
        let segments = self.ramp.as_ref().map_or(&[][..], |ramp| &ramp.segments);
        let lasting = segments.iter().filter(|segment| segment.secs > 0.0);
        lasting
            .map(|segment| self.window.measure_from + Duration::from_secs_f64(segment.starts + segment.secs))
            .collect()
    }

    /// When no reply is awaited any more.
    pub fn replies_until(&self) -> Instant {
        self.window.replies_until
    }

    fn stage_at(&self, at: Instant) -> Option<usize> {
        let secs = at.saturating_duration_since(self.window.measure_from).as_secs_f64();
        let segments = &self.ramp.as_ref()?.segments;
        segments.iter().position(|segment| secs >= segment.starts && secs < segment.starts + segment.secs)
    }

    /// The current values; also adds a point to the time line.
    pub fn sample(&self) -> Progress {
        let mut inner = self.lock();
        let elapsed = self.window.begins.elapsed().as_secs_f64();
        let total = inner.total;
        if inner.samples.len() < SAMPLES_MAX {
            inner.samples.push((elapsed, total));
        }
        let quantile = |of| (!inner.micros.is_empty()).then(|| millis(inner.micros.value_at_quantile(of)));
        Progress { total, failed: inner.failed, p50_ms: quantile(0.5), p99_ms: quantile(0.99) }
    }

    /// The name of a failure so far other than this one, if there was one.
    pub fn failure_but(&self, other: &str) -> Option<String> {
        self.lock().failures.keys().find(|name| *name != other).cloned()
    }

    /// Successful replies so far, warm-up included.
    pub fn total(&self) -> u64 {
        self.lock().total
    }

    /// The operation's result, and the measured seconds: until the last reply if that came late, or until `ended` if
    /// the work ended early.
    pub fn finish(&self, ended: Instant) -> (Operation, f64) {
        let inner = self.lock();
        let until = inner.last_finish.map_or(ended, |last| last.max(ended.min(self.window.stop_at)));
        let secs = until.saturating_duration_since(self.window.measure_from).as_secs_f64().max(1e-9);
        let completed = inner.micros.len();
        let operation = Operation {
            name: self.name.to_owned(),
            completed,
            failed: inner.failed,
            failures: inner.failures.clone(),
            unsent: inner.unsent,
            ended_clients: inner.ended_clients,
            stages: self.ramp.as_ref().map_or_else(Vec::new, |ramp| summarize_stages(ramp, &inner.stages)),
            requests_per_sec: float(completed) / secs,
            reply_bytes_mean: (inner.sized > 0).then(|| float(inner.bytes) / float(inner.sized)),
            latency: summarize(&inner.micros),
            curve: curve(&inner.micros),
            timeline: rates(&inner.samples),
        };
        (operation, secs)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic while counting leaves at most one request uncounted.
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, MICROS_MAX, 3).expect("constant bounds are valid")
}

fn summarize_stages(ramp: &Ramp, stages: &[(Histogram<u64>, u64)]) -> Vec<StageResult> {
    let of = match ramp.quantity {
        Quantity::Clients => "clients",
        Quantity::Rate => "requests per second",
    };
    let result = |(segment, (micros, failed)): (&Segment, &(Histogram<u64>, u64))| StageResult {
        of: of.to_owned(),
        secs: segment.secs,
        from: segment.from,
        to: segment.to,
        completed: micros.len(),
        failed: *failed,
        requests_per_sec: float(micros.len()) / segment.secs.max(1e-9),
        latency: summarize(micros),
    };
    let all = ramp.segments.iter().zip(stages).filter(|(segment, _)| segment.secs > 0.0);
    all.map(result).collect()
}

/// The points of the plotted curve; none without a measured time.
fn curve(micros: &Histogram<u64>) -> Vec<(f64, f64)> {
    let percentiles = if micros.is_empty() { &[] } else { CURVE };
    percentiles.iter().map(|p| (*p, millis(micros.value_at_percentile(*p)))).collect()
}

/// The percentiles; none without a measured time.
fn summarize(micros: &Histogram<u64>) -> Option<Latency> {
    (!micros.is_empty()).then(|| Latency {
        mean_ms: micros.mean() / 1000.0,
        p50_ms: millis(micros.value_at_quantile(0.5)),
        p90_ms: millis(micros.value_at_quantile(0.9)),
        p95_ms: millis(micros.value_at_quantile(0.95)),
        p99_ms: millis(micros.value_at_quantile(0.99)),
        p999_ms: millis(micros.value_at_quantile(0.999)),
        max_ms: millis(micros.max()),
    })
}

/// Rates between adjacent samples, each at the time of the later one.
fn rates(samples: &[(f64, u64)]) -> Vec<(f64, f64)> {
    samples
        .windows(2)
        .filter(|pair| pair[1].0 > pair[0].0)
        .map(|pair| (pair[1].0, float(pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0)))
        .collect()
}

fn millis(micros: u64) -> f64 {
    float(micros) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_replies_and_failures_are_counted_apart() {
        let window = Window::starting_now(0.0, 1.0);
        let recorder = Recorder::new("get", window);
        for _ in 0..99 {
            recorder.record_success(Instant::now(), 100);
        }
        recorder.record_success(
            Instant::now().checked_sub(Duration::from_millis(50)).unwrap().max(window.measure_from),
            100,
        );
        recorder.record_failure("429 RATE_LIMIT_HIT");
        let (operation, secs) = recorder.finish(window.stop_at);
        assert_eq!((operation.completed, operation.failed), (100, 1));
        assert_eq!(operation.failures["429 RATE_LIMIT_HIT"], 1);
        assert!((operation.reply_bytes_mean.unwrap() - 100.0).abs() < 1e-9);
        assert!((secs - 1.0).abs() < 1e-6, "{secs}");
    }

    #[test]
    fn warm_up_is_not_measured_but_its_failures_are() {
        let window = Window::starting_now(10.0, 1.0);
        let recorder = Recorder::new("get", window);
        recorder.record_success(Instant::now(), 1);
        recorder.record_failure("closed");
        let (operation, _) = recorder.finish(Instant::now());
        assert_eq!((operation.completed, operation.failed), (0, 1));
        assert_eq!(recorder.total(), 1);
    }

    #[test]
    fn replies_of_unknown_size_have_no_mean_size() {
        let window = Window::starting_now(0.0, 1.0);
        let recorder = Recorder::new("login", window);
        recorder.record_success(Instant::now(), None);
        let (operation, _) = recorder.finish(window.stop_at);
        assert_eq!((operation.completed, operation.reply_bytes_mean), (1, None));
    }

    #[test]
    fn failures_alone_have_no_latency() {
        let window = Window::starting_now(0.0, 1.0);
        let recorder = Recorder::new("get", window);
        recorder.record_failure("429 RATE_LIMIT_HIT");
        let progress = recorder.sample();
        assert_eq!((progress.p50_ms, progress.p99_ms), (None, None));
        let (operation, _) = recorder.finish(window.stop_at);
        let json = serde_json::to_value(&operation).unwrap();
        assert!(json["latency"].is_null() && json["reply_bytes_mean"].is_null(), "{json}");
        assert!(operation.curve.is_empty(), "{json}");
    }

    #[test]
    fn distinct_failures_are_bounded() {
        let recorder = Recorder::new("get", Window::starting_now(0.0, 1.0));
        for number in 0..1000 {
            recorder.record_failure(&format!("failure {number}"));
        }
        let (operation, _) = recorder.finish(Instant::now());
        assert_eq!(operation.failures.len(), FAILURE_NAMES_MAX + 1);
        assert_eq!(operation.failures["other"], 1000 - 32);
    }
}
