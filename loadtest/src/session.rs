//! Runs one scenario on one server: the process, the set-up, the baselines around the phases, and the verdicts.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;

use crate::baseline::{Needs, Rounds};
use crate::client::Api;
use crate::counters;
use crate::driver::start::READY_PATH;
use crate::driver::{self, fill};
use crate::error::LoadError;
use crate::http::{HttpError, Target};
use crate::organizations;
use crate::outcome::{Baselines, CounterChange, PhaseResult, ScenarioResult, Verdict};
use crate::output::note;
use crate::process::{Spawned, check_address_free, leaves_sync_out, raise_open_files};
use crate::scenario::{Phase, Scenario, Step};
use crate::setup::{People, Stage, usable};
use crate::units;

/// Seconds of one round of a baseline within a run.
const BASELINE_SECS: f64 = 1.5;
/// Rounds of the baselines before the phases, and again after them.
const BASELINE_ROUNDS: usize = 2;

/// A server under test, and what is measured beside it.
#[derive(Debug)]
pub struct Session {
    pub target: Arc<Target>,
    pub spawn: Option<String>,
    pub server_pid: Option<u32>,
    pub people: People,
    pub disk_dir: PathBuf,
    pub log: PathBuf,
    /// Whether expectations are checked, and the counters that they need are read.
    pub judges: bool,
    /// Whether the bare server and the disk are measured, too.
    pub baselines: bool,
}

/// What running a scenario led to.
#[derive(Debug)]
pub struct ScenarioRun {
    pub result: ScenarioResult,
    /// The version that the server reports, or empty.
    pub version: String,
    /// Why it ended early; the result has the phases before that.
    pub failure: Option<LoadError>,
}

/// How far a scenario has come.
#[derive(Debug, Default)]
struct Progress {
    version: String,
    phases: Vec<PhaseResult>,
    /// The phase that is running, or was when an error ended the scenario.
    phase: Option<String>,
}

impl Progress {
    /// An error with the phase that it ended, and whether the server itself ended.
    fn explain(&self, error: LoadError, ended: Option<ExitStatus>, log: &Path) -> LoadError {
        let phase = self.phase.as_ref().map_or_else(String::new, |phase| format!("phase {phase}: "));
        match ended {
            Some(status) => LoadError::Server(format!(
                "{phase}the server ended ({status}), its output is in {}: {error}",
                log.display()
            )),
            None if phase.is_empty() => error,
            None => LoadError::Server(format!("{phase}{error}")),
        }
    }
}

impl Session {
    /// Runs one scenario on its server. An error in its first phase or before is the error of the run.
    pub async fn run_scenario(&self, scenario: &Scenario) -> Result<ScenarioRun, LoadError> {
        let needs = if self.baselines { Needs::of(scenario) } else { Needs::default() };
        if lacks_sync(self.spawn.as_deref(), scenario) {
            note(format!(
                "warning: {} measures durable sends, and `dev` without --data does not sync: add --data FOLDER to --spawn",
                scenario.name
            ));
        }
        let mut rounds = Rounds::default();
        let mut progress = Progress::default();
        let failure = if scenario.starts_servers() {
            progress.phases = self.run_starts(scenario).await?;
            None
        } else {
            let mut spawned = self.start_server().await?;
            let outcome = self.run_phases(scenario, &mut spawned, needs, &mut rounds, &mut progress).await;
            let ended = spawned.as_mut().and_then(Spawned::ended);
            let failure = outcome.err().map(|error| progress.explain(error, ended, &self.log));
            if let Some(spawned) = spawned {
                spawned.stop().await?;
            }
            failure
        };
        let failure = match failure {
            Some(error) if progress.phases.is_empty() => return Err(error),
            failure => failure,
        };
        let Progress { version, mut phases, .. } = progress;
        let baselines = rounds.summarize(needs, &self.disk_dir);
        for phase in &mut phases {
            phase.baseline = baselines.share(phase);
        }
        let verdicts = if self.judges { judge(scenario, &phases, &baselines) } else { Vec::new() };
        let result = ScenarioResult {
            name: scenario.name.clone(),
            about: scenario.about.clone(),
            lacks_sync: lacks_sync(self.spawn.as_deref(), scenario),
            ended_early: failure.as_ref().map(ToString::to_string),
            phases,
            baselines,
            verdicts,
        };
        Ok(ScenarioRun { result, version, failure })
    }

    /// Leaves accounts of the users file out that cannot be used, so that all servers of a comparison can get equally many.
    pub async fn keep_usable(&mut self, wanted: usize) -> Result<(), LoadError> {
        let Some(given) = self.people.clone() else { return Ok(()) };
        let spawned = self.start_server().await?;
        let found = usable::find(&self.target, &given, wanted).await;
        if let Some(spawned) = spawned {
            spawned.stop().await?;
        }
        let found = found?;
        if let Some(warning) = found.warning() {
            note(format!("warning: {warning}"));
        }
        if !found.given.is_empty() {
            self.people = Some(Arc::new(found.given));
        }
        Ok(())
    }

    async fn start_server(&self) -> Result<Option<Spawned>, LoadError> {
        let Some(command) = &self.spawn else { return Ok(None) };
        check_address_free(&self.target).await?;
        let mut spawned = Spawned::start(command, &self.log)?;
        spawned.wait_ready(&self.target, READY_PATH).await?;
        Ok(Some(spawned))
    }

    async fn run_starts(&self, scenario: &Scenario) -> Result<Vec<PhaseResult>, LoadError> {
        let Some(command) = &self.spawn else {
            return Err(LoadError::Usage(format!(
                "{}: give the command that starts the server with --spawn",
                scenario.name
            )));
        };
        let mut results = Vec::new();
        for phase in &scenario.phases {
            if let Step::Start(step) = &phase.step {
                results.push(driver::start::run(step, &phase.name, command, &self.target, &self.log).await?);
            }
        }
        Ok(results)
    }

    async fn run_phases(
        &self,
        scenario: &Scenario,
        spawned: &mut Option<Spawned>,
        needs: Needs,
        rounds: &mut Rounds,
        progress: &mut Progress,
    ) -> Result<(), LoadError> {
        let pid = spawned.as_ref().map(Spawned::pid).or(self.server_pid);
        let mut api = Api::open(&self.target).await.map_err(without_server)?;
        // Before the baselines, which have as many clients.
        raise_open_files(scenario.connections())?;
        let settings = api.get_ok(READY_PATH, None).await?;
        progress.version = settings["zulip_version"].as_str().unwrap_or_default().to_owned();
        let mut stages = self.prepare(scenario, &mut api).await?;
        for _ in 0..BASELINE_ROUNDS {
            rounds.add(needs, BASELINE_SECS, &self.disk_dir).await?;
        }
        for phase in &scenario.phases {
            progress.phase = Some(phase.name.clone());
            if let (Some(plan), Some(stage)) = (&phase.fill, stages.first_mut()) {
                fill::fill(stage, plan).await?;
            }
            progress.phases.push(self.run_repeated(&mut stages, &mut api, scenario, phase, pid).await?);
            if spawned.as_mut().and_then(Spawned::ended).is_some() {
                return Err(LoadError::Server("the figures of this phase are incomplete".to_owned()));
            }
        }
        progress.phase = None;
        for _ in 0..BASELINE_ROUNDS {
            rounds.add(needs, BASELINE_SECS, &self.disk_dir).await?;
        }
        Ok(())
    }

    /// Users, channels and messages of the scenario, in each of its organizations.
    async fn prepare(&self, scenario: &Scenario, api: &mut Api) -> Result<Vec<Stage>, LoadError> {
        if scenario.organizations == 0 {
            let mut stage = Stage::prepare(&self.target, scenario, &self.people).await?;
            let logins = scenario.phases.iter().map(|phase| phase.step.logins()).max().unwrap_or(0);
            for number in stage.everyone().into_iter().take(logins as usize) {
                // Before the first phase is measured.
                stage.password(number)?;
            }
            if let Some(plan) = &scenario.fill {
                fill::fill(&mut stage, plan).await?;
            }
            return Ok(vec![stage]);
        }
        let mut stages = Vec::new();
        for number in 0..scenario.organizations {
            let target = Arc::new(organizations::ensure(api, &self.target, number).await?);
            stages.push(Stage::prepare(&target, scenario, &None).await?);
        }
        Ok(stages)
    }

    /// Runs a phase as often as it says; the run with the median CPU time counts, with the faults of all.
    async fn run_repeated(
        &self,
        stages: &mut [Stage],
        api: &mut Api,
        scenario: &Scenario,
        phase: &Phase,
        pid: Option<u32>,
    ) -> Result<PhaseResult, LoadError> {
        let mut runs = Vec::new();
        for _ in 1..phase.repeat.unwrap_or(1) {
            runs.push(driver::run_phase(stages, phase, pid).await?);
        }
        runs.push(self.run_counted(stages, api, scenario, phase, pid).await?);
        Ok(take_median(runs))
    }

    /// Runs a phase, and reads the scenario's counters before and after it.
    async fn run_counted(
        &self,
        stages: &mut [Stage],
        api: &mut Api,
        scenario: &Scenario,
        phase: &Phase,
        pid: Option<u32>,
    ) -> Result<PhaseResult, LoadError> {
        if scenario.count_metrics.is_empty() || !self.judges {
            return driver::run_phase(stages, phase, pid).await;
        }
        let before = counters::read_still(api, &scenario.count_metrics).await?;
        let mut result = driver::run_phase(stages, phase, pid).await?;
        let after = counters::read_still(api, &scenario.count_metrics).await?;
        let messages = result.operation("send").map_or(0, |send| send.completed);
        for (name, after) in after {
            let before = before.get(&name).copied().unwrap_or(0.0);
            let per_message = (messages > 0).then(|| (after - before) / units::as_float(messages));
            result.counters.insert(name, CounterChange { before, after, per_message });
        }
        Ok(result)
    }
}

/// Whether sends that are described as durable are not, as the command of the server says.
fn lacks_sync(spawn: Option<&str>, scenario: &Scenario) -> bool {
    scenario.says_durable() && spawn.is_some_and(leaves_sync_out)
}

/// Explains what to do where no server listens.
fn without_server(error: LoadError) -> LoadError {
    match error {
        LoadError::Http { source: HttpError::Io(_), .. } => LoadError::Usage(format!(
            "{error}; start the server first, or give the command that does with --spawn"
        )),
        error => error,
    }
}

/// The run with the median CPU time of the server for each request (any one where that is not known), with the faults of all.
fn take_median(mut runs: Vec<PhaseResult>) -> PhaseResult {
    let cpu = |run: &PhaseResult| run.server.and_then(|server| server.cpu_us_per_request).unwrap_or(0.0);
    runs.sort_by(|one, other| cpu(one).total_cmp(&cpu(other)));
    let mut median = runs.swap_remove(runs.len() / 2);
    // A fault counts in whichever run it was.
    for run in runs {
        for other in &run.operations {
            match median.operations.iter_mut().find(|operation| operation.name == other.name) {
                Some(operation) => operation.add_faults(other),
                None => median.operations.push(other.clone()),
            }
        }
        if let Some(delivery) = &run.delivery {
            median.delivery.get_or_insert_default().add_faults(delivery);
        }
    }
    median
}

/// Evaluates the phases with expectations of their own by those, and all others by the scenario's.
fn judge(scenario: &Scenario, phases: &[PhaseResult], baselines: &Baselines) -> Vec<Verdict> {
    let of_scenario = scenario.phases.iter().zip(phases).filter(|(phase, _)| phase.expect.is_none());
    let common: Vec<PhaseResult> = of_scenario.map(|(_, result)| result.clone()).collect();
    let mut verdicts = scenario.expect.judge(&common, baselines);
    for (number, (phase, result)) in scenario.phases.iter().zip(phases).enumerate() {
        let before = number.checked_sub(1).and_then(|before| phases.get(before));
        let expect = phase.expect.iter();
        verdicts.extend(expect.flat_map(|expect| expect.judge_one(before, result, baselines)));
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{self, Faults};
    use crate::outcome::{Delivery, Operation, ServerUse};

    fn run(cpu: f64, failed: u64) -> PhaseResult {
        let server = ServerUse { cpu_us_per_request: Some(cpu), ..ServerUse::default() };
        let operations = vec![Operation { failed, ..Operation::default() }];
        PhaseResult { server: Some(server), operations, ..PhaseResult::default() }
    }

    #[test]
    fn median_of_repeated_phases_counts_and_no_failure_is_lost() {
        let median = take_median(vec![run(9.0, 0), run(1.0, 0), run(5.0, 0)]);
        assert_eq!(median.server.unwrap().cpu_us_per_request, Some(5.0));
        assert_eq!(median.failed(), 0);
        let median = take_median(vec![run(9.0, 2), run(1.0, 0), run(5.0, 1)]);
        assert_eq!((median.failed(), median.operations.len()), (3, 1), "each operation is there once");
    }

    #[test]
    fn faults_of_all_repetitions_count() {
        let with = |cpu: f64, lost_events: u64| {
            let mut run = run(cpu, 0);
            run.operations[0].unsent = lost_events * 10;
            let (duplicate_events, out_of_order_events, ended_receivers) =
                (lost_events, lost_events, lost_events);
            let faults =
                Delivery { lost_events, duplicate_events, out_of_order_events, ..Delivery::default() };
            run.delivery = Some(Delivery { deliveries: 100, ended_receivers, ..faults });
            run
        };
        let median = take_median(vec![with(9.0, 2), with(1.0, 1), with(5.0, 0)]);
        let delivery = median.delivery.unwrap();
        assert_eq!((median.unsent(), delivery.lost_events, delivery.duplicate_events), (30, 3, 3));
        assert_eq!((delivery.out_of_order_events, delivery.ended_receivers), (3, 3));
        assert_eq!(delivery.deliveries, 100, "figures are those of one run");
    }

    #[tokio::test]
    async fn phase_in_which_the_server_ends_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let session = Session {
            target: fake::start(Faults::default()),
            spawn: None,
            server_pid: None,
            people: None,
            disk_dir: folder.path().to_owned(),
            log: folder.path().join("log"),
            judges: false,
            baselines: false,
        };
        let phase = |name: &str| {
            let step = serde_json::json!({"do": "send", "clients": 1, "channel": "c", "chars": [24, 30], "topics": 1});
            serde_json::json!({"name": name, "secs": 0.1, "step": step})
        };
        let text = serde_json::json!({
            "name": "x", "about": "x", "users": 2, "channels": [{"name": "c", "subscribers": 2}],
            "phases": [phase("a"), phase("b")]
        });
        let scenario = Scenario::parse(&text.to_string()).unwrap();
        let mut server = Spawned::start("true", &session.log).unwrap();
        while server.ended().is_none() {
            tokio::task::yield_now().await;
        }
        let (mut spawned, mut rounds, mut progress) = (Some(server), Rounds::default(), Progress::default());
        let outcome =
            session.run_phases(&scenario, &mut spawned, Needs::default(), &mut rounds, &mut progress).await;
        let ended = spawned.as_mut().and_then(Spawned::ended);
        let error = progress.explain(outcome.unwrap_err(), ended, &session.log).to_string();
        assert!(error.starts_with("phase a: the server ended (exit status: 0), its output is in"), "{error}");
        assert_eq!(progress.phases.len(), 1, "what was measured until then stays");
    }

    #[test]
    fn durable_sends_need_a_server_that_syncs() {
        let lacks = |spawn, name| lacks_sync(spawn, &Scenario::load(name).unwrap());
        assert!(lacks(Some("millstream dev"), "send_one"));
        assert!(!lacks(Some("millstream dev"), "users_me"));
        assert!(!lacks(Some("millstream dev --data /tmp/load"), "send_one"));
        assert!(!lacks(None, "send_one"));
    }

    #[test]
    fn only_a_server_that_does_not_listen_is_to_be_started() {
        let hint = |source| {
            let call = "connect".to_owned();
            without_server(LoadError::Http { call, source }).to_string()
        };
        assert!(hint(HttpError::Io(std::io::ErrorKind::ConnectionRefused.into())).contains("--spawn"));
        assert!(!hint(HttpError::Tls("no --ca FILE".to_owned())).contains("--spawn"));
    }

    #[test]
    fn expectations_of_a_phase_replace_those_of_the_scenario() {
        let phase = |name: &str, expect: serde_json::Value| {
            let step = serde_json::json!({"do": "get", "clients": 1, "path": "/x"});
            let mut phase = serde_json::json!({"name": name, "secs": 1, "step": step});
            if !expect.is_null() {
                phase["expect"] = expect;
            }
            phase
        };
        let own = serde_json::json!({"rss_mb_max": 7, "errors_max": 3});
        let text = serde_json::json!({
            "name": "x", "about": "x", "users": 1, "expect": {"p50_ms_max": 1},
            "phases": [phase("a", serde_json::Value::Null), phase("b", own)]
        });
        let scenario = Scenario::parse(&text.to_string()).unwrap();
        let result = |name: &str| PhaseResult { name: name.to_owned(), ..PhaseResult::default() };
        let verdicts = judge(&scenario, &[result("a"), result("b")], &Baselines::default());
        let names: Vec<String> =
            verdicts.iter().map(|verdict| format!("{} {}", verdict.phase, verdict.expectation)).collect();
        assert_eq!(names, ["a p50_ms_max", "a errors_max", "b rss_mb_max", "b errors_max"]);
    }
}
