//! The figures of runs for other programs: CSV with a line for each figure, and the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::dates;
use super::figures::{Figure, Unit, figures, of_run, of_scenario};
use crate::outcome::RunResult;

/// A figure with its place.
struct Placed<'a> {
    run: &'a RunResult,
    scenario: &'a str,
    phase: &'a str,
    figure: Figure,
}

fn all(runs: &[RunResult]) -> Vec<Placed<'_>> {
    let mut found = Vec::new();
    for run in runs {
        let place = |figure| Placed { run, scenario: "", phase: "", figure };
        found.extend(of_run(run).into_iter().map(place));
        for scenario in &run.scenarios {
            let place = |figure| Placed { run, scenario: &scenario.name, phase: "", figure };
            found.extend(of_scenario(scenario).into_iter().map(place));
            for phase in &scenario.phases {
                let place = |figure| Placed { run, scenario: &scenario.name, phase: &phase.name, figure };
                found.extend(figures(phase).into_iter().map(place));
            }
        }
    }
    found
}

/// CSV with a header. `stage` is empty for all of a phase, `phase` for a scenario, `scenario` for the run, and `value` where it
/// could not be measured.
pub fn csv(runs: &[RunResult]) -> String {
    let mut text =
        String::from("started_at,server,version,scenario,phase,operation,stage,figure,unit,value\n");
    for Placed { run, scenario, phase, figure } in all(runs) {
        let stage = if figure.stage == 0 { String::new() } else { figure.stage.to_string() };
        let value = figure.value.map_or_else(String::new, |value| value.to_string());
        let unit = figure.kind.unit.symbol();
        let started = dates::iso(run.started_at);
        let (server, version) = (run.server.as_str(), run.machine.server_version.as_str());
        let fields = [
            &started,
            server,
            version,
            scenario,
            phase,
            &figure.operation,
            &stage,
            figure.kind.name,
            unit,
            &value,
        ];
        let _ = writeln!(text, "{}", fields.map(quote).join(","));
    }
    text
}

fn quote(field: &str) -> String {
    if field.contains([',', '"', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// Gauges in base units (seconds and bytes), with the place as labels; for the text-file collector of a node exporter. Values that
/// could not be measured are left out.
pub fn prometheus(runs: &[RunResult]) -> String {
    let mut metrics: BTreeMap<String, (&str, Vec<String>)> = BTreeMap::new();
    for Placed { run, scenario, phase, figure } in all(runs) {
        let Some(value) = figure.value else { continue };
        let (suffix, scale) = match figure.kind.unit {
            Unit::Count => ("", 1.0),
            Unit::PerSec => ("_per_second", 1.0),
            Unit::Millis => ("_seconds", 1e-3),
            Unit::Micros => ("_seconds", 1e-6),
            Unit::Bytes => ("", 1.0),
            Unit::Megabytes => ("_bytes", 1e6),
            Unit::MegabytesPerMin => ("_bytes_per_minute", 1e6),
            Unit::Ratio => ("_ratio", 1.0),
        };
        let stage = if figure.stage == 0 { String::new() } else { figure.stage.to_string() };
        let labels = [
            ("server", run.server.as_str()),
            ("scenario", scenario),
            ("phase", phase),
            ("operation", &figure.operation),
            ("stage", &stage),
        ];
        let labels: Vec<String> = labels
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name}=\"{}\"", escape(value)))
            .collect();
        let sample = format!("{{{}}} {}", labels.join(","), value * scale);
        let name = format!("loadtest_{}{suffix}", figure.kind.name);
        let (_, samples) = metrics.entry(name).or_insert_with(|| (figure.kind.help, Vec::new()));
        samples.push(sample);
    }
    let mut text = String::new();
    for (name, (help, samples)) in metrics {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
        samples.iter().for_each(|sample| {
            let _ = writeln!(text, "{name}{sample}");
        });
    }
    text
}

fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn csv_has_a_line_for_each_figure() {
        let mut run = sample::run_result();
        run.server = "a, \"old\"".to_owned();
        let text = csv(&[run]);
        let line = text.lines().find(|line| line.contains("mean_rate")).unwrap();
        let wanted = "2026-09-21T14:13:20Z,\"a, \"\"old\"\"\",,send,64 <clients>,send,,mean_rate,/s,25000";
        assert_eq!(line, wanted);
        assert!(text.contains(",send,2,p95,ms,"), "{text}");
    }

    #[test]
    fn values_that_were_not_measured_are_empty_or_left_out() {
        let mut run = sample::run_result();
        sample::fail_all(&mut run);
        let runs = [run];
        let text = csv(&runs);
        for line in [",send,,p95,ms,\n", ",,,memory_of_a_poll,B,\n", ",,,client_cpu_per_request,µs,\n"] {
            assert!(text.contains(line), "{line} is missing in\n{text}");
        }
        let text = prometheus(&runs);
        assert!(
            text.contains("loadtest_failed{") && text.contains("loadtest_bare_memory_of_a_poll{"),
            "{text}"
        );
        for name in ["loadtest_p95_seconds", "loadtest_memory_of_a_poll", "loadtest_client_cpu"] {
            assert!(!text.contains(name), "{name} is in\n{text}");
        }
    }

    #[test]
    fn interrupted_runs_are_not_met() {
        let mut run = sample::run_result();
        run.scenarios[0].verdicts.retain(|verdict| verdict.met);
        run.judge();
        let runs = [run.clone()];
        for line in [",,,,,run_met,,1\n", ",,,,,run_interrupted,,0\n", ",send,,,,scenario_met,,1\n"] {
            assert!(csv(&runs).contains(line), "{line} is missing in\n{}", csv(&runs));
        }
        sample::interrupt(&mut run);
        let runs = [run];
        let lines = [
            ",,,,,run_met,,0\n",
            ",,,,,run_interrupted,,1\n",
            ",,,,,run_scenarios_not_run,,1\n",
            ",send,,,,scenario_met,,0\n",
            ",send,,,,scenario_ended_early,,1\n",
        ];
        for line in lines {
            assert!(csv(&runs).contains(line), "{line} is missing in\n{}", csv(&runs));
        }
        let text = prometheus(&runs);
        for line in [
            "loadtest_run_met{} 0\n",
            "loadtest_run_interrupted{} 1\n",
            "loadtest_scenario_met{scenario=\"send\"} 0\n",
        ] {
            assert!(text.contains(line), "{line} is missing in\n{text}");
        }
    }

    #[test]
    fn comparison_without_expectations_has_none_met_unless_it_ended_early() {
        let mut run = sample::run_result();
        run.scenarios[0].verdicts.clear();
        run.judge();
        assert!(csv(&[run.clone()]).contains("run_met,,\n") && !prometheus(&[run.clone()]).contains("_met{"));
        sample::interrupt(&mut run);
        assert!(csv(&[run]).contains("run_met,,0\n"));
    }

    #[test]
    fn prometheus_text_is_in_base_units_and_parses() {
        let mut run = sample::run_result();
        run.server = "a".to_owned();
        let text = prometheus(&[run]);
        let wanted = r#"loadtest_p99_seconds{server="a",scenario="send",phase="64 <clients>",operation="send"} 0.0075"#;
        assert!(text.contains(wanted), "{text}");
        let head = "# HELP loadtest_server_cpu_per_request_seconds CPU time of the server for each request.\n\
                    # TYPE loadtest_server_cpu_per_request_seconds gauge\n\
                    loadtest_server_cpu_per_request_seconds{";
        assert!(text.contains(head), "{text}");
        let metrics: std::collections::BTreeSet<&str> =
            text.lines().filter_map(|line| line.split_once('{')).map(|(name, _)| name).collect();
        let lines = |what: &str| text.lines().filter(|line| line.starts_with(what)).count();
        assert_eq!(
            (lines("# HELP "), lines("# TYPE ")),
            (metrics.len(), metrics.len()),
            "one for each metric"
        );
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (_, value) = line.rsplit_once("} ").unwrap();
            assert!(value.parse::<f64>().is_ok(), "{line}");
        }
    }
}
