//! The lines of the table, and what they say where something was not measured.

use super::*;
use crate::report::sample;

#[test]
fn table_lists_results_and_verdicts() {
    let run = sample::run_result();
    let text = render_scenario(&run.scenarios[0]);
    for part in [
        "mean    25,000/s",
        "p95 5.000 ms",
        "stage 2: 64 → 64 clients in 10 s: mean 25,000/s, 240,000 good, 0 failed, p50",
        "CPU per request: server 31.0 µs = 5.00 ×; bare POST of 64 clients 6.2 µs; client 6.0 µs, with the bare server 5.5 µs",
        "  stage 1: CPU per request: server 40.0 µs = 5.00 ×; bare POST of 1 client 8.0 µs; client 7.0 µs, with",
        "warning: the machine was busy: other processes used 45 %",
        "250,000 good, 1 failed",
        "1 × 429 RATE_LIMIT_HIT",
        "rate over that of the bare POST of 64 clients: 0.500",
        "p50 over overwrite + fdatasync: 1.840 ms",
        "10000 polls, 16,000 B each; 18,600 B for a held request of the bare server",
        "journal_frames_total: 1.0000 per message",
        "met    requests_per_sec_min [64 <clients>]: 25,000, limit 20,000",
        "MISSED rss_mb_max [64 <clients>]: not measured",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(render_machine(&run.machine).contains("Some <CPU>, 2 cores"));
}

#[test]
fn scenario_that_ended_early_is_missed() {
    let mut run = sample::run_result();
    run.scenarios[0].verdicts.retain(|verdict| verdict.met);
    assert!(!render_scenario(&run.scenarios[0]).contains("MISSED"));
    sample::interrupt(&mut run);
    let text = render_scenario(&run.scenarios[0]);
    assert!(text.contains("MISSED the whole scenario: it ended early"), "{text}");
    assert!(text.contains("figures are missing: interrupted by SIGINT in phase b of send"), "{text}");
    let warnings = run_warnings(&run).join("\n");
    assert_eq!(
        warnings,
        "the run was interrupted by SIGINT in phase b of send\nnot run, or ended before the first phase was complete: idle"
    );
}

#[test]
fn rate_that_is_set_has_no_ratio() {
    let mut run = sample::run_result();
    run.scenarios[0].phases[0].baseline.as_mut().unwrap().rate_ratio = None;
    let text = render_scenario(&run.scenarios[0]);
    assert!(!text.contains("rate over that") && text.contains("bare POST of 64 clients 6.2 µs"), "{text}");
}

#[test]
fn sends_faster_than_the_disk_are_warned_about() {
    let warned = |kind: &str, least_ms: f64| {
        let mut run = sample::run_result();
        let scenario = &mut run.scenarios[0];
        scenario.phases[0].kind = kind.to_owned();
        let disk = scenario.baselines.overwrite.as_mut().unwrap();
        (disk.p50_ms, disk.p50_ms_min, disk.least_ms) = (9.0, 8.0, least_ms);
        render_scenario(scenario).contains("warning: faster than the disk: does the server sync?")
    };
    assert!(warned("send", 2.1), "the median of the sends is 2 ms");
    assert!(!warned("send", 1.9), "the rounds were beside the writes of others");
    assert!(!warned("mixed", 2.1), "its first operation may be a fetch");
}

#[test]
fn process_without_figures_is_warned_about_or_explained() {
    let mut run = sample::run_result();
    let phase = &mut run.scenarios[0].phases[0];
    phase.server.as_mut().unwrap().cpu_us_per_request = Some(0.0);
    crate::attribution::drop_other_process(phase);
    let text = render_scenario(&run.scenarios[0]);
    assert!(text.contains("warning: the process that was given"), "{text}");
    assert!(
        text.contains("CPU per request: server not measured; bare POST")
            && !text.contains("memory of the server:"),
        "{text}"
    );
    assert!(crate::report::html::render(&run).contains("(--server-pid or --spawn) used no CPU time"));
    run.scenarios[0].phases[0].server_unmeasured = Some(Unmeasured::Ended);
    let text = render_scenario(&run.scenarios[0]);
    assert!(
        text.contains("server unknown, because its process ended; bare") && !text.contains("was given"),
        "{text}"
    );
}

#[test]
fn only_durable_requests_are_compared_with_the_disk() {
    let compared = |kind: &str| {
        let mut run = sample::run_result();
        run.scenarios[0].phases[0].kind = kind.to_owned();
        render_scenario(&run.scenarios[0]).contains("p50 over overwrite")
    };
    assert_eq!(
        ["send", "edit", "get", "register", "fanout", "mixed"].map(compared),
        [true, true, false, false, false, false]
    );
}

#[test]
fn what_was_not_measured_is_a_dash() {
    let mut run = sample::run_result();
    sample::fail_all(&mut run);
    let text = render_scenario(&run.scenarios[0]);
    for part in [
        "0 good, 1 failed  p50 – ms  p90 – ms  p95 – ms  p99 – ms  p99.9 – ms  max – ms  – B per reply",
        "0 failed, p50 – ms, p95 – ms, p99 – ms",
        "CPU per request: server –; bare POST of 64 clients 6.2 µs; client –, with",
        "10000 polls, memory of each not measured; 18,600 B",
        "memory of a poll: not measured, because",
        "last receipt – ms",
        "journal_frames_total: – per message",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(!text.contains("p50 over overwrite") && !text.contains("rate over that"), "{text}");
}

#[test]
fn memory_of_a_poll_is_not_compared_without_the_bare_server() {
    let mut run = sample::run_result();
    sample::fail_all(&mut run);
    let phase = &mut run.scenarios[0].phases[0];
    assert!(reused_memory(phase).unwrap().contains("because the server grew by less than a quarter of"));
    phase.idle.as_mut().unwrap().bare_bytes_per_connection = None;
    assert!(reused_memory(phase).unwrap().contains("because the server did not grow: it used"));
}

#[test]
fn failures_in_cpu_times_are_warned_about_above_one_in_a_hundred() {
    let warned = |failed: u64| {
        let mut run = sample::run_result();
        run.scenarios[0].phases[0].operations[0].failed = failed;
        (render_scenario(&run.scenarios[0]), crate::report::html::render(&run))
    };
    let warning = "warning: CPU times per request are for each successful one, and include those of 2,501 failed requests";
    let (text, page) = warned(2_501);
    assert!(text.contains(warning) && page.contains(warning), "{text}");
    let (text, page) = warned(2_500);
    assert!(!text.contains("CPU times") && !page.contains("CPU times"), "{text}");
    let mut run = sample::run_result();
    sample::fail_all(&mut run);
    assert_eq!(failures_in_cpu_time(&run.scenarios[0].phases[0]), None, "there are none");
}
