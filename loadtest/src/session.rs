//! Runs one scenario on one server: the process, the set-up, the baselines around the phases, and the verdicts.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use crate::baseline::{self, Needs, Rounds};
use crate::client::Api;
use crate::counters;
use crate::driver::start::READY_PATH;
use crate::driver::{self, fill};
use crate::error::LoadError;
use crate::http::{HttpError, Target};
use crate::interrupt::Interrupt;
use crate::organizations;
use crate::outcome::{Baselines, CounterChange, PhaseResult, ScenarioResult, Verdict};
use crate::output::note;
use crate::process::{leaves_sync_out, raise_open_files};
use crate::scenario::{Phase, Scenario, Step};
use crate::setup::{People, Stage, usable};
use crate::spawned::{Spawned, check_address_free};
use crate::text::one_line;
use crate::units;

/// Seconds of one round of a baseline within a run.
const BASELINE_SECS: f64 = 1.5;
/// Characters of the version that a server reports.
const VERSION_CHARS_MAX: usize = 100;
/// How long after an error a signal may still come that explains it.
const SIGNAL_WAIT: Duration = Duration::from_millis(100);
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
    /// Ends a scenario early.
    pub interrupt: Interrupt,
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
            // Of a terminal, the signal ends the server, too.
            _ if matches!(error, LoadError::Interrupted(_)) => error,
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
        let mut spawned = None;
        let outcome = tokio::select! {
            biased;
            signal = self.interrupt.first() => Err(interrupted(signal, scenario, &progress)),
            outcome = self.measure(scenario, &mut spawned, &needs, &mut rounds, &mut progress) => outcome,
        };
        let outcome = match outcome {
            Err(error) => Err(self.cause(error, scenario, &progress).await),
            measured => measured,
        };
        let ended = spawned.as_mut().and_then(Spawned::ended);
        let failure = outcome.err().map(|error| progress.explain(error, ended, &self.log));
        if let Some(spawned) = &mut spawned {
            spawned.stop().await?;
        }
        let failure = match failure {
            Some(error) if progress.phases.is_empty() => return Err(error),
            failure => failure,
        };
        let Progress { version, mut phases, .. } = progress;
        let baselines = rounds.summarize(&self.disk_dir);
        baseline::compare(&baselines, scenario, &mut phases);
        let verdicts = if self.judges { judge(scenario, &phases, &baselines) } else { Vec::new() };
        let result = ScenarioResult {
            name: scenario.name.clone(),
            about: scenario.about.clone(),
            lacks_sync: lacks_sync(self.spawn.as_deref(), scenario),
            lacks_data: self.spawn.as_deref().is_some_and(leaves_sync_out),
            ended_early: failure.as_ref().map(ToString::to_string),
            phases,
            baselines,
            verdicts,
        };
        Ok(ScenarioRun { result, version, failure })
    }

    /// A signal of a terminal ends the servers, too, and what they fail then may be noticed before the signal is.
    async fn cause(&self, error: LoadError, scenario: &Scenario, progress: &Progress) -> LoadError {
        match (error, tokio::time::timeout(SIGNAL_WAIT, self.interrupt.first()).await) {
            (interrupted @ LoadError::Interrupted(_), _) => interrupted,
            (_, Ok(signal)) => interrupted(signal, scenario, progress),
            (error, Err(_)) => error,
        }
    }

    async fn measure(
        &self,
        scenario: &Scenario,
        spawned: &mut Option<Spawned>,
        needs: &Needs,
        rounds: &mut Rounds,
        progress: &mut Progress,
    ) -> Result<(), LoadError> {
        if scenario.starts_servers() {
            return self.run_starts(scenario, spawned, progress).await;
        }
        self.start_server(spawned).await?;
        self.run_phases(scenario, spawned, needs, rounds, progress).await
    }

    /// Leaves accounts of the users file out that cannot be used, so that all servers of a comparison can get equally many.
    pub async fn keep_usable(&mut self, wanted: usize) -> Result<(), LoadError> {
        let Some(given) = self.people.clone() else { return Ok(()) };
        let mut spawned = None;
        let finding = async {
            self.start_server(&mut spawned).await?;
            usable::find(&self.target, &given, wanted).await
        };
        let found = tokio::select! {
            biased;
            signal = self.interrupt.first() => Err(LoadError::Interrupted(signal.to_owned())),
            found = finding => found,
        };
        let ended = spawned.as_mut().and_then(Spawned::ended);
        if let Some(spawned) = &mut spawned {
            spawned.stop().await?;
        }
        let found = found.map_err(|error| Progress::default().explain(error, ended, &self.log))?;
        if let Some(warning) = found.warning() {
            note(format!("warning: {warning}"));
        }
        if !found.given.is_empty() {
            self.people = Some(Arc::new(found.given));
        }
        Ok(())
    }

    /// Starts the server, if there is a command for that. One that does not get ready is to be stopped, too.
    async fn start_server(&self, spawned: &mut Option<Spawned>) -> Result<(), LoadError> {
        let Some(command) = &self.spawn else { return Ok(()) };
        check_address_free(&self.target).await?;
        let server = spawned.insert(Spawned::start(command, &self.log)?);
        server.wait_ready(&self.target, READY_PATH).await.map(|_| ())
    }

    async fn run_starts(
        &self,
        scenario: &Scenario,
        spawned: &mut Option<Spawned>,
        progress: &mut Progress,
    ) -> Result<(), LoadError> {
        let Some(command) = &self.spawn else {
            return Err(LoadError::Usage(format!(
                "{}: give the command that starts the server with --spawn",
                scenario.name
            )));
        };
        for phase in &scenario.phases {
            progress.phase = Some(phase.name.clone());
            if let Step::Start(step) = &phase.step {
                let (name, target) = (&phase.name, &self.target);
                let result = driver::start::run(step, name, command, target, &self.log, spawned).await?;
                progress.phases.push(result);
            }
        }
        Ok(())
    }

    async fn run_phases(
        &self,
        scenario: &Scenario,
        spawned: &mut Option<Spawned>,
        needs: &Needs,
        rounds: &mut Rounds,
        progress: &mut Progress,
    ) -> Result<(), LoadError> {
        let pid = spawned.as_ref().map(Spawned::pid).or(self.server_pid);
        let mut api = Api::open(&self.target).await.map_err(without_server)?;
        // Before the baselines, which have as many clients.
        raise_open_files(scenario.connections())?;
        let settings =
            api.get_ok(READY_PATH, None).await.map_err(|error| perhaps_https(error, &self.target))?;
        progress.version =
            one_line(settings["zulip_version"].as_str().unwrap_or_default(), VERSION_CHARS_MAX);
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
        let Some(organizations) = scenario.organizations else {
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
        };
        if self.people.is_some() {
            return Err(LoadError::Usage(format!(
                "{} needs a development server, on which it makes organizations with their users: leave --users out",
                scenario.name
            )));
        }
        let mut stages = Vec::new();
        for number in 0..organizations {
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

/// The error of a signal, which says where the scenario was.
fn interrupted(signal: &str, scenario: &Scenario, progress: &Progress) -> LoadError {
    LoadError::Interrupted(match &progress.phase {
        Some(phase) => format!("{signal} in phase {phase} of {}", scenario.name),
        None => format!("{signal} in {}, outside of its phases", scenario.name),
    })
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

/// Explains what to do where a server does not answer with HTTP.
fn perhaps_https(error: LoadError, target: &Target) -> LoadError {
    match error {
        LoadError::Http { source: HttpError::Closed | HttpError::Malformed(_), .. }
            if target.tls.is_none() =>
        {
            LoadError::Usage(format!("{error}; if this port is for https, begin the address with https://"))
        }
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
mod tests;
