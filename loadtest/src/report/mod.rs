//! Reports of a result: a table on standard output, a JSON file, and an HTML page with plots.

pub mod dates;
pub mod export;
pub mod figures;
pub mod html;
pub mod overlay;
mod page;
pub mod plots;
pub mod progress;
pub mod table;
mod writable;

use std::path::Path;

use crate::attribution::drop_other_process;
use crate::cli::ExportArgs;
use crate::error::LoadError;
use crate::outcome::{FORMAT, RunResult};
pub use writable::{check_exports, check_writable, rename_earlier, rename_earlier_exports};

/// The output of the servers that a run starts.
pub const SERVER_LOG: &str = "server.log";
/// The files of a run in its output folder.
pub const RUN_FILES: &[&str] = &["results.json", "report.html", SERVER_LOG];

/// Reads a `results.json`.
pub fn read(path: &Path) -> Result<RunResult, LoadError> {
    let text = std::fs::read_to_string(path).map_err(|source| LoadError::file(path, source))?;
    let refused = |why: String| LoadError::Usage(format!("{}: {why}", path.display()));
    let mut run: RunResult = serde_json::from_str(&text).map_err(|error| refused(error.to_string()))?;
    match run.format {
        FORMAT => {
            // Earlier versions kept the figures of other processes.
            let phases = run.scenarios.iter_mut().flat_map(|scenario| &mut scenario.phases);
            phases.for_each(drop_other_process);
            Ok(run)
        }
        0 => Err(refused("these are not the results of a run".to_owned())),
        format => Err(refused(format!("results of format {format}, and this program reads format {FORMAT}"))),
    }
}

/// Writes runs for other programs, where a file is given. What cannot be replaced, as a pipe or standard output, is written once: when
/// nothing more is to come.
pub fn write_exports(runs: &[RunResult], export: &ExportArgs, is_last: bool) -> Result<(), LoadError> {
    let files =
        [(&export.csv, export::csv as fn(&[RunResult]) -> String), (&export.prometheus, export::prometheus)];
    for (path, render) in files {
        let Some(path) = path.as_deref().filter(|path| is_last || writable::is_replaced(path)) else {
            continue;
        };
        writable::write_export(path, &render(runs))?;
    }
    Ok(())
}

/// Writes `results.json` and `report.html` to `folder`.
pub fn write(run: &RunResult, folder: &Path) -> Result<(), LoadError> {
    let json = serde_json::to_string_pretty(run)
        .map_err(|error| LoadError::Server(format!("the result cannot be written as JSON: {error}")))?;
    for (name, text) in [("results.json", json), ("report.html", html::render(run))] {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|source| LoadError::file(&path, source))?;
    }
    Ok(())
}

#[cfg(test)]
pub mod sample {
    //! A result with a value in every field, for the tests of the reports.

    use crate::outcome::{
        BaselineShare, Baselines, CounterChange, Delivery, DiskBaseline, FORMAT, Idle, Latency, Machine,
        MachineUse, Operation, PhaseResult, RunResult, ScenarioResult, ServerUse, StageResult, StageUse,
        Start, Verdict, WebBaseline,
    };

    /// One scenario with one phase.
    pub fn run_result() -> RunResult {
        let verdict = |expectation: &str, measured, met| Verdict {
            phase: "64 <clients>".to_owned(),
            expectation: expectation.to_owned(),
            limit: 20_000.0,
            measured,
            met,
        };
        let scenario = ScenarioResult {
            name: "send".to_owned(),
            about: "Sends & measures.".to_owned(),
            lacks_sync: false,
            lacks_data: false,
            ended_early: None,
            phases: vec![phase()],
            baselines: Baselines {
                bare: vec![WebBaseline {
                    method: "POST".to_owned(),
                    clients: 64,
                    requests_per_sec: 50_000.0,
                    ..WebBaseline::default()
                }],
                overwrite: Some(DiskBaseline {
                    folder: "/tmp".to_owned(),
                    p50_ms: 0.16,
                    ..DiskBaseline::default()
                }),
            },
            verdicts: vec![
                verdict("requests_per_sec_min", Some(25_000.0), true),
                verdict("rss_mb_max", None, false),
            ],
        };
        let machine = Machine { cpu: "Some <CPU>".to_owned(), cores: 2, ..Machine::default() };
        RunResult {
            format: FORMAT,
            started_at: 1_790_000_000,
            machine,
            scenarios: vec![scenario],
            ..RunResult::default()
        }
    }

    /// Changes a result to that of a run in which every request failed, on a server that used freed memory again.
    pub fn fail_all(run: &mut RunResult) {
        let phase = &mut run.scenarios[0].phases[0];
        let first = &mut phase.operations[0];
        first.stages.iter_mut().for_each(|stage| stage.latency = None);
        *first = Operation {
            name: first.name.clone(),
            failed: first.failed,
            failures: first.failures.clone(),
            stages: first.stages.clone(),
            ..Operation::default()
        };
        phase.client_cpu_us_per_request = None;
        phase.stages.iter_mut().for_each(|stage| *stage = StageUse::default());
        phase.server = Some(ServerUse::default());
        phase.counters.values_mut().for_each(|change| change.per_message = None);
        phase.baseline.iter_mut().for_each(|share| (share.cpu_ratio, share.rate_ratio) = (None, None));
        phase.idle.iter_mut().for_each(|idle| {
            (idle.server_bytes_per_connection, idle.bytes_per_poll) = (None, None);
        });
    }

    /// Changes a result to that of a run without failures.
    pub fn forget_failures(run: &mut RunResult) {
        let first = &mut run.scenarios[0].phases[0].operations[0];
        (first.failed, first.failures) = (0, std::collections::BTreeMap::new());
    }

    fn stage(from: f64) -> StageResult {
        StageResult {
            of: "clients".to_owned(),
            secs: 10.0,
            from,
            to: 64.0,
            completed: 240_000,
            requests_per_sec: 25_000.0,
            latency: Some(Latency::default()),
            ..StageResult::default()
        }
    }

    fn stage_use(clients: u32) -> StageUse {
        StageUse {
            server_cpu_us_per_request: Some(40.0),
            client_cpu_us_per_request: Some(7.0),
            baseline: Some(BaselineShare {
                method: "POST".to_owned(),
                clients,
                server_cpu_us_per_request: 8.0,
                client_cpu_us_per_request: 6.0,
                cpu_ratio: Some(5.0),
                rate_ratio: None,
            }),
        }
    }

    /// Changes a result to that of a run that was interrupted in the second phase of the first of two scenarios.
    pub fn interrupt(run: &mut RunResult) {
        run.interrupted = Some("SIGINT in phase b of send".to_owned());
        run.not_run = vec!["idle".to_owned()];
        run.scenarios[0].ended_early = Some("interrupted by SIGINT in phase b of send".to_owned());
        run.judge();
    }

    fn phase() -> PhaseResult {
        let latency = Latency { p50_ms: 2.0, p95_ms: 5.0, p99_ms: 7.5, max_ms: 20.0, ..Latency::default() };
        let mut operation = Operation {
            name: "send".to_owned(),
            completed: 250_000,
            failed: 1,
            requests_per_sec: 25_000.0,
            latency: Some(latency),
            curve: vec![(0.0, 0.5), (50.0, 2.0), (99.0, 7.5), (100.0, 20.0)],
            stages: vec![stage(0.0), stage(64.0)],
            timeline: vec![(0.2, 20_000.0), (0.4, 25_000.0), (0.6, 24_000.0)],
            ..Operation::default()
        };
        operation.failures.insert("429 RATE_LIMIT_HIT".to_owned(), 1);
        let mut phase = PhaseResult {
            name: "64 <clients>".to_owned(),
            kind: "send".to_owned(),
            secs: 10.0,
            operations: vec![operation],
            delivery: Some(Delivery { receivers: 100, ..Delivery::default() }),
            idle: Some(Idle {
                polls: 10_000,
                server_bytes_per_connection: Some(16_000.0),
                bare_bytes_per_connection: Some(18_600.0),
                bytes_per_poll: Some(16_000.0),
                ..Idle::default()
            }),
            start: Some(Start { start_ms: 120.0, rss_mb: Some(30.0), rounds_ms: vec![120.0] }),
            server: Some(ServerUse { cpu_us_per_request: Some(31.0), ..ServerUse::default() }),
            client_cpu_us_per_request: Some(6.0),
            baseline: Some(BaselineShare {
                method: "POST".to_owned(),
                server_cpu_us_per_request: 6.2,
                client_cpu_us_per_request: 5.5,
                cpu_ratio: Some(5.0),
                clients: 64,
                rate_ratio: Some(0.5),
            }),
            stages: vec![stage_use(1), stage_use(64)],
            memory: vec![(0.5, 20.0), (5.0, 24.0), (10.0, 25.0)],
            machine_use: Some(MachineUse { other_percent: Some(45.0), ..MachineUse::default() }),
            ..PhaseResult::default()
        };
        let change = CounterChange { per_message: Some(1.0), ..CounterChange::default() };
        phase.counters.insert("journal_frames_total".to_owned(), change);
        phase
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_files_are_written() {
        let folder = tempfile::tempdir().unwrap();
        write(&sample::run_result(), folder.path()).unwrap();
        let json = std::fs::read_to_string(folder.path().join("results.json")).unwrap();
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["scenarios"][0]["phases"][0]["operations"][0]["completed"], 250_000);
        assert!(folder.path().join("report.html").exists());
        let again = read(&folder.path().join("results.json")).unwrap();
        assert_eq!(serde_json::to_value(&again).unwrap(), value, "what is written is what is read");
        std::fs::write(folder.path().join("bad.json"), "{").unwrap();
        assert!(read(&folder.path().join("bad.json")).unwrap_err().to_string().contains("bad.json"));
        for (other, why) in [("{}", "not the results of a run"), (r#"{"format":2}"#, "results of format 2")] {
            std::fs::write(folder.path().join("other.json"), other).unwrap();
            assert!(
                read(&folder.path().join("other.json")).unwrap_err().to_string().contains(why),
                "{other}"
            );
        }
        assert!(write(&sample::run_result(), &folder.path().join("none")).is_err());
    }
}
