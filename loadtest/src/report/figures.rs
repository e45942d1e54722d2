//! The figures of a phase as a flat list, which the tables of the page, comparisons, CSV and Prometheus text are made of.

use crate::outcome::{Latency, PhaseResult};
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

/// A measured value.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The operation, or empty for the whole phase.
    pub operation: String,
    /// The stage by its number from 1; 0 for all of the phase.
    pub stage: usize,
    pub name: &'static str,
    pub unit: Unit,
    /// Absent if it could not be measured.
    pub value: Option<f64>,
}

/// All figures of a phase, those of operations first.
pub fn figures(phase: &PhaseResult) -> Vec<Figure> {
    let mut found = Vec::new();
    for operation in &phase.operations {
        let mut put = |stage, name, unit, value| {
            found.push(Figure { operation: operation.name.clone(), stage, name, unit, value });
        };
        put(0, "mean_rate", Unit::PerSec, Some(operation.requests_per_sec));
        put_latency(&mut put, 0, operation.latency);
        put(0, "reply_bytes_mean", Unit::Bytes, operation.reply_bytes_mean);
        put(0, "completed", Unit::Count, Some(as_float(operation.completed)));
        put(0, "failed", Unit::Count, Some(as_float(operation.failed)));
        put(0, "unsent", Unit::Count, Some(as_float(operation.unsent)));
        for (number, stage) in (1..).zip(&operation.stages) {
            put(number, "mean_rate", Unit::PerSec, Some(stage.requests_per_sec));
            put_latency(&mut put, number, stage.latency);
            put(number, "failed", Unit::Count, Some(as_float(stage.failed)));
        }
    }
    found.extend(of_processes(phase).into_iter().chain(of_checks(phase)));
    found
}

fn put_latency(
    put: &mut impl FnMut(usize, &'static str, Unit, Option<f64>),
    stage: usize,
    latency: Option<Latency>,
) {
    let mut put = |name, of: fn(Latency) -> f64| put(stage, name, Unit::Millis, latency.map(of));
    put("p50", |latency| latency.p50_ms);
    put("p90", |latency| latency.p90_ms);
    put("p95", |latency| latency.p95_ms);
    put("p99", |latency| latency.p99_ms);
    put("p999", |latency| latency.p999_ms);
    put("max", |latency| latency.max_ms);
}

fn of_phase(name: &'static str, unit: Unit, value: Option<f64>) -> Figure {
    Figure { operation: String::new(), stage: 0, name, unit, value }
}

/// CPU time for each request and memory.
fn of_processes(phase: &PhaseResult) -> Vec<Figure> {
    let mut found = Vec::new();
    if let Some(server) = phase.server {
        found.push(of_phase("server_cpu_per_request", Unit::Micros, server.cpu_us_per_request));
    }
    if let Some(share) = &phase.baseline {
        found.push(of_phase(
            "bare_server_cpu_per_request",
            Unit::Micros,
            Some(share.server_cpu_us_per_request),
        ));
        if phase.server.is_some() {
            found.push(of_phase("server_cpu_over_bare", Unit::Ratio, share.cpu_ratio));
        }
    }
    if !phase.operations.is_empty() {
        found.push(of_phase("client_cpu_per_request", Unit::Micros, phase.client_cpu_us_per_request));
    }
    if let Some(server) = phase.server {
        found.push(of_phase("memory_before", Unit::Megabytes, Some(server.rss_mb_before)));
        found.push(of_phase("memory_peak", Unit::Megabytes, Some(server.rss_mb_peak)));
        found.push(of_phase("memory_after", Unit::Megabytes, Some(server.rss_mb_after)));
    }
    let growth = phase.rss_mb_per_min;
    found.extend(growth.map(|_| of_phase("memory_growth", Unit::MegabytesPerMin, growth)));
    found
}

fn of_checks(phase: &PhaseResult) -> Vec<Figure> {
    let mut found = Vec::new();
    if let Some(delivery) = phase.delivery {
        let mut put = |name, value| found.push(of_phase(name, Unit::Count, Some(as_float(value))));
        put("deliveries", delivery.deliveries);
        put("lost_events", delivery.lost_events);
        put("duplicate_events", delivery.duplicate_events + delivery.out_of_order_events);
        put("ended_receivers", delivery.ended_receivers);
    }
    if let Some(idle) = phase.idle {
        found.push(of_phase("memory_of_a_poll", Unit::Bytes, idle.bytes_per_poll));
        found.push(of_phase("bare_memory_of_a_poll", Unit::Bytes, Some(idle.bare_bytes_per_connection)));
        found.push(of_phase("last_receipt", Unit::Millis, idle.last_receipt_ms));
    }
    if let Some(start) = &phase.start {
        found.push(of_phase("start", Unit::Millis, Some(start.start_ms)));
        found.push(of_phase("memory_at_start", Unit::Megabytes, Some(start.rss_mb)));
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
            all.iter().find(|one| one.operation == operation && one.name == name).unwrap().value.unwrap()
        };
        assert!((value("send", "mean_rate") - 25_000.0).abs() < 1e-9);
        assert!((value("send", "p95") - 5.0).abs() < 1e-9);
        assert!((value("", "server_cpu_per_request") - 31.0).abs() < 1e-9);
        assert!((value("", "server_cpu_over_bare") - 5.0).abs() < 1e-9);
        assert!(all.iter().any(|one| one.stage == 2 && one.name == "p95"));
    }

    #[test]
    fn failures_alone_have_no_times_and_reused_memory_no_size() {
        let mut run = sample::run_result();
        sample::fail_all(&mut run);
        let all = figures(&run.scenarios[0].phases[0]);
        let value =
            |name: &str| all.iter().find(|one| one.stage == 0 && one.name == name).map(|one| one.value);
        for name in ["p50", "p999", "reply_bytes_mean", "client_cpu_per_request", "server_cpu_over_bare"] {
            assert_eq!(value(name), Some(None), "{name}");
        }
        assert_eq!(value("memory_of_a_poll"), Some(None));
        assert_eq!(value("failed"), Some(Some(1.0)));
    }
}
