//! The result as text, for a terminal.

use std::fmt::Write;

use crate::machine::busy_during;
use crate::outcome::{
    BaselineShare, Baselines, Latency, Machine, Operation, PhaseResult, RunResult, ScenarioResult,
    StageResult, StageUse, Unmeasured, Verdict,
};
use crate::units::{as_float, format_measured, format_number, format_whole};

/// Up to one of this many requests may fail before their CPU time is worth a warning.
const FAILED_SHARE: u64 = 100;

/// A scenario: phases, baselines, verdicts.
pub fn render_scenario(result: &ScenarioResult) -> String {
    let mut text = format!("\n== {}: {}\n", result.name, result.about);
    for warning in scenario_warnings(result) {
        let _ = writeln!(text, "   warning: {warning}");
    }
    for phase in &result.phases {
        text.push_str(&render_phase(phase, &result.baselines));
    }
    text.push_str(&render_baselines(&result.baselines));
    for verdict in &result.verdicts {
        text.push_str(&render_verdict(verdict));
    }
    if result.ended_early.is_some() {
        text.push_str("   MISSED the whole scenario: it ended early\n");
    }
    text
}

/// Why the expectations of a run are not met, whatever was measured.
pub fn run_warnings(run: &RunResult) -> Vec<String> {
    let interrupted = run.interrupted.as_ref().map(|place| format!("the run was interrupted by {place}"));
    let rest = (!run.not_run.is_empty()).then(|| {
        format!("not run, or ended before the first phase was complete: {}", run.not_run.join(", "))
    });
    interrupted.into_iter().chain(rest).collect()
}

/// Why figures of a scenario are missing, or are not of what it describes.
pub fn scenario_warnings(result: &ScenarioResult) -> Vec<String> {
    let early =
        result.ended_early.as_ref().map(|why| format!("it ended early, so figures are missing: {why}"));
    let unsynced = result
        .lacks_sync
        .then(|| "the server was started without --data and did not sync: no send was durable".to_owned());
    early.into_iter().chain(unsynced).collect()
}

/// A warning about sends that were answered sooner than the disk could have synced them.
pub fn faster_than_disk(phase: &PhaseResult, baselines: &Baselines) -> Option<&'static str> {
    let latency = phase.operations.first()?.latency?;
    // An acknowledged send waited for at least one sync that began after it. The rounds may have had to wait for the writes of other
    // programs, and the sends not, so that only the fastest sync is a bound.
    let least = baselines.overwrite.as_ref()?.least_ms;
    let is_faster = phase.kind == "send" && latency.p50_ms < least;
    is_faster.then_some("faster than the disk: does the server sync?")
}

/// A warning about a process that did not answer the requests, so that another one is the server.
pub fn other_process(phase: &PhaseResult) -> Option<&'static str> {
    match phase.server_unmeasured? {
        Unmeasured::Ended => None,
        Unmeasured::OtherProcess => Some(
            "the process that was given (--server-pid or --spawn) used no CPU time for these requests, or does not listen: it is not \
             the one that answers, so its CPU time and memory are not the server's and count as not measured",
        ),
    }
}

/// A warning about CPU times that are too large for a request, because they are divided by the successful ones.
pub fn failures_in_cpu_time(phase: &PhaseResult) -> Option<String> {
    let sum = |of: fn(&Operation) -> u64| phase.operations.iter().map(of).sum::<u64>();
    let (good, failed) = (sum(|operation| operation.completed), sum(|operation| operation.failed));
    let is_measured = phase.server.is_some_and(|server| server.cpu_us_per_request.is_some())
        || phase.client_cpu_us_per_request.is_some();
    (is_measured && failed.saturating_mul(FAILED_SHARE) > good).then(|| {
        format!(
            "CPU times per request are for each successful one, and include those of {} failed requests",
            format_whole(as_float(failed))
        )
    })
}

fn render_phase(phase: &PhaseResult, baselines: &Baselines) -> String {
    let mut text = format!("-- {} ({:.1} s)\n", phase.name, phase.secs);
    for line in facts(phase, baselines) {
        text.push_str("   ");
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// The lines with a phase's measurements.
fn facts(phase: &PhaseResult, baselines: &Baselines) -> Vec<String> {
    let mut lines = Vec::new();
    for operation in &phase.operations {
        lines.push(operation_line(operation));
        lines.extend(operation.stages.iter().zip(1..).map(|(stage, number)| stage_line(stage, number)));
    }
    lines.extend(cpu_line(phase));
    let stages = (1..).zip(&phase.stages);
    lines.extend(stages.map(|(number, stage)| format!("  stage {number}: {}", stage_cpu(phase, stage))));
    lines.extend(memory_line(phase));
    lines.extend(notes(phase, baselines));
    lines
}

/// What the tables of the HTML report do not have.
pub fn notes(phase: &PhaseResult, baselines: &Baselines) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(failures(phase));
    if let Some((share, ratio)) = phase.baseline.as_ref().and_then(|share| Some((share, share.rate_ratio?))) {
        lines.push(format!("rate over that of the {}: {ratio:.3}", bare(share)));
    }
    lines.extend(over_disk(phase, baselines));
    let suspect = faster_than_disk(phase, baselines).into_iter().chain(other_process(phase));
    let suspect = suspect.map(str::to_owned).chain(failures_in_cpu_time(phase));
    lines.extend(suspect.map(|warning| format!("warning: {warning}")));
    lines.extend(special_facts(phase));
    lines.extend(
        phase.machine_use.as_ref().and_then(busy_during).map(|warning| format!("warning: {warning}")),
    );
    lines
}

/// The median of durable requests beside that of the disk.
fn over_disk(phase: &PhaseResult, baselines: &Baselines) -> Option<String> {
    let is_durable = matches!(phase.kind.as_str(), "send" | "edit");
    let first = phase.operations.first().filter(|_| is_durable)?;
    let (latency, disk) = (first.latency?, baselines.overwrite.as_ref()?);
    Some(format!(
        "p50 over overwrite + fdatasync: {} ms ({:.1} times)",
        format_number(latency.p50_ms - disk.p50_ms),
        latency.p50_ms / disk.p50_ms.max(1e-9)
    ))
}

/// Why requests failed, which were not sent, and which clients ended early.
pub fn failures(phase: &PhaseResult) -> Vec<String> {
    let mut lines = Vec::new();
    for operation in &phase.operations {
        // Of one alone it is clear.
        let name = if phase.operations.len() > 1 { format!("{} ", operation.name) } else { String::new() };
        let failed = |(reason, count): (&String, &u64)| format!("{name}failed: {count} × {reason}");
        lines.extend(operation.failures.iter().map(failed));
        if operation.unsent > 0 {
            lines.push(format!(
                "not sent: {} {} requests of the rate were due and could not be sent before the end",
                operation.unsent, operation.name
            ));
        }
        if operation.ended_clients > 0 {
            lines.push(format!(
                "ended early: {} clients of {} had failures only for a minute, so the load was less from then on",
                operation.ended_clients, operation.name
            ));
        }
    }
    lines
}

/// A figure of latencies as text; a dash without latencies.
fn time(latency: Option<Latency>, of: fn(Latency) -> f64) -> String {
    format_measured(latency.map(of))
}

fn operation_line(operation: &Operation) -> String {
    let latency = operation.latency;
    format!(
        "{:<8} mean {:>9}/s  {} good, {} failed  p50 {} ms  p90 {} ms  p95 {} ms  p99 {} ms  p99.9 {} ms  \
         max {} ms  {} B per reply",
        operation.name,
        format_number(operation.requests_per_sec),
        format_whole(as_float(operation.completed)),
        operation.failed,
        time(latency, |latency| latency.p50_ms),
        time(latency, |latency| latency.p90_ms),
        time(latency, |latency| latency.p95_ms),
        time(latency, |latency| latency.p99_ms),
        time(latency, |latency| latency.p999_ms),
        time(latency, |latency| latency.max_ms),
        format_measured(operation.reply_bytes_mean),
    )
}

fn stage_line(stage: &StageResult, number: usize) -> String {
    let latency = stage.latency;
    format!(
        "  stage {number}: {} → {} {} in {} s: mean {}/s, {} good, {} failed, p50 {} ms, p95 {} ms, p99 {} ms",
        format_whole(stage.from),
        format_whole(stage.to),
        stage.of,
        format_whole(stage.secs),
        format_number(stage.requests_per_sec),
        format_whole(as_float(stage.completed)),
        stage.failed,
        time(latency, |latency| latency.p50_ms),
        time(latency, |latency| latency.p95_ms),
        time(latency, |latency| latency.p99_ms)
    )
}

/// CPU time for each request of server, client and the bare server of the same run.
fn cpu_line(phase: &PhaseResult) -> Option<String> {
    if phase.operations.is_empty() {
        return None;
    }
    let server =
        phase.server.map_or_else(|| unmeasured(phase).to_owned(), |server| micros(server.cpu_us_per_request));
    Some(cpu_text(&server, phase.client_cpu_us_per_request, phase.baseline.as_ref()))
}

fn stage_cpu(phase: &PhaseResult, stage: &StageUse) -> String {
    let server = phase
        .server
        .map_or_else(|| unmeasured(phase).to_owned(), |_| micros(stage.server_cpu_us_per_request));
    cpu_text(&server, stage.client_cpu_us_per_request, stage.baseline.as_ref())
}

/// Why the server has no CPU time.
fn unmeasured(phase: &PhaseResult) -> &'static str {
    match phase.server_unmeasured {
        None => "unknown, without its process id",
        Some(Unmeasured::Ended) => "unknown, because its process ended",
        Some(Unmeasured::OtherProcess) => "not measured",
    }
}

fn micros(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.1} µs"))
}

/// CPU times for each request.
fn cpu_text(server: &str, client: Option<f64>, share: Option<&BaselineShare>) -> String {
    let client = micros(client);
    let Some(share) = share else {
        return format!("CPU per request: server {server}; client {client}");
    };
    let ratio = share.cpu_ratio.map_or_else(String::new, |ratio| format!(" = {ratio:.2} ×"));
    format!(
        "CPU per request: server {server}{ratio}; {} {:.1} µs; client {client}, with the bare server {:.1} µs",
        bare(share),
        share.server_cpu_us_per_request,
        share.client_cpu_us_per_request
    )
}

/// The bare server with its load. Results of earlier versions do not have the number of clients.
pub fn bare(share: &BaselineShare) -> String {
    match share.clients {
        0 => format!("bare {}", share.method),
        1 => format!("bare {} of 1 client", share.method),
        clients => format!("bare {} of {} clients", share.method, format_whole(f64::from(clients))),
    }
}

fn memory_line(phase: &PhaseResult) -> Option<String> {
    let server = phase.server?;
    let growth = phase
        .rss_mb_per_min
        .map_or_else(String::new, |growth| format!("; {growth:+.1} MB a minute in the second half"));
    Some(format!(
        "memory of the server: {:.1} → {:.1} MB, peak {:.1} MB{growth}",
        server.rss_mb_before, server.rss_mb_after, server.rss_mb_peak
    ))
}

fn special_facts(phase: &PhaseResult) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(delivery) = phase.delivery {
        lines.push(format!(
            "delivery: {} messages to {} receivers, {} deliveries, {} lost, {} duplicated, {} out of order, \
             {} not fetched, {} receivers ended early",
            delivery.messages,
            delivery.receivers,
            delivery.deliveries,
            delivery.lost_events,
            delivery.duplicate_events,
            delivery.out_of_order_events,
            delivery.unfetched_events,
            delivery.ended_receivers
        ));
    }
    if let Some(idle) = phase.idle {
        lines.push(format!(
            "idle: {} polls, {}; {} B for a held request of the bare server; last receipt {} ms (bare {} ms)",
            idle.polls,
            match idle.bytes_per_poll {
                Some(bytes) => format!("{} B each", format_number(bytes)),
                None => "memory of each not measured".to_owned(),
            },
            format_measured(idle.bare_bytes_per_connection),
            format_measured(idle.last_receipt_ms),
            format_measured(idle.bare_last_receipt_ms)
        ));
        lines.extend(reused_memory(phase));
    }
    if let Some(start) = &phase.start {
        lines.push(format!(
            "start: {} ms to the first response (median of {}), {} MB resident",
            format_number(start.start_ms),
            start.rounds_ms.len(),
            format_measured(start.rss_mb)
        ));
    }
    for (name, change) in &phase.counters {
        let per = change.per_message.map_or_else(|| "–".to_owned(), |per| format!("{per:.4}"));
        let all = format_number(change.after - change.before);
        lines.push(format!("{name}: {per} per message ({all} in total)"));
    }
    lines
}

/// Why the memory of a poll is not given, if it is not.
pub fn reused_memory(phase: &PhaseResult) -> Option<String> {
    let idle = phase.idle.filter(|idle| phase.server.is_some() && idle.bytes_per_poll.is_none())?;
    let growth = match idle.bare_bytes_per_connection {
        Some(_) => "the server grew by less than a quarter of what the bare server did",
        None => "the server did not grow",
    };
    Some(format!(
        "memory of a poll: not measured, because {growth}: it used freed memory again; start it anew, or let --spawn do that"
    ))
}

/// The baselines, one line each.
pub fn render_baselines(baselines: &Baselines) -> String {
    baseline_facts(baselines).into_iter().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "   {line}");
        text
    })
}

/// The lines with the baselines' measurements.
pub fn baseline_facts(baselines: &Baselines) -> Vec<String> {
    let mut lines = Vec::new();
    for web in &baselines.bare {
        lines.push(format!(
            "bare actix-web {}, {} client{}: {}/s (rounds {}), p50 {} ms, CPU per request: server {:.1} µs, client {:.1} µs",
            web.method,
            web.clients,
            if web.clients == 1 { "" } else { "s" },
            format_number(web.requests_per_sec),
            list(&web.rounds_per_sec),
            format_number(web.p50_ms),
            web.server_cpu_us_per_request,
            web.client_cpu_us_per_request
        ));
    }
    if let Some(disk) = &baselines.overwrite {
        lines.push(format!(
            "overwrite 4 KiB + fdatasync in {}: {}/s (rounds {}), p50 {} ms, p99 {} ms",
            disk.folder,
            format_number(disk.syncs_per_sec),
            list(&disk.rounds_per_sec),
            format_number(disk.p50_ms),
            format_number(disk.p99_ms)
        ));
    }
    lines
}

fn list(values: &[f64]) -> String {
    values.iter().map(|value| format_number(*value)).collect::<Vec<_>>().join(" · ")
}

fn render_verdict(verdict: &Verdict) -> String {
    let mark = if verdict.met { "met   " } else { "MISSED" };
    let measured = verdict.measured.map_or_else(|| "not measured".to_owned(), format_whole);
    let place = if verdict.phase.is_empty() { String::new() } else { format!(" [{}]", verdict.phase) };
    format!("   {mark} {}{place}: {measured}, limit {}\n", verdict.expectation, format_whole(verdict.limit))
}

/// The machine in one line.
pub fn render_machine(machine: &Machine) -> String {
    format!(
        "machine: {}, {} cores, {} MB, Linux {}, load average {:.2}; loadtest {}, server {}",
        machine.cpu,
        machine.cores,
        machine.memory_mb,
        machine.kernel,
        machine.load_average,
        machine.loadtest_version,
        if machine.server_version.is_empty() { "-" } else { &machine.server_version }
    )
}

#[cfg(test)]
mod tests;
