//! Expectations: the limits of a scenario, and the resulting verdicts. An expectation whose value could not be measured
//! is missed, never skipped; only a run that is asked not to measure the bare server and the disk has none that compare with them.

use serde::Deserialize;

use crate::outcome::{Baselines, Operation, PhaseResult, Verdict};
use crate::scenario::background::BackgroundPlan;
use crate::units::as_float as count;

/// Limits on the measurements of a phase. Absent limits are not checked, except those that default to 0.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Successful replies of the first operation per second.
    pub requests_per_sec_min: Option<f64>,
    /// That rate, divided by the bare actix-web server's in the same run (GET or POST, like the step) with as many clients. Not
    /// measured where a rate is set, or where the clients do two operations in turn.
    pub ratio_to_baseline_min: Option<f64>,
    /// Median time of the first operation, in ms.
    pub p50_ms_max: Option<f64>,
    /// 95th percentile of the first operation, in ms.
    pub p95_ms_max: Option<f64>,
    /// 99th percentile of the first operation (`receipt` in a fanout), in ms.
    pub p99_ms_max: Option<f64>,
    /// 99th percentile from send to receipt in ms, in a phase where it is not the first operation.
    pub receipt_p99_ms_max: Option<f64>,
    /// Longest call of the background work, in ms.
    pub background_ms_max: Option<f64>,
    /// 99th percentile of sends during background work, divided by that of the phase before.
    pub p99_ratio_max: Option<f64>,
    /// Median of the first operation less the median of overwriting and fdatasync in the same run, in ms.
    pub p50_ms_max_over_fdatasync: Option<f64>,
    /// Mean size of a reply in bytes, so that fast but incomplete responses do not pass.
    pub reply_bytes_min: Option<f64>,
    /// Server memory of a held poll with its connection and queue, in bytes.
    pub bytes_per_poll_max: Option<f64>,
    /// From sending one message until the last held poll has it, in ms.
    pub last_receipt_ms_max: Option<f64>,
    /// From exec to the first response, in ms.
    pub start_ms_max: Option<f64>,
    /// Resident memory of the server after the phase, in MB.
    pub rss_mb_max: Option<f64>,
    /// The maximum of resident memory in the phase less that before the first phase, in MB.
    pub rss_growth_mb_max: Option<f64>,
    /// CPU time of the server for each request, divided by the bare server's in the same run (GET or POST, like the step).
    pub cpu_ratio_max: Option<f64>,
    /// The largest such CPU time of any phase over the smallest, less 1.
    pub cpu_spread_max: Option<f64>,
    /// Growth of resident memory in the second half of the phase, in MB a minute.
    pub rss_mb_per_min_max: Option<f64>,
    /// For each of `count_metrics`: the largest change per message of any phase over the smallest, less 1.
    pub writes_per_send_spread_max: Option<f64>,
    /// Requests without a successful reply. Default 0.
    #[serde(default)]
    pub errors_max: u64,
    /// Requests of a fixed rate that could not be sent before the end. Default 0.
    #[serde(default)]
    pub unsent_max: u64,
    /// Acknowledged messages that a receiver did not get. Default 0.
    #[serde(default)]
    pub lost_events_max: u64,
    /// Events that a receiver got twice. Default 0.
    #[serde(default, alias = "doubled_events_max")]
    pub duplicate_events_max: u64,
    /// Events that a receiver got after a later one. Default 0.
    #[serde(default)]
    pub out_of_order_events_max: u64,
    /// Acknowledged messages that a receiver could not fetch, because the server limited the rate of its polls until the end. Default 0.
    #[serde(default)]
    pub unfetched_events_max: u64,
}

impl Expect {
    /// Fails for a limit below 0, which is none. An error begins with the name of the field.
    pub fn check(&self) -> Result<(), String> {
        let limits = [
            ("requests_per_sec_min", self.requests_per_sec_min),
            ("ratio_to_baseline_min", self.ratio_to_baseline_min),
            ("p50_ms_max", self.p50_ms_max),
            ("p95_ms_max", self.p95_ms_max),
            ("p99_ms_max", self.p99_ms_max),
            ("receipt_p99_ms_max", self.receipt_p99_ms_max),
            ("background_ms_max", self.background_ms_max),
            ("p99_ratio_max", self.p99_ratio_max),
            ("p50_ms_max_over_fdatasync", self.p50_ms_max_over_fdatasync),
            ("reply_bytes_min", self.reply_bytes_min),
            ("bytes_per_poll_max", self.bytes_per_poll_max),
            ("last_receipt_ms_max", self.last_receipt_ms_max),
            ("start_ms_max", self.start_ms_max),
            ("rss_mb_max", self.rss_mb_max),
            ("rss_growth_mb_max", self.rss_growth_mb_max),
            ("cpu_ratio_max", self.cpu_ratio_max),
            ("cpu_spread_max", self.cpu_spread_max),
            ("rss_mb_per_min_max", self.rss_mb_per_min_max),
            ("writes_per_send_spread_max", self.writes_per_send_spread_max),
        ];
        let negative =
            limits.iter().find_map(|(name, limit)| Some((name, limit.filter(|limit| *limit < 0.0)?)));
        match negative {
            Some((name, limit)) => Err(format!("{name} is {limit}, and a limit is 0 or more")),
            None => Ok(()),
        }
    }

    /// Removes the limits that compare with the bare server or with the disk, for a run without these.
    pub fn drop_baselines(&mut self) {
        (self.ratio_to_baseline_min, self.cpu_ratio_max, self.p50_ms_max_over_fdatasync) = (None, None, None);
    }

    /// Evaluates all phases of a scenario.
    pub fn judge(&self, phases: &[PhaseResult], baselines: &Baselines) -> Vec<Verdict> {
        let mut verdicts = self.judge_each(phases, baselines);
        match phases {
            // A phase alone has none before it to be compared with, and its background work counts.
            [only] => self.judge_background(None, only, &mut verdicts),
            _ => {
                for pair in phases.windows(2) {
                    self.judge_background(Some(&pair[0]), &pair[1], &mut verdicts);
                }
            }
        }
        self.judge_spreads(phases, &mut verdicts);
        verdicts
    }

    /// Evaluates one phase, with the one before it in the scenario.
    pub fn judge_one(
        &self,
        before: Option<&PhaseResult>,
        phase: &PhaseResult,
        baselines: &Baselines,
    ) -> Vec<Verdict> {
        let phases = std::slice::from_ref(phase);
        let mut verdicts = self.judge_each(phases, baselines);
        self.judge_background(before, phase, &mut verdicts);
        self.judge_spreads(phases, &mut verdicts);
        verdicts
    }

    fn judge_each(&self, phases: &[PhaseResult], baselines: &Baselines) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        for phase in phases {
            self.judge_rates(phase, baselines, &mut verdicts);
            self.judge_memory(phase, &mut verdicts);
            let idle = phases.first().and_then(|first| first.server).map(|server| server.rss_mb_before);
            let peak = phase.server.map(|server| server.rss_mb_peak);
            let growth = idle.zip(peak).map(|(idle, peak)| peak - idle);
            push(&mut verdicts, phase, "rss_growth_mb_max", self.rss_growth_mb_max, growth, Bound::AtMost);
            self.judge_correctness(phase, &mut verdicts);
        }
        verdicts
    }

    fn judge_spreads(&self, phases: &[PhaseResult], verdicts: &mut Vec<Verdict>) {
        if let Some(limit) = self.writes_per_send_spread_max {
            judge_spread(phases, limit, verdicts);
        }
        if let Some(limit) = self.cpu_spread_max {
            judge_cpu_spread(phases, limit, verdicts);
        }
    }

    fn judge_rates(&self, phase: &PhaseResult, baselines: &Baselines, verdicts: &mut Vec<Verdict>) {
        let first = phase.operations.first().filter(|operation| operation.completed > 0);
        let rate = first.map(|operation| operation.requests_per_sec);
        let latency = first.and_then(|operation| operation.latency);
        let p50 = latency.map(|latency| latency.p50_ms);
        let p95 = latency.map(|latency| latency.p95_ms);
        let p99 = latency.map(|latency| latency.p99_ms);
        let receipt = phase.operation("receipt").filter(|operation| operation.completed > 0);
        let over_disk = match (p50, &baselines.overwrite) {
            (Some(p50), Some(disk)) => Some(p50 - disk.p50_ms),
            _ => None,
        };
        let bytes = first.and_then(|operation| operation.reply_bytes_mean);
        let mut put = |name, limit, measured, bound| push(verdicts, phase, name, limit, measured, bound);
        put("requests_per_sec_min", self.requests_per_sec_min, rate, Bound::AtLeast);
        put(
            "ratio_to_baseline_min",
            self.ratio_to_baseline_min,
            phase.baseline.as_ref().and_then(|share| share.rate_ratio),
            Bound::AtLeast,
        );
        put("p50_ms_max", self.p50_ms_max, p50, Bound::AtMost);
        put("p95_ms_max", self.p95_ms_max, p95, Bound::AtMost);
        put("p99_ms_max", self.p99_ms_max, p99, Bound::AtMost);
        let cpu_ratio = phase.baseline.as_ref().and_then(|share| share.cpu_ratio);
        put("cpu_ratio_max", self.cpu_ratio_max, cpu_ratio, Bound::AtMost);
        let receipt_p99 = receipt.and_then(|operation| Some(operation.latency?.p99_ms));
        put("receipt_p99_ms_max", self.receipt_p99_ms_max, receipt_p99, Bound::AtMost);
        put("p50_ms_max_over_fdatasync", self.p50_ms_max_over_fdatasync, over_disk, Bound::AtMost);
        put("reply_bytes_min", self.reply_bytes_min, bytes, Bound::AtLeast);
    }

    /// The time of the background work, and its effect on sends compared with the phase before.
    fn judge_background(
        &self,
        before: Option<&PhaseResult>,
        phase: &PhaseResult,
        verdicts: &mut Vec<Verdict>,
    ) {
        let is_done = |operation: &&Operation| {
            BackgroundPlan::NAMES.contains(&operation.name.as_str()) && operation.completed > 0
        };
        let background = phase.operations.iter().skip(1).find(is_done);
        let longest = background.and_then(|operation| Some(operation.latency?.max_ms));
        push(verdicts, phase, "background_ms_max", self.background_ms_max, longest, Bound::AtMost);
        let ratio = before.and_then(|before| p99_ratio(before, phase));
        push(verdicts, phase, "p99_ratio_max", self.p99_ratio_max, ratio, Bound::AtMost);
    }

    fn judge_memory(&self, phase: &PhaseResult, verdicts: &mut Vec<Verdict>) {
        let per_poll = phase.idle.and_then(|idle| idle.bytes_per_poll);
        let last = phase.idle.and_then(|idle| idle.last_receipt_ms);
        let start = phase.start.as_ref().map(|start| start.start_ms);
        let rss = match &phase.start {
            Some(start) => start.rss_mb,
            None => phase.server.map(|server| server.rss_mb_after),
        };
        let mut put = |name, limit, measured, bound| push(verdicts, phase, name, limit, measured, bound);
        put("bytes_per_poll_max", self.bytes_per_poll_max, per_poll, Bound::AtMost);
        put("last_receipt_ms_max", self.last_receipt_ms_max, last, Bound::AtMost);
        put("start_ms_max", self.start_ms_max, start, Bound::AtMost);
        put("rss_mb_max", self.rss_mb_max, rss, Bound::AtMost);
        put("rss_mb_per_min_max", self.rss_mb_per_min_max, phase.rss_mb_per_min, Bound::AtMost);
    }

    fn judge_correctness(&self, phase: &PhaseResult, verdicts: &mut Vec<Verdict>) {
        let mut put = |name, limit: u64, measured: u64| {
            push(verdicts, phase, name, Some(count(limit)), Some(count(measured)), Bound::AtMost)
        };
        put("errors_max", self.errors_max, phase.failed());
        if phase.unsent() > 0 {
            put("unsent_max", self.unsent_max, phase.unsent());
        }
        if let Some(delivery) = phase.delivery {
            put("lost_events_max", self.lost_events_max, delivery.lost_events);
            put("duplicate_events_max", self.duplicate_events_max, delivery.duplicate_events);
            put("out_of_order_events_max", self.out_of_order_events_max, delivery.out_of_order_events);
            put("unfetched_events_max", self.unfetched_events_max, delivery.unfetched_events);
        }
    }
}

/// The 99th percentile of a phase's first operation, divided by that of the phase before; none without any reply.
fn p99_ratio(before: &PhaseResult, phase: &PhaseResult) -> Option<f64> {
    let p99 = |phase: &PhaseResult| {
        let first = phase.operations.first().filter(|operation| operation.completed > 0)?;
        Some(first.latency?.p99_ms)
    };
    let (before, now) = (p99(before)?, p99(phase)?);
    (before > 0.0).then(|| now / before)
}

/// Whether a limit is a minimum or a maximum.
#[derive(Clone, Copy)]
enum Bound {
    AtLeast,
    AtMost,
}

fn push(
    verdicts: &mut Vec<Verdict>,
    phase: &PhaseResult,
    expectation: &str,
    limit: Option<f64>,
    measured: Option<f64>,
    bound: Bound,
) {
    let Some(limit) = limit else { return };
    let met = match (measured, bound) {
        (None, _) => false,
        (Some(measured), Bound::AtLeast) => measured >= limit,
        (Some(measured), Bound::AtMost) => measured <= limit,
    };
    verdicts.push(Verdict {
        phase: phase.name.clone(),
        expectation: expectation.to_owned(),
        limit,
        measured,
        met,
    });
}

fn judge_spread(phases: &[PhaseResult], limit: f64, verdicts: &mut Vec<Verdict>) {
    let names: Vec<&String> = phases.first().map(|phase| phase.counters.keys().collect()).unwrap_or_default();
    if names.is_empty() {
        let expectation = "writes_per_send_spread_max".to_owned();
        verdicts.push(Verdict { phase: String::new(), expectation, limit, measured: None, met: false });
    }
    for name in names {
        let values: Vec<f64> = phases
            .iter()
            .filter_map(|phase| phase.counters.get(name))
            .filter_map(|change| change.per_message)
            .collect();
        let most = values.iter().copied().fold(f64::MIN, f64::max);
        let least = values.iter().copied().fold(f64::MAX, f64::min);
        // A counter that never changes is not evidence about writes.
        let measured = (least > 0.0 && values.len() == phases.len()).then(|| most / least - 1.0);
        verdicts.push(Verdict {
            phase: String::new(),
            expectation: format!("writes_per_send_spread_max ({name})"),
            limit,
            measured,
            met: measured.is_some_and(|spread| spread <= limit),
        });
    }
}

/// Compares the server's CPU time for each request between all phases.
fn judge_cpu_spread(phases: &[PhaseResult], limit: f64, verdicts: &mut Vec<Verdict>) {
    let values: Vec<f64> = phases.iter().filter_map(|phase| phase.server?.cpu_us_per_request).collect();
    let most = values.iter().copied().fold(f64::MIN, f64::max);
    let least = values.iter().copied().fold(f64::MAX, f64::min);
    let measured = (least > 0.0 && values.len() == phases.len()).then(|| most / least - 1.0);
    verdicts.push(Verdict {
        phase: String::new(),
        expectation: "cpu_spread_max".to_owned(),
        limit,
        measured,
        met: measured.is_some_and(|spread| spread <= limit),
    });
}

#[cfg(test)]
mod tests;
