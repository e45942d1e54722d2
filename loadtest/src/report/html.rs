//! The result as one self-contained HTML file: tables, and plots as inline SVG.

use std::fmt::Write;

use super::page::{self, Cell, escape};
use super::table::{bare, baseline_facts, notes, render_machine, run_warnings, scenario_warnings};
use super::{dates, plots};
use crate::machine::busy_before;
use crate::outcome::{BaselineShare, Latency, Operation, PhaseResult, RunResult, ScenarioResult, Verdict};
use crate::units::{as_float, format_measured, format_number, format_whole};

/// The whole page.
pub fn render(run: &RunResult) -> String {
    let mut page = page::begin("Load test");
    let _ = writeln!(
        page,
        "<p class=\"faint\"><time datetime=\"{}\">{}</time>{}{}</p>",
        dates::iso(run.started_at),
        dates::written(run.started_at),
        if run.url.is_empty() { "" } else { ", " },
        escape(&run.url)
    );
    let _ = writeln!(page, "<p>{}</p>", escape(&render_machine(&run.machine)));
    if let Some(warning) = busy_before(&run.machine) {
        page::warning(&mut page, &warning);
    }
    let (class, text) = summary(run);
    let _ = writeln!(page, "<p class=\"{class}\">{text}</p>");
    run_warnings(run).iter().for_each(|warning| page::warning(&mut page, warning));
    if let Some(svg) = plots::ratio_bars(run) {
        page::plot(&mut page, &svg);
    }
    for scenario in &run.scenarios {
        render_scenario(&mut page, scenario);
    }
    page::end(&mut page);
    page
}

/// What became of the run, and its class.
fn summary(run: &RunResult) -> (&'static str, &'static str) {
    let has_verdicts = run.scenarios.iter().any(|scenario| !scenario.verdicts.is_empty());
    if run.interrupted.is_some() {
        ("missed", "The run was interrupted, so its expectations are not met.")
    } else if run.scenarios.iter().any(|scenario| scenario.ended_early.is_some()) {
        ("missed", "A scenario ended early.")
    } else if !run.not_run.is_empty() {
        ("missed", "Not every scenario was run.")
    } else if !has_verdicts {
        ("faint", "No expectations were checked.")
    } else if run.met {
        ("met", "Every expectation was met.")
    } else {
        ("missed", "Expectations were missed.")
    }
}

fn render_scenario(page: &mut String, scenario: &ScenarioResult) {
    let _ = writeln!(page, "<h2>{}</h2>\n<p>{}</p>", escape(&scenario.name), escape(&scenario.about));
    for warning in scenario_warnings(scenario) {
        page::warning(page, &warning);
    }
    if !scenario.verdicts.is_empty() {
        render_verdicts(page, &scenario.verdicts);
    }
    for phase in &scenario.phases {
        let _ = writeln!(page, "<h3>{}</h3>", escape(&phase.name));
        render_operations(page, phase);
        render_processes(page, phase);
        let lines = notes(phase, &scenario.baselines);
        if !lines.is_empty() {
            render_list(page, &lines);
        }
        let phases = [("", phase)];
        let memory = plots::memory(&phases).filter(|_| phase.rss_mb_per_min.is_some());
        for svg in [plots::throughput(&phases), plots::percentiles(&phases), memory].into_iter().flatten() {
            page::plot(page, &svg);
        }
    }
    let lines = baseline_facts(&scenario.baselines);
    if !lines.is_empty() {
        page.push_str("<h3>Baselines of the same run</h3>\n");
        render_list(page, &lines);
    }
}

fn render_list(page: &mut String, lines: &[String]) {
    page.push_str("<ul>\n");
    for line in lines {
        let _ = writeln!(page, "<li>{}</li>", escape(line));
    }
    page.push_str("</ul>\n");
}

/// Rates and latencies: a row for each operation, followed by its stages.
fn render_operations(page: &mut String, phase: &PhaseResult) {
    if phase.operations.is_empty() {
        return;
    }
    let heads = ["mean rate", "good", "failed", "p50 ms", "p90 ms", "p95 ms", "p99 ms", "p99.9 ms", "max ms"];
    let heads: Vec<Cell> = std::iter::once(Cell::Text("operation".to_owned()))
        .chain(heads.map(|head| Cell::Number(head.to_owned())))
        .collect();
    let mut rows = Vec::new();
    for operation in &phase.operations {
        let Operation { name, requests_per_sec, completed, failed, latency, .. } = operation;
        rows.push(operation_row(name.clone(), *requests_per_sec, *completed, *failed, *latency));
        for (number, stage) in (1..).zip(&operation.stages) {
            let (from, to) = (format_whole(stage.from), format_whole(stage.to));
            let label = format!("{name}, stage {number}: {from} → {to} {}", stage.of);
            let (rate, completed) = (stage.requests_per_sec, stage.completed);
            rows.push(operation_row(label, rate, completed, stage.failed, stage.latency));
        }
    }
    page::table(page, &heads, &rows);
}

fn operation_row(
    label: String,
    rate: f64,
    completed: u64,
    failed: u64,
    latency: Option<Latency>,
) -> Vec<Cell> {
    let times = latency.map(|latency| {
        let Latency { mean_ms: _, p50_ms, p90_ms, p95_ms, p99_ms, p999_ms, max_ms } = latency;
        [p50_ms, p90_ms, p95_ms, p99_ms, p999_ms, max_ms]
    });
    let counts = [completed, failed].map(|count| Cell::Number(format_whole(as_float(count))));
    let times = times.map_or([None; 6], |times| times.map(Some));
    let mut cells = vec![Cell::Text(label), Cell::Number(format_number(rate) + "/s")];
    cells.extend(counts);
    cells.extend(times.map(|time| Cell::Number(format_measured(time))));
    cells
}

fn value(value: Option<f64>, unit: &str) -> Cell {
    Cell::Number(value.map_or_else(|| "–".to_owned(), |value| format!("{} {unit}", format_number(value))))
}

fn heads<const N: usize>(what: &str, columns: [&str; N]) -> Vec<Cell> {
    let columns = columns.map(|column| Cell::Number(column.to_owned()));
    std::iter::once(Cell::Text(what.to_owned())).chain(columns).collect()
}

/// CPU time for each request of server, bare server and client: a row for all of the phase, and one for each stage.
fn render_cpu(page: &mut String, phase: &PhaseResult) {
    let row = |label: &str, server: Option<f64>, client: Option<f64>, share: Option<&BaselineShare>| {
        vec![
            Cell::Text(label.to_owned()),
            value(server, "µs"),
            value(share.map(|share| share.server_cpu_us_per_request), "µs"),
            value(share.and_then(|share| share.cpu_ratio), "×"),
            value(client, "µs"),
            Cell::Text(share.map_or_else(|| "–".to_owned(), bare)),
        ]
    };
    let server = phase.server.as_ref().and_then(|server| server.cpu_us_per_request);
    let mut rows =
        vec![row("for each request", server, phase.client_cpu_us_per_request, phase.baseline.as_ref())];
    for (number, stage) in (1..).zip(&phase.stages) {
        let (server, client) = (stage.server_cpu_us_per_request, stage.client_cpu_us_per_request);
        rows.push(row(&format!("in stage {number}"), server, client, stage.baseline.as_ref()));
    }
    let mut heads = heads("CPU time", ["server", "bare server", "server / bare", "client"]);
    heads.push(Cell::Text("load of the bare server".to_owned()));
    page::table(page, &heads, &rows);
}

/// CPU times, and the server's memory.
fn render_processes(page: &mut String, phase: &PhaseResult) {
    if phase.operations.is_empty() {
        return;
    }
    render_cpu(page, phase);
    let server = phase.server.as_ref();
    let row = vec![
        Cell::Text("resident, of the server".to_owned()),
        value(server.map(|server| server.rss_mb_before), "MB"),
        value(server.map(|server| server.rss_mb_peak), "MB"),
        value(server.map(|server| server.rss_mb_after), "MB"),
        value(phase.rss_mb_per_min, "MB"),
    ];
    page::table(page, &heads("memory", ["before", "peak", "after", "growth a minute"]), &[row]);
}

fn render_verdicts(page: &mut String, verdicts: &[Verdict]) {
    let text = |text: &str| Cell::Text(text.to_owned());
    let number = |text: &str| Cell::Number(text.to_owned());
    let heads = [text("phase"), text("expectation"), number("limit"), number("measured"), text("")];
    let rows: Vec<Vec<Cell>> = verdicts
        .iter()
        .map(|verdict| {
            let measured = verdict.measured.map_or_else(|| "not measured".to_owned(), format_whole);
            vec![
                text(&verdict.phase),
                text(&verdict.expectation),
                Cell::Number(format_whole(verdict.limit)),
                Cell::Number(measured),
                Cell::Verdict(verdict.met),
            ]
        })
        .collect();
    page::table(page, &heads, &rows);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn page_is_complete_and_escaped() {
        let page = render(&sample::run_result());
        assert!(page.starts_with("<!doctype html>") && page.ends_with("</body></html>\n"));
        assert!(page.contains("64 &lt;clients&gt;") && page.contains("Sends &amp; measures."));
        assert!(!page.contains("64 <clients>"), "a name reaches the page unescaped");
        assert_eq!(page.matches("<svg").count(), 3, "throughput, percentiles, ratios");
        assert!(page.contains("class=\"missed\">missed") && page.contains("class=\"met\">met"));
        for outside in ["<script", "src=", "href=\"http", "@import"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn page_has_viewport_date_dark_colors_and_tables() {
        let page = render(&sample::run_result());
        for part in [
            "<meta name=\"viewport\"",
            "prefers-color-scheme:dark",
            "<time datetime=\"2026-09-21T14:13:20Z\">21 September 2026, 14:13 UTC</time>",
            "<td class=\"n\" data-head=\"mean rate\">25,000/s</td>",
            "send, stage 2: 64 → 64 clients",
            ">31.0 µs</td><td class=\"n\" data-head=\"bare server\">6.200 µs</td>",
            ">5.000 ×</td><td class=\"n\" data-head=\"client\">6.000 µs</td>",
            ">bare POST of 64 clients</td>",
            ">in stage 1</td><td class=\"n\" data-head=\"server\">40.0 µs</td>",
        ] {
            assert!(page.contains(part), "{part} is missing in\n{page}");
        }
    }

    #[test]
    fn page_says_which_server_was_tested() {
        let mut run = sample::run_result();
        run.url = "http://a.example:1".to_owned();
        assert!(render(&run).contains("</time>, http://a.example:1</p>"));
    }

    #[test]
    fn scenario_that_ended_early_is_not_one_without_expectations() {
        let mut run = sample::run_result();
        run.scenarios[0].verdicts.clear();
        assert!(render(&run).contains("No expectations were checked."));
        run.scenarios[0].ended_early = Some("phase <s>: the server ended".to_owned());
        let page = render(&run);
        assert!(page.contains("class=\"missed\">A scenario ended early."), "{page}");
        assert!(page.contains("figures are missing: phase &lt;s&gt;: the server ended"), "{page}");
    }

    #[test]
    fn interrupted_run_is_not_met() {
        let mut run = sample::run_result();
        run.scenarios[0].verdicts.retain(|verdict| verdict.met);
        run.judge();
        assert!(render(&run).contains("class=\"met\">Every expectation was met."));
        sample::interrupt(&mut run);
        let page = render(&run);
        assert!(page.contains("class=\"missed\">The run was interrupted"), "{page}");
        assert!(
            page.contains("interrupted by SIGINT in phase b of send") && page.contains("complete: idle"),
            "{page}"
        );
        assert!(!page.contains("Every expectation"), "{page}");
        run.interrupted = None;
        run.scenarios[0].ended_early = None;
        assert!(render(&run).contains("class=\"missed\">Not every scenario was run."), "as while it goes on");
    }

    #[test]
    fn failures_alone_have_dashes_for_times() {
        let mut run = sample::run_result();
        sample::fail_all(&mut run);
        let page = render(&run);
        let times = page.lines().find(|line| line.contains("data-head=\"good\">0<")).unwrap();
        assert_eq!(times.matches(">–</td>").count(), 6, "{page}");
    }
}
