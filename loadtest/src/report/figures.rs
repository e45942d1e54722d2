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
    pub value: f64,
}

/// All figures of a phase, those of operations first.
pub fn figures(phase: &PhaseResult) -> Vec<Figure> {
    let mut found = Vec::new();
    for operation in &phase.operations {
        let mut put = |stage, name, unit, value| {
            found.push(Figure { operation: operation.name.clone(), stage, name, unit, value });
        };
        put(0, "mean_rate", Unit::PerSec, operation.requests_per_sec);
        put_latency(&mut put, 0, &operation.latency);
        put(0, "reply_bytes_mean", Unit::Bytes, operation.reply_bytes_mean);
        put(0, "completed", Unit::Count, as_float(operation.completed));
        put(0, "failed", Unit::Count, as_float(operation.failed));
        put(0, "unsent", Unit::Count, as_float(operation.unsent));
        for (number, stage) in (1..).zip(&operation.stages) {
            put(number, "mean_rate", Unit::PerSec, stage.requests_per_sec);
            put_latency(&mut put, number, &stage.latency);
            put(number, "failed", Unit::Count, as_float(stage.failed));
        }
    }
    found.extend(of_processes(phase).into_iter().chain(of_checks(phase)));
    found
}

fn put_latency(put: &mut impl FnMut(usize, &'static str, Unit, f64), stage: usize, latency: &Latency) {
    put(stage, "p50", Unit::Millis, latency.p50_ms);
    put(stage, "p90", Unit::Millis, latency.p90_ms);
    put(stage, "p95", Unit::Millis, latency.p95_ms);
    put(stage, "p99", Unit::Millis, latency.p99_ms);
    put(stage, "p999", Unit::Millis, latency.p999_ms);
    put(stage, "max", Unit::Millis, latency.max_ms);
}

fn of_phase(name: &'static str, unit: Unit, value: f64) -> Figure {
    Figure { operation: String::new(), stage: 0, name, unit, value }
}

/// CPU time for each request and memory.
fn of_processes(phase: &PhaseResult) -> Vec<Figure> {
    let mut found = Vec::new();
    if let Some(server) = phase.server {
        found.push(of_phase("server_cpu_per_request", Unit::Micros, server.cpu_us_per_request));
    }
    if let Some(share) = &phase.baseline {
        found.push(of_phase("bare_server_cpu_per_request", Unit::Micros, share.server_cpu_us_per_request));
        let ratio = share.cpu_ratio.map(|ratio| of_phase("server_cpu_over_bare", Unit::Ratio, ratio));
        found.extend(ratio);
    }
    if !phase.operations.is_empty() {
        found.push(of_phase("client_cpu_per_request", Unit::Micros, phase.client_cpu_us_per_request));
    }
    if let Some(server) = phase.server {
        found.push(of_phase("memory_before", Unit::Megabytes, server.rss_mb_before));
        found.push(of_phase("memory_peak", Unit::Megabytes, server.rss_mb_peak));
        found.push(of_phase("memory_after", Unit::Megabytes, server.rss_mb_after));
    }
    let growth = phase.rss_mb_per_min.map(|value| of_phase("memory_growth", Unit::MegabytesPerMin, value));
    found.extend(growth);
    found
}

fn of_checks(phase: &PhaseResult) -> Vec<Figure> {
    let mut found = Vec::new();
    if let Some(delivery) = phase.delivery {
        let mut put = |name, value| found.push(of_phase(name, Unit::Count, as_float(value)));
        put("deliveries", delivery.deliveries);
        put("lost_events", delivery.lost_events);
        put("doubled_events", delivery.doubled_events + delivery.disordered_events);
        put("ended_receivers", delivery.ended_receivers);
    }
    if let Some(idle) = phase.idle {
        found.push(of_phase("memory_of_a_poll", Unit::Bytes, idle.server_bytes_per_connection));
        found.push(of_phase("bare_memory_of_a_poll", Unit::Bytes, idle.bare_bytes_per_connection));
        found.push(of_phase("last_receipt", Unit::Millis, idle.last_receipt_ms));
    }
    if let Some(start) = &phase.start {
        found.push(of_phase("start", Unit::Millis, start.start_ms));
        found.push(of_phase("memory_at_start", Unit::Megabytes, start.rss_mb));
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
            all.iter().find(|one| one.operation == operation && one.name == name).unwrap().value
        };
        assert!((value("send", "mean_rate") - 25_000.0).abs() < 1e-9);
        assert!((value("send", "p95") - 5.0).abs() < 1e-9);
        assert!((value("", "server_cpu_per_request") - 31.0).abs() < 1e-9);
        assert!((value("", "server_cpu_over_bare") - 5.0).abs() < 1e-9);
        assert!(all.iter().any(|one| one.stage == 2 && one.name == "p95"));
    }
}
