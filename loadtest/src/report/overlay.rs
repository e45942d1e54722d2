//! Runs side by side: the same scenarios on different servers, as text and as a page with both in one plot.

use std::fmt::Write;

use super::figures::{Figure, Unit, figures};
use super::page::{self, Cell, escape};
use super::table::{
    failures, failures_in_cpu_time, faster_than_disk, other_process, render_machine, reused_memory,
    run_warnings, scenario_warnings,
};
use super::{dates, plots};
use crate::machine::{busy_before, busy_during};
use crate::outcome::{PhaseResult, RunResult, ScenarioResult};
use crate::units::{format_number, format_whole};

/// Columns of the names of figures in the text.
const NAME_WIDTH: usize = 34;
/// Columns of a value, and more below a longer name of a server.
const VALUE_WIDTH: usize = 14;

/// A scenario of several runs as text.
pub fn render_text(runs: &[RunResult], scenario: &str) -> String {
    let mut text = String::new();
    let Some(first) = runs.iter().find_map(|run| find(run, scenario)) else { return text };
    let _ = writeln!(text, "\n== {scenario}: {}", first.about);
    for warning in of_scenario(runs, scenario) {
        let _ = writeln!(text, "   warning: {warning}");
    }
    let heads = heads(runs);
    let widest = heads.iter().map(|head| head.chars().count() + 2).max().unwrap_or(0);
    let width = widest.max(VALUE_WIDTH);
    for name in phase_names(runs, scenario) {
        let _ = write!(text, "-- {name}\n   {:<NAME_WIDTH$}", "");
        for head in &heads {
            let _ = write!(text, "{head:>width$}");
        }
        text.push('\n');
        for (label, cells) in rows(runs, scenario, &name) {
            let _ = write!(text, "   {label:<NAME_WIDTH$}");
            cells.iter().for_each(|cell| {
                let _ = write!(text, "{cell:>width$}");
            });
            text.push('\n');
        }
        for line in reasons(runs, scenario, &name) {
            let _ = writeln!(text, "   {line}");
        }
        for warning in warnings(runs, scenario, &name) {
            let _ = writeln!(text, "   warning: {warning}");
        }
    }
    text
}

/// The page with all scenarios of the runs.
pub fn render_html(runs: &[RunResult]) -> String {
    let names: Vec<&str> = runs.iter().map(|run| run.server.as_str()).collect();
    let mut page = page::begin(&format!("Load test: {}", names.join(" and ")));
    for run in runs {
        let _ = writeln!(
            page,
            "<p><strong>{}</strong> <span class=\"faint\">{}, {}</span><br>{}</p>",
            escape(&run.server),
            escape(&run.url),
            dates::written(run.started_at),
            escape(&render_machine(&run.machine))
        );
        if let Some(warning) = busy_before(&run.machine) {
            page::warning(&mut page, &format!("{}: {warning}", run.server));
        }
        for warning in run_warnings(run) {
            page::warning(&mut page, &format!("{}: {warning}", run.server));
        }
    }
    let mut scenarios: Vec<&ScenarioResult> = Vec::new();
    for scenario in runs.iter().flat_map(|run| &run.scenarios) {
        if !scenarios.iter().any(|known| known.name == scenario.name) {
            scenarios.push(scenario);
        }
    }
    for scenario in scenarios {
        let _ = writeln!(page, "<h2>{}</h2>\n<p>{}</p>", escape(&scenario.name), escape(&scenario.about));
        for warning in of_scenario(runs, &scenario.name) {
            page::warning(&mut page, &warning);
        }
        for name in phase_names(runs, &scenario.name) {
            render_phase(&mut page, runs, &scenario.name, &name);
        }
    }
    page::end(&mut page);
    page
}

fn render_phase(page: &mut String, runs: &[RunResult], scenario: &str, name: &str) {
    let _ = writeln!(page, "<h3>{}</h3>", escape(name));
    let heads: Vec<Cell> = std::iter::once(Cell::Text("figure".to_owned()))
        .chain(heads(runs).into_iter().map(Cell::Number))
        .collect();
    let rows: Vec<Vec<Cell>> = rows(runs, scenario, name)
        .into_iter()
        .map(|(label, cells)| {
            std::iter::once(Cell::Text(label)).chain(cells.into_iter().map(Cell::Number)).collect()
        })
        .collect();
    page::table(page, &heads, &rows);
    for line in reasons(runs, scenario, name) {
        let _ = writeln!(page, "<p>{}</p>", escape(&line));
    }
    for warning in warnings(runs, scenario, name) {
        page::warning(page, &warning);
    }
    let phases: Vec<(&str, &PhaseResult)> =
        runs.iter().filter_map(|run| Some((run.server.as_str(), find_phase(run, scenario, name)?))).collect();
    let memory = plots::memory(&phases).filter(|_| phases.iter().any(|(_, phase)| phase.memory.len() > 4));
    for svg in [plots::throughput(&phases), plots::percentiles(&phases), memory].into_iter().flatten() {
        page::plot(page, &svg);
    }
}

/// The servers, and what each after the first is divided by.
fn heads(runs: &[RunResult]) -> Vec<String> {
    let names = runs.iter().map(|run| run.server.clone());
    let Some(first) = runs.first() else { return Vec::new() };
    let ratios = runs.iter().skip(1).map(|run| format!("{} / {}", run.server, first.server));
    names.chain(ratios).collect()
}

fn find<'a>(run: &'a RunResult, scenario: &str) -> Option<&'a ScenarioResult> {
    run.scenarios.iter().find(|result| result.name == scenario)
}

fn find_phase<'a>(run: &'a RunResult, scenario: &str, name: &str) -> Option<&'a PhaseResult> {
    find(run, scenario)?.phases.iter().find(|phase| phase.name == name)
}

/// The names of all phases, in their order.
fn phase_names(runs: &[RunResult], scenario: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for phase in runs.iter().filter_map(|run| find(run, scenario)).flat_map(|result| &result.phases) {
        if !names.contains(&phase.name) {
            names.push(phase.name.clone());
        }
    }
    names
}

/// For each figure of any run its values and its ratios to the first run.
fn rows(runs: &[RunResult], scenario: &str, name: &str) -> Vec<(String, Vec<String>)> {
    let all: Vec<Vec<Figure>> =
        runs.iter().map(|run| find_phase(run, scenario, name).map(figures).unwrap_or_default()).collect();
    let is_same = |one: &Figure, other: &Figure| {
        (&one.operation, one.stage, one.kind) == (&other.operation, other.stage, other.kind)
    };
    let mut kinds: Vec<&Figure> = Vec::new();
    for figure in all.iter().flatten() {
        if !kinds.iter().any(|known| is_same(known, figure)) {
            kinds.push(figure);
        }
    }
    let row = |kind: &Figure| {
        let value =
            |figures: &Vec<Figure>| figures.iter().find(|one| is_same(one, kind)).and_then(|one| one.value);
        let values: Vec<Option<f64>> = all.iter().map(value).collect();
        let format: fn(f64) -> String =
            if kind.kind.unit == Unit::Count { format_whole } else { format_number };
        let mut cells: Vec<String> =
            values.iter().map(|value| value.map_or_else(|| "–".to_owned(), format)).collect();
        let first = values.first().copied().flatten().filter(|first| *first > 0.0);
        cells.extend(values.iter().skip(1).map(|value| {
            first.zip(*value).map_or_else(|| "–".to_owned(), |(first, value)| format!("{:.2}", value / first))
        }));
        (label(kind), cells)
    };
    kinds.into_iter().map(row).collect()
}

fn label(figure: &Figure) -> String {
    let stage = if figure.stage == 0 { String::new() } else { format!(" stage {}", figure.stage) };
    let operation = if figure.operation.is_empty() { "" } else { &format!("{} ", figure.operation) };
    let unit = figure.kind.unit.symbol();
    let name = match figure.kind.name {
        "p999" => "p99.9".to_owned(),
        name => name.replace('_', " ").replace("cpu", "CPU"),
    };
    format!("{operation}{name}{stage}{}{unit}", if unit.is_empty() { "" } else { ", " })
}

/// Why requests of each server failed, and why the memory of its polls is not given.
fn reasons(runs: &[RunResult], scenario: &str, name: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for run in runs {
        let Some(phase) = find_phase(run, scenario, name) else { continue };
        let all = failures(phase).into_iter().chain(reused_memory(phase));
        lines.extend(all.map(|line| format!("{}: {line}", run.server)));
    }
    lines
}

/// What the figures of a whole scenario lack, for each server.
fn of_scenario(runs: &[RunResult], scenario: &str) -> Vec<String> {
    let found = runs.iter().filter_map(|run| Some((run, find(run, scenario)?)));
    found
        .flat_map(|(run, result)| {
            scenario_warnings(result).into_iter().map(|warning| format!("{}: {warning}", run.server))
        })
        .collect()
}

fn warnings(runs: &[RunResult], scenario: &str, name: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for run in runs {
        let (Some(result), Some(phase)) = (find(run, scenario), find_phase(run, scenario, name)) else {
            continue;
        };
        let busy = phase.machine_use.as_ref().and_then(busy_during);
        let suspect = faster_than_disk(phase, &result.baselines).into_iter().chain(other_process(phase));
        let suspect = suspect.map(str::to_owned).chain(failures_in_cpu_time(phase));
        let all = busy.into_iter().chain(suspect);
        lines.extend(all.map(|warning| format!("{}: {warning}", run.server)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Operation;
    use crate::report::sample;

    fn two() -> Vec<RunResult> {
        let (mut old, mut new) = (sample::run_result(), sample::run_result());
        "old".clone_into(&mut old.server);
        "<new>".clone_into(&mut new.server);
        new.scenarios[0].phases[0].operations[0].requests_per_sec = 50_000.0;
        new.scenarios[0].phases[0].delivery = None;
        vec![old, new]
    }

    #[test]
    fn values_are_side_by_side_with_their_ratio() {
        let text = render_text(&two(), "send");
        let line = text.lines().find(|line| line.contains("send mean rate, /s")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[words.len() - 3..], ["25,000", "50,000", "2.00"], "{text}");
        let missing = text.lines().find(|line| line.contains("lost events")).unwrap();
        assert!(missing.trim_end().ends_with("0             –             –"), "{text}");
        assert!(text.contains("<new> / old"), "{text}");
        assert!(text.contains("warning: old: the machine was busy"), "{text}");
        assert_eq!(render_text(&two(), "absent"), "");
    }

    #[test]
    fn reasons_of_failures_are_given_for_each_server() {
        let mut runs = two();
        sample::fail_all(&mut runs[1]);
        let failures = &mut runs[1].scenarios[0].phases[0].operations[0].failures;
        failures.insert("429 RATE_LIMIT_HIT".to_owned(), 304);
        let text = render_text(&runs, "send");
        assert!(text.contains("   old: failed: 1 × 429 RATE_LIMIT_HIT\n"), "{text}");
        assert!(text.contains("   <new>: failed: 304 × 429 RATE_LIMIT_HIT\n"), "{text}");
        assert!(text.contains("<new>: memory of a poll: not measured, because"), "{text}");
        let line = text.lines().find(|line| line.contains("send p99.9, ms")).unwrap();
        assert_eq!(line.matches('–').count(), 2, "neither a time nor a ratio: {line}");
        let mut both = runs.clone();
        let operations = &mut both[1].scenarios[0].phases[0].operations;
        operations.push(Operation { name: "login".to_owned(), ..operations[0].clone() });
        let text = render_text(&both, "send");
        for name in ["send", "login"] {
            assert!(text.contains(&format!("   <new>: {name} failed: 304 × 429 RATE_LIMIT_HIT\n")), "{text}");
        }
        let page = render_html(&runs);
        assert!(page.contains("<p>&lt;new&gt;: failed: 304 × 429 RATE_LIMIT_HIT</p>"), "{page}");
    }

    #[test]
    fn servers_that_ended_early_or_do_not_sync_are_warned_about() {
        let mut runs = two();
        runs[0].scenarios[0].ended_early = Some("the server ended".to_owned());
        runs[1].scenarios[0].lacks_sync = true;
        runs[1].scenarios[0].baselines.overwrite.as_mut().unwrap().least_ms = 2.1;
        let (text, page) = (render_text(&runs, "send"), render_html(&runs));
        for warning in [
            "old: it ended early, so figures are missing: the server ended",
            "<new>: the server was started without --data",
            "<new>: faster than the disk",
        ] {
            assert!(text.contains(&format!("   warning: {warning}")), "{text}");
            assert!(page.contains(&format!("Warning: {}", escape(warning))), "{page}");
        }
        assert!(!text.contains("old: faster"), "its disk syncs in 0.16 ms: {text}");
    }

    #[test]
    fn interrupted_runs_are_warned_about() {
        let mut runs = two();
        sample::interrupt(&mut runs[1]);
        let page = render_html(&runs);
        assert!(
            page.contains("Warning: &lt;new&gt;: the run was interrupted by SIGINT in phase b of send"),
            "{page}"
        );
        assert!(
            render_text(&runs, "send")
                .contains("<new>: it ended early, so figures are missing: interrupted by SIGINT")
        );
    }

    #[test]
    fn busy_machines_and_other_processes_are_warned_about() {
        let mut runs = two();
        runs[1].machine.load_average = 9.0;
        let phase = &mut runs[0].scenarios[0].phases[0];
        phase.server.as_mut().unwrap().cpu_us_per_request = Some(0.0);
        crate::attribution::drop_other_process(phase);
        let (text, page) = (render_text(&runs, "send"), render_html(&runs));
        let busy = "Warning: &lt;new&gt;: the machine is busy: load average 9.00 on 2 cores";
        assert!(page.contains(busy) && page.matches("the machine is busy").count() == 1, "{page}");
        let other = "old: the process that was given";
        assert!(text.contains(&format!("   warning: {other}")) && page.contains(other), "{text}");
        assert!(!text.contains("&lt;new&gt;: the process"), "{text}");
    }

    #[test]
    fn failures_in_cpu_times_are_warned_about_for_each_server() {
        let mut runs = two();
        runs[1].scenarios[0].phases[0].operations[0].failed = 250_000;
        let (text, page) = (render_text(&runs, "send"), render_html(&runs));
        let warning =
            "CPU times per request are for each successful one, and include those of 250,000 failed requests";
        assert!(text.contains(&format!("   warning: <new>: {warning}")), "{text}");
        assert!(page.contains(&format!("Warning: &lt;new&gt;: {warning}")), "{page}");
        assert!(!text.contains("old: CPU times"), "{text}");
    }

    #[test]
    fn columns_are_as_wide_as_the_names_of_servers() {
        let mut runs = two();
        "a-server-with-a-long-name".clone_into(&mut runs[1].server);
        let text = render_text(&runs, "send");
        let lines = text.lines().skip_while(|line| !line.starts_with("--")).skip(1);
        let ends: Vec<usize> = lines.take(3).map(|line| line.chars().count()).collect();
        assert!(ends.iter().all(|end| *end == ends[0]), "{text}");
        assert!(text.contains("  a-server-with-a-long-name / old\n"), "{text}");
    }

    #[test]
    fn page_has_both_runs_in_its_plots() {
        let page = render_html(&two());
        assert!(page.contains("old: send") && page.contains("&lt;new&gt;: send"), "{page}");
        assert!(!page.contains("<new>"));
        assert_eq!(page.matches("<h3>").count(), 1);
    }
}
