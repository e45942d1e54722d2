//! `compare`: the same scenarios on two or more servers, one after the other, without expectations. `overlay` does the same
//! with runs that were written earlier.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::{CompareArgs, OverlayArgs};
use crate::error::LoadError;
use crate::http::{Target, TargetPolicy};
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
pub async fn compare(args: CompareArgs) -> Result<bool, LoadError> {
    let mut sides = sides(&args)?;
    let mut scenarios = load_scenarios(&args.scenarios, args.secs)?;
    prepare_files(&sides, &args)?;
    let most = scenarios.iter().map(|scenario| scenario.users).max().unwrap_or(0);
    for side in &mut sides {
        // A server that cannot be asked fails when its first scenario runs, and the others go on.
        if let Err(error) = side.session.keep_usable(most as usize).await {
            note(format!("warning: {}: {error}", side.run.server));
        }
    }
    let fewest = sides.iter().filter_map(|side| Some(side.session.people.as_ref()?.len())).min();
    if let Some(fewest) = fewest.and_then(|fewest| u32::try_from(fewest).ok()) {
        scenarios.iter_mut().for_each(|scenario| scenario.limit_users(fewest));
    }
    if let Some(warning) = sides.first().and_then(|side| machine::busy_before(&side.run.machine)) {
        note(format!("warning: {warning}"));
    }
    let mut failures = Vec::new();
    for scenario in &scenarios {
        for side in &mut sides {
            let server = side.run.server.clone();
            note(format!("{} on {server}: {}", scenario.name, scenario.about));
            if let Err(error) = side.run_scenario(scenario).await {
                failures.push(format!("{} on {server} failed: {error}", scenario.name));
                side.keep_failure(scenario, &error);
            }
        }
        let runs: Vec<RunResult> = sides.iter().map(|side| side.run.clone()).collect();
        write(&runs, &args.out)?;
        report::write_exports(&runs, args.export.csv.as_deref(), args.export.prometheus.as_deref())?;
        print(report::overlay::render_text(&runs, &scenario.name));
    }
    failures.iter().for_each(print);
    print(format!("written: {}", args.out.join(PAGE).display()));
    Ok(failures.is_empty())
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
        own.push(side.session.log.clone());
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
        self.run.scenarios.push(result);
        report::write(&self.run, &self.out)?;
        failure.map_or(Ok(()), Err)
    }

    /// Keeps the reason of a scenario without any figures, for the page.
    fn keep_failure(&mut self, scenario: &Scenario, error: &LoadError) {
        if self.run.scenarios.iter().any(|result| result.name == scenario.name) {
            return;
        }
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
fn sides(args: &CompareArgs) -> Result<Vec<Side>, LoadError> {
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
        let pid = pids.get(name).map(parse_pid).transpose();
        let spawn = spawns.get(name).map(str::to_owned);
        let session = Session {
            target: Arc::new(Target::parse(url, &policy)?),
            server_pid: pid.map_err(|why| LoadError::Usage(format!("--server-pid {name}: {why}")))?,
            people,
            disk_dir: disk_dir(args.disk_dir.clone(), spawn.as_deref()),
            spawn,
            log: out.join("server.log"),
            judges: false,
            baselines: !args.no_baseline,
        };
        sides.push(Side { session, run: new_run(name, url), out });
    }
    if sides.len() < 2 {
        return Err(LoadError::Usage("--server: a comparison needs two servers".to_owned()));
    }
    Ok(sides)
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
