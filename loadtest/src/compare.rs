//! `compare`: the same scenarios on two or more servers, one after the other, without expectations. `overlay` does the same
//! with runs that were written earlier.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::{CompareArgs, OverlayArgs};
use crate::error::LoadError;
use crate::http::{Target, TargetPolicy};
use crate::interrupt::Interrupt;
use crate::listening::check_server;
use crate::outcome::{RunResult, ScenarioResult};
use crate::output::{note, print};
use crate::process::parse_pid;
use crate::runner::{disk_dir, load_scenarios, make_folder, new_run};
use crate::scenario::Scenario;
use crate::session::{ScenarioRun, Session};
use crate::setup::{People, users_file};
use crate::{machine, report};

/// The page with all servers.
const PAGE: &str = "compare.html";

/// A server of a comparison, with its results so far.
struct Side {
    session: Session,
    run: RunResult,
    out: PathBuf,
}

/// Runs scenarios on all servers and prints them side by side; `false` if a scenario could not be run on one of them.
pub async fn compare(args: CompareArgs, interrupt: &Interrupt) -> Result<bool, LoadError> {
    let mut sides = sides(&args, interrupt)?;
    let mut scenarios = load_scenarios(&args.scenarios, args.secs)?;
    if args.no_baseline {
        scenarios.iter_mut().for_each(Scenario::drop_baselines);
    }
    prepare_files(&sides, &args)?;
    limit_users(&mut sides, &mut scenarios).await?;
    if let Some(warning) = sides.first().and_then(|side| machine::busy_before(&side.run.machine)) {
        note(format!("warning: {warning}"));
    }
    let names: Vec<String> = scenarios.iter().map(|scenario| scenario.name.clone()).collect();
    sides.iter_mut().for_each(|side| side.run.not_run.clone_from(&names));
    let mut failures = Vec::new();
    for (scenario, left) in scenarios.iter().zip((0..scenarios.len()).rev()) {
        let interrupted = run_on_all(&mut sides, scenario, &mut failures).await;
        let runs: Vec<RunResult> = sides.iter().map(|side| side.run.clone()).collect();
        let mut measured = sides.iter().filter(|side| side.run.is_reported());
        measured.try_for_each(|side| report::write(&side.run, &side.out))?;
        write(&runs, &args.out)?;
        report::write_exports(&runs, &args.export, interrupted.is_some() || left == 0)?;
        print(report::overlay::render_text(&runs, &scenario.name));
        if let Some(error) = interrupted {
            let warnings = |run: &RunResult| report::table::run_warnings(run).into_iter();
            for (side, warning) in
                sides.iter().flat_map(|side| warnings(&side.run).map(move |one| (side, one)))
            {
                print(format!("{}: {warning}", side.run.server));
            }
            return Err(error);
        }
    }
    failures.iter().for_each(print);
    print(format!("written: {}", args.out.join(PAGE).display()));
    Ok(failures.is_empty())
}

/// Leaves out accounts that cannot be used, and lowers the number of users to that of the shortest users file.
async fn limit_users(sides: &mut [Side], scenarios: &mut [Scenario]) -> Result<(), LoadError> {
    let most = scenarios.iter().map(|scenario| scenario.users).max().unwrap_or(0);
    for side in &mut *sides {
        match side.session.keep_usable(most as usize).await {
            Ok(()) => {}
            Err(error @ LoadError::Interrupted(_)) => return Err(error),
            // A server that cannot be asked fails when its first scenario runs, and the others go on.
            Err(error) => note(format!("warning: {}: {error}", side.run.server)),
        }
    }
    let fewest = sides.iter().filter_map(|side| Some(side.session.people.as_ref()?.len())).min();
    if let Some(fewest) = fewest.and_then(|fewest| u32::try_from(fewest).ok()) {
        scenarios.iter_mut().for_each(|scenario| scenario.limit_users(fewest));
    }
    Ok(())
}

/// Runs a scenario on one server after the other. Returns the error that ends the comparison, which only a signal is.
async fn run_on_all(
    sides: &mut [Side],
    scenario: &Scenario,
    failures: &mut Vec<String>,
) -> Option<LoadError> {
    let mut interrupted = None;
    for side in &mut *sides {
        let server = side.run.server.clone();
        note(format!("{} on {server}: {}", scenario.name, scenario.about));
        match side.run_scenario(scenario).await {
            Ok(()) => {}
            Err(error @ LoadError::Interrupted(_)) => {
                interrupted = Some(error);
                break;
            }
            Err(error) => {
                failures.push(format!("{} on {server} failed: {error}", scenario.name));
                side.keep_failure(scenario, &error);
            }
        }
    }
    // The comparison lacks what was not run on any of the servers.
    sides.iter_mut().for_each(|side| side.run.end_scenario(interrupted.as_ref()));
    interrupted
}

/// Makes the folders, checks that all files can be written, and renames those of an earlier comparison.
fn prepare_files(sides: &[Side], args: &CompareArgs) -> Result<(), LoadError> {
    let (csv, prometheus) = (args.export.csv.as_deref(), args.export.prometheus.as_deref());
    for side in sides {
        make_folder(&side.out)?;
        report::check_writable(&side.out, report::RUN_FILES)?;
    }
    report::check_writable(&args.out, &[PAGE])?;
    let mut own = vec![args.out.join(PAGE)];
    for side in sides {
        own.extend(report::RUN_FILES.iter().map(|name| side.out.join(name)));
    }
    report::check_exports(csv, prometheus, &own)?;
    sides.iter().try_for_each(|side| report::rename_earlier(&side.out, report::RUN_FILES))?;
    report::rename_earlier(&args.out, &[PAGE])?;
    report::rename_earlier_exports(csv, prometheus)
}

/// Puts earlier runs on one page.
pub fn overlay(args: &OverlayArgs) -> Result<(), LoadError> {
    let mut runs = Vec::new();
    for (name, path) in &args.results {
        if runs.iter().any(|run: &RunResult| run.server == *name) {
            return Err(LoadError::Usage(format!("{name} is there twice")));
        }
        let mut run = report::read(path)?;
        run.server.clone_from(name);
        runs.push(run);
    }
    let mut names: Vec<String> = Vec::new();
    for scenario in runs.iter().flat_map(|run| &run.scenarios) {
        if !names.contains(&scenario.name) {
            names.push(scenario.name.clone());
        }
    }
    make_folder(&args.out)?;
    write(&runs, &args.out)?;
    names.iter().for_each(|name| print(report::overlay::render_text(&runs, name)));
    print(format!("written: {}", args.out.join(PAGE).display()));
    Ok(())
}

impl Side {
    async fn run_scenario(&mut self, scenario: &Scenario) -> Result<(), LoadError> {
        let ScenarioRun { result, version, failure } = self.session.run_scenario(scenario).await?;
        self.run.machine.server_version = version;
        self.run.not_run.retain(|name| *name != scenario.name);
        self.run.scenarios.push(result);
        failure.map_or(Ok(()), Err)
    }

    /// Keeps the reason of a scenario without any figures, for the page.
    fn keep_failure(&mut self, scenario: &Scenario, error: &LoadError) {
        if self.run.scenarios.iter().any(|result| result.name == scenario.name) {
            return;
        }
        self.run.not_run.retain(|name| *name != scenario.name);
        self.run.scenarios.push(ScenarioResult {
            name: scenario.name.clone(),
            about: scenario.about.clone(),
            ended_early: Some(error.to_string()),
            ..ScenarioResult::default()
        });
    }
}

fn write(runs: &[RunResult], out: &Path) -> Result<(), LoadError> {
    let path = out.join(PAGE);
    std::fs::write(&path, report::overlay::render_html(runs)).map_err(|source| LoadError::file(&path, source))
}

/// The servers of the command line, with what belongs to each.
fn sides(args: &CompareArgs, interrupt: &Interrupt) -> Result<Vec<Side>, LoadError> {
    let urls = args.servers.iter().map(|(_, url)| url.as_str());
    let policy = TargetPolicy::new(urls, args.reach.allow_remote, args.reach.ca.as_deref())?;
    let users = Named::new("--users", args, &args.users)?;
    let pids = Named::new("--server-pid", args, &args.server_pids)?;
    let spawns = Named::new("--spawn", args, &args.spawns)?;
    let mut sides: Vec<Side> = Vec::new();
    for (name, url) in &args.servers {
        if sides.iter().any(|side| side.run.server == *name) {
            return Err(LoadError::Usage(format!("--server: {name} is there twice")));
        }
        let out = args.out.join(name);
        let people: People =
            users.get(name).map(|path| users_file::read(Path::new(path))).transpose()?.map(Arc::new);
        let spawn = spawns.get(name).map(str::to_owned);
        let target = Arc::new(Target::parse(url, &policy)?);
        let server_pid = given_process(name, pids.get(name), spawn.as_deref(), &target)?;
        let session = Session {
            target,
            server_pid,
            people,
            disk_dir: disk_dir(args.disk_dir.clone(), spawn.as_deref()),
            spawn,
            log: out.join(report::SERVER_LOG),
            judges: false,
            baselines: !args.no_baseline,
            interrupt: interrupt.clone(),
        };
        sides.push(Side { session, run: new_run(name, url), out });
    }
    if sides.len() < 2 {
        return Err(LoadError::Usage(
            "--server: a comparison needs two servers: give `--server NAME=URL` for each".to_owned(),
        ));
    }
    Ok(sides)
}

/// The process that was given for a server, which has to be it as far as that can be known.
fn given_process(
    name: &str,
    pid: Option<&str>,
    spawn: Option<&str>,
    target: &Target,
) -> Result<Option<u32>, LoadError> {
    let Some(pid) = pid else { return Ok(None) };
    let usage = |why: String| LoadError::Usage(format!("--server-pid {name}: {why}"));
    if spawn.is_some() {
        return Err(usage("the process is the one that --spawn starts: leave one of the two out".to_owned()));
    }
    let pid = parse_pid(pid).map_err(usage)?;
    let warning = check_server(pid, target).map_err(usage)?;
    warning.into_iter().for_each(|warning| note(format!("warning: --server-pid {name}: {warning}")));
    Ok(Some(pid))
}

/// The values of an option by the name of the server; one without a name is for all servers.
struct Named(BTreeMap<String, String>);

impl Named {
    fn new(option: &str, args: &CompareArgs, values: &[(String, String)]) -> Result<Self, LoadError> {
        let mut named = BTreeMap::new();
        for (name, value) in values {
            let is_known = name.is_empty() || args.servers.iter().any(|(server, _)| server == name);
            if !is_known {
                return Err(LoadError::Usage(format!("{option}: no --server is named {name}")));
            }
            if named.insert(name.clone(), value.clone()).is_some() {
                let whose = if name.is_empty() { "the one without a name" } else { name };
                return Err(LoadError::Usage(format!("{option}: {whose} is there twice")));
            }
        }
        Ok(Self(named))
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).or_else(|| self.0.get("")).map(String::as_str)
    }
}

#[cfg(test)]
mod tests;
