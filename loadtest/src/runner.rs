//! Runs scenarios: the server, the set-up, the baselines around the phases, the verdicts and the reports.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::baseline::{Needs, Rounds, held};
use crate::cli::{BaselineArgs, RunArgs, StartArgs};
use crate::client::Api;
use crate::driver::start::READY_PATH;
use crate::driver::{self, fill};
use crate::error::LoadError;
use crate::http::Target;
use crate::outcome::{CounterChange, FORMAT, PhaseResult, RunResult, ScenarioResult};
use crate::process::{Spawned, check_address_free};
use crate::scenario::{INCLUDED, Phase, Scenario, Step};
use crate::setup::Stage;
use crate::{counters, machine, report, units};

/// Seconds of one round of a baseline within a run.
const BASELINE_SECS: f64 = 1.5;
/// Rounds of the baselines before the phases, and again after them.
const BASELINE_ROUNDS: usize = 2;
const BASELINE_HOLD: Duration = Duration::from_secs(2);

/// The environment of a run.
struct Session {
    target: Arc<Target>,
    spawn: Option<String>,
    server_pid: Option<u32>,
    disk_dir: PathBuf,
    log: PathBuf,
}

/// Prints the included scenarios.
pub fn list_scenarios() -> Result<(), LoadError> {
    for (name, _) in INCLUDED {
        let scenario = Scenario::load(name)?;
        println!("{name:<16}{}", scenario.about);
    }
    Ok(())
}

/// Runs scenarios and reports; `false` if an expectation was missed.
pub async fn run(args: RunArgs) -> Result<bool, LoadError> {
    let mut scenarios = Vec::new();
    for name in &args.scenarios {
        let mut scenario = Scenario::load(name)?;
        if let Some(secs) = args.secs {
            scenario.phases.iter_mut().for_each(|phase| phase.secs = secs);
        }
        scenarios.push(scenario);
    }
    let session = Session {
        target: Arc::new(Target::parse(&args.server.url)?),
        disk_dir: disk_dir(args.disk_dir, args.server.spawn.as_deref()),
        spawn: args.server.spawn,
        server_pid: args.server.server_pid,
        log: args.out.join("server.log"),
    };
    run_scenarios(&session, scenarios, &args.out).await
}

/// Runs the included scenario `start`.
pub async fn start(args: StartArgs) -> Result<bool, LoadError> {
    let mut scenario = Scenario::load("start")?;
    for phase in &mut scenario.phases {
        if let (Step::Start(step), Some(rounds)) = (&mut phase.step, args.rounds) {
            step.rounds = rounds.clamp(1, 100);
        }
    }
    let session = Session {
        target: Arc::new(Target::parse(&args.url)?),
        disk_dir: disk_dir(None, Some(&args.spawn)),
        spawn: Some(args.spawn),
        server_pid: None,
        log: args.out.join("server.log"),
    };
    run_scenarios(&session, vec![scenario], &args.out).await
}

/// Measures the baselines and prints them.
pub async fn baseline(args: BaselineArgs) -> Result<(), LoadError> {
    let folder = disk_dir(args.disk_dir, None);
    let needs = Needs { get_clients: args.clients, post_clients: args.clients, disk: true };
    let mut rounds = Rounds::default();
    for _ in 0..3 {
        rounds.add(needs, args.secs, &folder).await?;
    }
    println!("{}", report::table::render_machine(&machine::describe(String::new())));
    println!("{}", report::table::render_baselines(&rounds.summarize(needs, &folder)));
    if args.held > 0 {
        crate::process::raise_open_files(u64::from(args.held) + driver::fanout::OTHER_FILES)?;
        let held = held::measure(args.held, BASELINE_HOLD).await?;
        println!(
            "bare actix-web, {} held requests: {:.1} KB each, last answered after {:.0} ms",
            args.held,
            held.bytes_per_connection / 1000.0,
            held.last_receipt_ms
        );
    }
    Ok(())
}

async fn run_scenarios(session: &Session, scenarios: Vec<Scenario>, out: &Path) -> Result<bool, LoadError> {
    std::fs::create_dir_all(out).map_err(|source| LoadError::file(out, source))?;
    let started_at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut machine = machine::describe(String::new());
    let mut results = Vec::new();
    for scenario in scenarios {
        eprintln!("{}: {}", scenario.name, scenario.about);
        let (result, version) = run_scenario(session, &scenario).await?;
        if machine.server_version.is_empty() {
            machine.server_version = version;
        }
        println!("{}", report::table::render_scenario(&result));
        results.push(result);
        // Written after every scenario, so that an interrupted long run leaves its results.
        let met = results.iter().all(|result| result.verdicts.iter().all(|verdict| verdict.met));
        let run = RunResult {
            format: FORMAT,
            started_at,
            machine: machine.clone(),
            scenarios: results.clone(),
            met,
        };
        report::write(&run, out)?;
    }
    println!("{}", report::table::render_machine(&machine));
    println!("written: {}", out.join("report.html").display());
    Ok(results.iter().all(|result| result.verdicts.iter().all(|verdict| verdict.met)))
}

/// Runs one scenario on its server; returns the result and the server's version.
async fn run_scenario(session: &Session, scenario: &Scenario) -> Result<(ScenarioResult, String), LoadError> {
    let needs = Needs::of(scenario);
    let mut rounds = Rounds::default();
    let (phases, version) = if scenario.starts_servers() {
        (run_starts(session, scenario).await?, String::new())
    } else {
        let spawned = start_server(session).await?;
        let pid = spawned.as_ref().map(Spawned::pid).or(session.server_pid);
        let outcome = run_phases(session, scenario, pid, needs, &mut rounds).await;
        if let Some(spawned) = spawned {
            spawned.stop().await?;
        }
        outcome?
    };
    let baselines = rounds.summarize(needs, &session.disk_dir);
    let verdicts = scenario.expect.judge(&phases, &baselines);
    let result = ScenarioResult {
        name: scenario.name.clone(),
        about: scenario.about.clone(),
        phases,
        baselines,
        verdicts,
    };
    Ok((result, version))
}

async fn start_server(session: &Session) -> Result<Option<Spawned>, LoadError> {
    let Some(command) = &session.spawn else { return Ok(None) };
    check_address_free(&session.target).await?;
    let mut spawned = Spawned::start(command, &session.log)?;
    spawned.wait_ready(&session.target, READY_PATH).await?;
    Ok(Some(spawned))
}

async fn run_starts(session: &Session, scenario: &Scenario) -> Result<Vec<PhaseResult>, LoadError> {
    let Some(command) = &session.spawn else {
        return Err(LoadError::Usage(format!(
            "{}: give the command that starts the server with --spawn",
            scenario.name
        )));
    };
    let mut results = Vec::new();
    for phase in &scenario.phases {
        if let Step::Start(step) = &phase.step {
            results
                .push(driver::start::run(step, &phase.name, command, &session.target, &session.log).await?);
        }
    }
    Ok(results)
}

async fn run_phases(
    session: &Session,
    scenario: &Scenario,
    pid: Option<u32>,
    needs: Needs,
    rounds: &mut Rounds,
) -> Result<(Vec<PhaseResult>, String), LoadError> {
    let mut api = Api::open(&session.target).await.map_err(|error| {
        LoadError::Usage(format!(
            "{error}; start the server first, or give the command that does with --spawn"
        ))
    })?;
    let settings = api.get_ok(READY_PATH, None).await?;
    let version = settings["zulip_version"].as_str().unwrap_or_default().to_owned();
    let mut stage = Stage::prepare(&session.target, scenario).await?;
    if let Some(plan) = &scenario.fill {
        fill::fill(&mut stage, plan).await?;
    }
    for _ in 0..BASELINE_ROUNDS {
        rounds.add(needs, BASELINE_SECS, &session.disk_dir).await?;
    }
    let mut results = Vec::new();
    for phase in &scenario.phases {
        results.push(run_counted(&mut stage, &mut api, scenario, phase, pid).await?);
    }
    for _ in 0..BASELINE_ROUNDS {
        rounds.add(needs, BASELINE_SECS, &session.disk_dir).await?;
    }
    Ok((results, version))
}

/// Runs a phase, and reads the scenario's counters before and after it.
async fn run_counted(
    stage: &mut Stage,
    api: &mut Api,
    scenario: &Scenario,
    phase: &Phase,
    pid: Option<u32>,
) -> Result<PhaseResult, LoadError> {
    if scenario.count_metrics.is_empty() {
        return driver::run_phase(stage, phase, pid).await;
    }
    let before = counters::read_still(api, &scenario.count_metrics).await?;
    let mut result = driver::run_phase(stage, phase, pid).await?;
    let after = counters::read_still(api, &scenario.count_metrics).await?;
    let messages = result.operation("send").map_or(0, |send| send.completed);
    for (name, after) in after {
        let before = before.get(&name).copied().unwrap_or(0.0);
        let per_message = (after - before) / units::as_float(messages.max(1));
        result.counters.insert(name, CounterChange { before, after, per_message });
    }
    Ok(result)
}

/// The folder to measure the disk in: as configured, or beside the data folder of the server's command, or the
/// temporary one.
fn disk_dir(configured: Option<PathBuf>, spawn: Option<&str>) -> PathBuf {
    if let Some(folder) = configured {
        return folder;
    }
    let mut words = spawn.unwrap_or_default().split_whitespace();
    let data = words.find(|word| *word == "--data").and_then(|_| words.next());
    let parent = data.and_then(|data| Path::new(data).parent()).filter(|parent| parent.is_dir());
    parent.map_or_else(std::env::temp_dir, Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disk_baseline_uses_the_data_folder() {
        assert_eq!(disk_dir(Some("/x".into()), Some("s --data /tmp/y")), Path::new("/x"));
        assert_eq!(disk_dir(None, Some("s dev --data /tmp/y --z")), Path::new("/tmp"));
        assert_eq!(disk_dir(None, Some("s dev")), std::env::temp_dir());
    }
}
