//! The figures of a phase as a flat list, which the tables of the page, comparisons, CSV and Prometheus text are made of.

use crate::outcome::{Latency, PhaseResult, RunResult, ScenarioResult};
use crate::units::as_float;

/// The unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Count,
    PerSec,
    Millis,
    Micros,
    Bytes,
    Megabytes,
    MegabytesPerMin,
    Ratio,
}

impl Unit {
    /// As it is written after a number.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::Count => "",
            Unit::PerSec => "/s",
            Unit::Millis => "ms",
            Unit::Micros => "µs",
            Unit::Bytes => "B",
            Unit::Megabytes => "MB",
            Unit::MegabytesPerMin => "MB/min",
            Unit::Ratio => "×",
        }
    }
}

/// What a figure is about: its name, unit and meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    pub name: &'static str,
    pub unit: Unit,
    /// A sentence about it.
    pub help: &'static str,
}

impl Kind {
    const fn new(name: &'static str, unit: Unit, help: &'static str) -> Self {
        Self { name, unit, help }
    }
}

const MEAN_RATE: Kind =
    Kind::new("mean_rate", Unit::PerSec, "Successful replies per second, over the measured time.");
const P50: Kind = Kind::new(
    "p50",
    Unit::Millis,
    "Median time until the complete reply; of receipts, from send to receipt.",
);
const P90: Kind = Kind::new("p90", Unit::Millis, "90th percentile of that time.");
const P95: Kind = Kind::new("p95", Unit::Millis, "95th percentile of that time.");
const P99: Kind = Kind::new("p99", Unit::Millis, "99th percentile of that time.");
const P999: Kind = Kind::new("p999", Unit::Millis, "99.9th percentile of that time.");
const MAX: Kind = Kind::new("max", Unit::Millis, "The longest such time.");
const REPLY_BYTES: Kind =
    Kind::new("reply_bytes_mean", Unit::Bytes, "Mean size of a successful reply, in bytes.");
const COMPLETED: Kind = Kind::new("completed", Unit::Count, "Successful replies.");
const FAILED: Kind = Kind::new("failed", Unit::Count, "Requests without a successful reply.");
const UNSENT: Kind = Kind::new(
    "unsent",
    Unit::Count,
    "Requests of a set rate that were due and could not be sent before the end.",
);
const SERVER_CPU: Kind =
    Kind::new("server_cpu_per_request", Unit::Micros, "CPU time of the server for each request.");
const BARE_CPU: Kind =
    Kind::new("bare_server_cpu_per_request", Unit::Micros, "CPU time of the bare server for each request.");
const CPU_OVER_BARE: Kind = Kind::new(
    "server_cpu_over_bare",
    Unit::Ratio,
    "CPU time of the server for each request over that of the bare server.",
);
const RATE_OVER_BARE: Kind =
    Kind::new("rate_over_bare", Unit::Ratio, "Mean rate over that of the bare server with as many clients.");
const BARE_CLIENTS: Kind = Kind::new("bare_clients", Unit::Count, "Clients of the bare server.");
const CLIENT_CPU: Kind =
    Kind::new("client_cpu_per_request", Unit::Micros, "CPU time of the load generator for each request.");
const MEMORY_BEFORE: Kind =
    Kind::new("memory_before", Unit::Megabytes, "Resident memory of the server before the phase.");
const MEMORY_PEAK: Kind =
    Kind::new("memory_peak", Unit::Megabytes, "Maximum of resident memory of the server.");
const MEMORY_AFTER: Kind =
    Kind::new("memory_after", Unit::Megabytes, "Resident memory of the server after the phase.");
const MEMORY_GROWTH: Kind = Kind::new(
    "memory_growth",
    Unit::MegabytesPerMin,
    "Growth of resident memory of the server in the second half of the phase.",
);
const DELIVERIES: Kind =
    Kind::new("deliveries", Unit::Count, "Messages that event receivers got, each receiver counted.");
const LOST_EVENTS: Kind =
    Kind::new("lost_events", Unit::Count, "Acknowledged messages that a receiver did not get.");
const DUPLICATE_EVENTS: Kind =
    Kind::new("duplicate_events", Unit::Count, "Events that a receiver got twice.");
const OUT_OF_ORDER_EVENTS: Kind =
    Kind::new("out_of_order_events", Unit::Count, "Events that a receiver got after a later one.");
const UNFETCHED_EVENTS: Kind = Kind::new(
    "unfetched_events",
    Unit::Count,
    "Acknowledged messages that a receiver could not fetch, because the server limited its polls until the end.",
);
const ENDED_RECEIVERS: Kind =
    Kind::new("ended_receivers", Unit::Count, "Receivers that ended before the phase.");
const POLL_MEMORY: Kind = Kind::new(
    "memory_of_a_poll",
    Unit::Bytes,
    "Growth of resident memory of the server for each held poll, in bytes.",
);
const BARE_POLL_MEMORY: Kind = Kind::new(
    "bare_memory_of_a_poll",
    Unit::Bytes,
    "Growth of resident memory of the bare server for each held request, in bytes.",
);
const LAST_RECEIPT: Kind =
    Kind::new("last_receipt", Unit::Millis, "Time from sending one message until the last held poll has it.");
const START: Kind = Kind::new("start", Unit::Millis, "Time from exec to the first response, median.");
const START_MEMORY: Kind = Kind::new(
    "memory_at_start",
    Unit::Megabytes,
    "Resident memory of the server at its first response, median.",
);
const RUN_MET: Kind = Kind::new(
    "run_met",
    Unit::Count,
    "1 if every scenario was run to its end and met its expectations, otherwise 0.",
);
const RUN_INTERRUPTED: Kind =
    Kind::new("run_interrupted", Unit::Count, "1 if a signal ended the run, otherwise 0.");
const RUN_NOT_RUN: Kind =
    Kind::new("run_scenarios_not_run", Unit::Count, "Scenarios of the run that were not run.");
const SCENARIO_MET: Kind = Kind::new(
    "scenario_met",
    Unit::Count,
    "1 if the scenario was run to its end and met its expectations, otherwise 0.",
);
const SCENARIO_ENDED_EARLY: Kind =
    Kind::new("scenario_ended_early", Unit::Count, "1 if the scenario ended early, otherwise 0.");

/// A measured value.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The operation, or empty for the whole phase.
    pub operation: String,
    /// The stage by its number from 1; 0 for all of the phase.
    pub stage: usize,
    pub kind: Kind,
    /// Absent if it could not be measured.
    pub value: Option<f64>,
}

impl Figure {
    /// One that is of no operation and no stage.
    fn whole(kind: Kind, value: Option<f64>) -> Self {
        Self { operation: String::new(), stage: 0, kind, value }
    }
}

/// How a run ended. Whether expectations are met is absent if there are none, and it ended well.
pub fn of_run(run: &RunResult) -> Vec<Figure> {
    let has_verdicts = run.scenarios.iter().any(|scenario| !scenario.verdicts.is_empty());
    let met = (has_verdicts || !run.met).then(|| flag(run.met));
    vec![
        Figure::whole(RUN_MET, met),
        Figure::whole(RUN_INTERRUPTED, Some(flag(run.interrupted.is_some()))),
        Figure::whole(RUN_NOT_RUN, Some(as_float(run.not_run.len() as u64))),
    ]
}

/// How a scenario ended.
pub fn of_scenario(scenario: &ScenarioResult) -> Vec<Figure> {
    let met = (!scenario.verdicts.is_empty() || !scenario.is_met()).then(|| flag(scenario.is_met()));
    vec![
        Figure::whole(SCENARIO_MET, met),
        Figure::whole(SCENARIO_ENDED_EARLY, Some(flag(scenario.ended_early.is_some()))),
    ]
}

fn flag(is_set: bool) -> f64 {
    if is_set { 1.0 } else { 0.0 }
}

/// All figures of a phase, those of operations first.
pub fn figures(phase: &PhaseResult) -> Vec<Figure> {
    let mut found = Vec::new();
    for operation in &phase.operations {
        let mut put = |stage, kind, value| {
            found.push(Figure { operation: operation.name.clone(), stage, kind, value });
        };
        put(0, MEAN_RATE, Some(operation.requests_per_sec));
        put_latency(&mut put, 0, operation.latency);
        put(0, REPLY_BYTES, operation.reply_bytes_mean);
        put(0, COMPLETED, Some(as_float(operation.completed)));
        put(0, FAILED, Some(as_float(operation.failed)));
        put(0, UNSENT, Some(as_float(operation.unsent)));
        for (number, stage) in (1..).zip(&operation.stages) {
            put(number, MEAN_RATE, Some(stage.requests_per_sec));
            put_latency(&mut put, number, stage.latency);
            put(number, COMPLETED, Some(as_float(stage.completed)));
            put(number, FAILED, Some(as_float(stage.failed)));
        }
    }
    found.extend(of_processes(phase).into_iter().chain(of_stages(phase)).chain(of_checks(phase)));
    found
}

fn put_latency(put: &mut impl FnMut(usize, Kind, Option<f64>), stage: usize, latency: Option<Latency>) {
    let mut put = |kind, of: fn(Latency) -> f64| put(stage, kind, latency.map(of));
    put(P50, |latency| latency.p50_ms);
    put(P90, |latency| latency.p90_ms);
    put(P95, |latency| latency.p95_ms);
    put(P99, |latency| latency.p99_ms);
    put(P999, |latency| latency.p999_ms);
    put(MAX, |latency| latency.max_ms);
}

/// CPU time for each request and memory.
fn of_processes(phase: &PhaseResult) -> Vec<Figure> {
    let mut found = Vec::new();
    let mut put = |kind, value| found.push(Figure::whole(kind, value));
    if let Some(server) = phase.server {
        put(SERVER_CPU, server.cpu_us_per_request);
    }
    if let Some(share) = &phase.baseline {
        put(BARE_CPU, Some(share.server_cpu_us_per_request));
        put(BARE_CLIENTS, Some(f64::from(share.clients)));
        if phase.server.is_some() {
            put(CPU_OVER_BARE, share.cpu_ratio);
        }
        if share.rate_ratio.is_some() {
            put(RATE_OVER_BARE, share.rate_ratio);
        }
    }
    if !phase.operations.is_empty() {
        put(CLIENT_CPU, phase.client_cpu_us_per_request);
    }
    if let Some(server) = phase.server {
        put(MEMORY_BEFORE, Some(server.rss_mb_before));
        put(MEMORY_PEAK, Some(server.rss_mb_peak));
        put(MEMORY_AFTER, Some(server.rss_mb_after));
    }
    if phase.rss_mb_per_min.is_some() {
        put(MEMORY_GROWTH, phase.rss_mb_per_min);
    }
    found
}

/// CPU time for each request of a stage.
fn of_stages(phase: &PhaseResult) -> Vec<Figure> {
    let mut found = Vec::new();
    for (stage, used) in (1..).zip(&phase.stages) {
        let share = used.baseline.as_ref();
        let values = [
            (SERVER_CPU, used.server_cpu_us_per_request),
            (BARE_CPU, share.map(|share| share.server_cpu_us_per_request)),
            (BARE_CLIENTS, share.map(|share| f64::from(share.clients))),
            (CPU_OVER_BARE, share.and_then(|share| share.cpu_ratio)),
            (CLIENT_CPU, used.client_cpu_us_per_request),
        ];
        found.extend(values.map(|(kind, value)| Figure { stage, ..Figure::whole(kind, value) }));
    }
    found
}

fn of_checks(phase: &PhaseResult) -> Vec<Figure> {
    let mut found = Vec::new();
    let mut put = |kind, value| found.push(Figure::whole(kind, value));
    if let Some(delivery) = phase.delivery {
        put(DELIVERIES, Some(as_float(delivery.deliveries)));
        put(LOST_EVENTS, Some(as_float(delivery.lost_events)));
        put(DUPLICATE_EVENTS, Some(as_float(delivery.duplicate_events)));
        put(OUT_OF_ORDER_EVENTS, Some(as_float(delivery.out_of_order_events)));
        put(UNFETCHED_EVENTS, Some(as_float(delivery.unfetched_events)));
        put(ENDED_RECEIVERS, Some(as_float(delivery.ended_receivers)));
    }
    if let Some(idle) = phase.idle {
        put(POLL_MEMORY, idle.bytes_per_poll);
        if idle.bare_bytes_per_connection.is_some() {
            put(BARE_POLL_MEMORY, idle.bare_bytes_per_connection);
        }
        put(LAST_RECEIPT, idle.last_receipt_ms);
    }
    if let Some(start) = &phase.start {
        put(START, Some(start.start_ms));
        put(START_MEMORY, start.rss_mb);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn figures_have_operations_processes_and_checks() {
        let run = sample::run_result();
        let all = figures(&run.scenarios[0].phases[0]);
        let value = |operation: &str, name: &str| {
            all.iter()
                .find(|one| one.operation == operation && one.stage == 0 && one.kind.name == name)
                .unwrap()
                .value
                .unwrap()
        };
        assert!((value("send", "mean_rate") - 25_000.0).abs() < 1e-9);
        assert!((value("send", "p95") - 5.0).abs() < 1e-9);
        assert!((value("", "server_cpu_per_request") - 31.0).abs() < 1e-9);
        assert!((value("", "server_cpu_over_bare") - 5.0).abs() < 1e-9);
        assert!(all.iter().any(|one| one.stage == 2 && one.kind.name == "p95"));
        let of_stage =
            |name: &str| all.iter().find(|one| one.stage == 1 && one.kind.name == name).unwrap().value;
        assert_eq!(
            (of_stage("server_cpu_per_request"), of_stage("completed")),
            (Some(40.0), Some(240_000.0))
        );
        assert_eq!((of_stage("bare_clients"), of_stage("server_cpu_over_bare")), (Some(1.0), Some(5.0)));
    }

    #[test]
    fn each_fault_of_delivery_has_its_own_figure() {
        let mut phase = sample::run_result().scenarios.swap_remove(0).phases.swap_remove(0);
        let delivery = phase.delivery.as_mut().unwrap();
        (delivery.lost_events, delivery.duplicate_events) = (1, 2);
        (delivery.out_of_order_events, delivery.unfetched_events) = (3, 4);
        let all = figures(&phase);
        let value = |name: &str| all.iter().find(|one| one.kind.name == name).and_then(|one| one.value);
        let names = ["lost_events", "duplicate_events", "out_of_order_events", "unfetched_events"];
        assert_eq!(names.map(value), [Some(1.0), Some(2.0), Some(3.0), Some(4.0)]);
    }

    #[test]
    fn failures_alone_have_no_times_and_reused_memory_no_size() {
        let mut run = sample::run_result();
        sample::fail_all(&mut run);
        let all = figures(&run.scenarios[0].phases[0]);
        let value =
            |name: &str| all.iter().find(|one| one.stage == 0 && one.kind.name == name).map(|one| one.value);
        for name in ["p50", "p999", "reply_bytes_mean", "client_cpu_per_request", "server_cpu_over_bare"] {
            assert_eq!(value(name), Some(None), "{name}");
        }
        assert_eq!(value("memory_of_a_poll"), Some(None));
        assert_eq!(value("failed"), Some(Some(1.0)));
    }
}
