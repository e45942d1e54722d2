//! The commands that test one server: `run`, `start`, `baseline`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::baseline::{Method, Needs, Point, Rounds, held};
use crate::cli::{BaselineArgs, ExportArgs, RunArgs, StartArgs};
use crate::error::LoadError;
use crate::http::{Target, TargetPolicy};
use crate::interrupt::Interrupt;
use crate::listening::check_server;
use crate::outcome::{FORMAT, RunResult, ScenarioResult};
use crate::output::{note, print};
use crate::process::{data_folder, raise_open_files};
use crate::scenario::included::INCLUDED;
use crate::scenario::{Scenario, Step};
use crate::session::{ScenarioRun, Session};
use crate::setup::users_file;
use crate::{machine, report};

const BASELINE_HOLD: Duration = Duration::from_secs(2);

/// Prints the included scenarios, as far as they are read.
pub fn list_scenarios() -> Result<(), LoadError> {
    let mut out = std::io::stdout().lock();
    for (name, _) in INCLUDED {
        let scenario = Scenario::load(name)?;
        if writeln!(out, "{name:<22}{}", scenario.about).is_err() {
            break;
        }
    }
    Ok(())
}

/// Reads scenarios, with another number of measured seconds if there is one.
pub fn load_scenarios(names: &[String], secs: Option<f64>) -> Result<Vec<Scenario>, LoadError> {
    let mut scenarios: Vec<Scenario> = Vec::new();
    for name in names {
        let mut scenario = Scenario::load(name)?;
        // Reports and metrics are by name.
        if scenarios.iter().any(|before| before.name == scenario.name) {
            return Err(LoadError::Usage(format!("{name}: the scenario {} is there twice", scenario.name)));
        }
        if let Some(secs) = secs {
            let staged =
                scenario.set_secs(secs).map_err(|why| LoadError::Usage(format!("{name}: --secs: {why}")))?;
            if !staged.is_empty() {
                let phases = staged.join(", ");
                note(format!("{name}: --secs is ignored where stages have their own seconds: {phases}"));
            }
        }
        scenarios.push(scenario);
    }
    Ok(scenarios)
}

/// Runs scenarios and reports; `false` if an expectation was missed.
pub async fn run(args: RunArgs, interrupt: &Interrupt) -> Result<bool, LoadError> {
    let mut scenarios = load_scenarios(&args.scenarios, args.secs)?;
    if args.no_baseline {
        scenarios.iter_mut().for_each(Scenario::drop_baselines);
    }
    let server = args.server;
    let policy = TargetPolicy::new(
        [server.url.as_str()].into_iter(),
        args.reach.allow_remote,
        args.reach.ca.as_deref(),
    )?;
    let people = args.users.as_deref().map(users_file::read).transpose()?.map(Arc::new);
    let target = Arc::new(Target::parse(&server.url, &policy)?);
    if let Some(pid) = server.server_pid {
        let checked =
            check_server(pid, &target).map_err(|why| LoadError::Usage(format!("--server-pid: {why}")));
        checked?.into_iter().for_each(|warning| note(format!("warning: --server-pid: {warning}")));
    }
    let session = Session {
        target,
        disk_dir: disk_dir(args.disk_dir, server.spawn.as_deref()),
        spawn: server.spawn,
        server_pid: server.server_pid,
        people,
        log: args.out.join(report::SERVER_LOG),
        judges: true,
        baselines: !args.no_baseline,
        interrupt: interrupt.clone(),
    };
    run_scenarios(&session, &server.url, scenarios, &args.out, &args.export).await
}

/// Runs the included scenario `start`.
pub async fn start(args: StartArgs, interrupt: &Interrupt) -> Result<bool, LoadError> {
    let mut scenario = Scenario::load("start")?;
    for phase in &mut scenario.phases {
        if let (Step::Start(step), Some(rounds)) = (&mut phase.step, args.rounds) {
            step.rounds = rounds;
        }
    }
    let session = Session {
        target: Arc::new(Target::local(&args.url)?),
        disk_dir: disk_dir(None, Some(&args.spawn)),
        spawn: Some(args.spawn),
        server_pid: None,
        people: None,
        log: args.out.join(report::SERVER_LOG),
        judges: true,
        baselines: true,
        interrupt: interrupt.clone(),
    };
    run_scenarios(&session, &args.url, vec![scenario], &args.out, &ExportArgs::default()).await
}

/// Measures the baselines and prints them.
pub async fn baseline(args: BaselineArgs) -> Result<(), LoadError> {
    raise_open_files(u64::from(args.clients.max(args.held)))?;
    let folder = disk_dir(args.disk_dir, None);
    let points = [Method::Get, Method::Post].map(|method| Point::new(method, args.clients));
    let needs = Needs { points: points.into(), disk: true };
    let mut rounds = Rounds::default();
    for _ in 0..3 {
        rounds.add(&needs, args.secs, &folder).await?;
    }
    print(report::table::render_machine(&machine::describe(String::new())));
    print(report::table::render_baselines(&rounds.summarize(&folder)));
    if args.held > 0 {
        let held = held::measure(args.held, BASELINE_HOLD).await?;
        print(format!(
            "bare actix-web, {} held requests: {:.1} KB each, last answered after {:.0} ms, CPU per request: server {:.1} µs, \
             client {:.1} µs",
            args.held,
            held.bytes_per_connection / 1000.0,
            held.last_receipt_ms,
            held.server_cpu_us,
            held.client_cpu_us
        ));
    }
    Ok(())
}

/// The beginning of a run: this machine, now.
pub fn new_run(server: &str, url: &str) -> RunResult {
    RunResult {
        format: FORMAT,
        server: server.to_owned(),
        url: url.to_owned(),
        started_at: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        machine: machine::describe(String::new()),
        scenarios: Vec::new(),
        not_run: Vec::new(),
        interrupted: None,
        met: false,
    }
}

/// Creates the output folder.
pub fn make_folder(out: &Path) -> Result<(), LoadError> {
    std::fs::create_dir_all(out).map_err(|source| LoadError::file(out, source))
}

async fn run_scenarios(
    session: &Session,
    url: &str,
    scenarios: Vec<Scenario>,
    out: &Path,
    export: &ExportArgs,
) -> Result<bool, LoadError> {
    make_folder(out)?;
    report::check_writable(out, report::RUN_FILES)?;
    let own: Vec<PathBuf> = report::RUN_FILES.iter().map(|name| out.join(name)).collect();
    report::check_exports(export.csv.as_deref(), export.prometheus.as_deref(), &own)?;
    report::rename_earlier(out, report::RUN_FILES)?;
    report::rename_earlier_exports(export.csv.as_deref(), export.prometheus.as_deref())?;
    let mut run = new_run("", url);
    if let Some(warning) = machine::busy_before(&run.machine) {
        note(format!("warning: {warning}"));
    }
    run.not_run = scenarios.iter().map(|scenario| scenario.name.clone()).collect();
    for (scenario, left) in scenarios.iter().zip((0..scenarios.len()).rev()) {
        note(format!("{}: {}", scenario.name, scenario.about));
        let failure = add_scenario(session, scenario, &mut run).await.err();
        // Written after every scenario, so that a long run that fails, or is killed, leaves its results.
        if run.is_reported() {
            report::write(&run, out)?;
            let runs = std::slice::from_ref(&run);
            report::write_exports(runs, export, failure.is_some() || left == 0)?;
        }
        let is_new = |result: &&ScenarioResult| result.name == scenario.name;
        if let Some(result) = run.scenarios.last().filter(is_new) {
            print(report::table::render_scenario(result));
        }
        if let Some(error) = failure {
            report::table::run_warnings(&run).iter().for_each(|warning| print(format!("NOT MET: {warning}")));
            return Err(error);
        }
    }
    print(report::table::render_machine(&run.machine));
    print(format!("written: {}", out.join("report.html").display()));
    Ok(run.met)
}

/// Runs a scenario and adds its result, if there is one, to the run.
async fn add_scenario(session: &Session, scenario: &Scenario, run: &mut RunResult) -> Result<(), LoadError> {
    let outcome = match session.run_scenario(scenario).await {
        Ok(ScenarioRun { result, version, failure }) => {
            if run.machine.server_version.is_empty() {
                run.machine.server_version = version;
            }
            run.not_run.retain(|name| *name != scenario.name);
            run.scenarios.push(result);
            failure.map_or(Ok(()), |error| Err(error.of_scenario(&scenario.name)))
        }
        Err(error) => Err(error),
    };
    run.end_scenario(outcome.as_ref().err());
    outcome
}

/// The folder to measure the disk in: as configured, or the data folder of the server's command, which may be a disk of its own, or
/// before it exists the one that it will be in, or the temporary one. A command runs in the folder of this program.
pub fn disk_dir(configured: Option<PathBuf>, spawn: Option<&str>) -> PathBuf {
    if let Some(folder) = configured {
        return folder;
    }
    let data = spawn.and_then(data_folder).and_then(|data| std::path::absolute(data).ok());
    let folder = data.as_deref().and_then(|data| data.ancestors().find(|folder| folder.is_dir()));
    folder.map_or_else(std::env::temp_dir, Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::fake::{self, Faults};
    use crate::interrupt::Interrupter;

    #[test]
    fn disk_baseline_uses_the_data_folder() {
        assert_eq!(disk_dir(Some("/x".into()), Some("s --data /tmp/y")), Path::new("/x"));
        let folder = tempfile::tempdir().unwrap();
        let (parent, data) = (folder.path(), folder.path().join("data"));
        let of = |command: String| disk_dir(None, Some(&command));
        assert_eq!(of(format!("s dev --data {} --z", data.display())), parent);
        assert_eq!(of(format!("s dev --data={}/far/below --z", data.display())), parent);
        std::fs::create_dir(&data).unwrap();
        assert_eq!(of(format!("s dev --data {}", data.display())), data, "it may be a mount point");
        assert_eq!(disk_dir(None, Some("s dev")), std::env::temp_dir());
    }

    #[test]
    fn disk_baseline_of_a_relative_data_folder_is_where_the_server_runs() {
        let here = std::env::current_dir().unwrap();
        for absent in ["absent-data", "absent/data", "./absent-data"] {
            assert_eq!(disk_dir(None, Some(&format!("s dev --data {absent}"))), here, "{absent}");
        }
        assert_eq!(disk_dir(None, Some("s dev --data src")), here.join("src"));
    }

    /// Scenarios of one phase: sends for some seconds, and events for so long that a test never waits for their end.
    fn short_and_endless() -> Vec<Scenario> {
        let send =
            serde_json::json!({"do": "send", "clients": 1, "channel": "c", "chars": [24, 30], "topics": 1});
        let fanout = serde_json::json!({
            "do": "fanout", "senders": 1, "receivers": 1, "channel": "c", "chars": [24, 30], "topics": 1, "rate_per_sec": 5
        });
        let scenario = |(name, secs, step): (&str, f64, serde_json::Value)| {
            let text = serde_json::json!({
                "name": name, "about": "x", "users": 2, "channels": [{"name": "c", "subscribers": 2}],
                "phases": [{"name": "p", "secs": secs, "step": step}]
            });
            Scenario::parse(&text.to_string()).unwrap()
        };
        [("short", 0.1, send), ("endless", 600.0, fanout)].map(scenario).into()
    }

    fn session(out: &Path, interrupt: Interrupt) -> Session {
        Session {
            target: fake::start(Faults::default()),
            spawn: None,
            server_pid: None,
            people: None,
            disk_dir: out.to_owned(),
            log: out.join(report::SERVER_LOG),
            judges: true,
            baselines: false,
            interrupt,
        }
    }

    /// Runs both, and interrupts the second; returns the error and the results.
    async fn run_interrupted(scenarios: Vec<Scenario>, out: &Path) -> (String, Option<RunResult>) {
        let (interrupter, interrupt) = Interrupter::new();
        let session = session(out, interrupt);
        let export = ExportArgs { csv: Some(out.join("all.csv")), prometheus: None };
        let interruption = async {
            fake::wait_for_queue(&session.target).await;
            if out.join("results.json").exists() {
                let run = report::read(&out.join("results.json")).unwrap();
                assert_eq!((run.not_run, run.met), (vec!["endless".to_owned()], false), "while it goes on");
            }
            interrupter.fire("SIGINT");
        };
        let running = run_scenarios(&session, "http://x", scenarios, out, &export);
        let (outcome, ()) = tokio::join!(running, interruption);
        (outcome.unwrap_err().to_string(), report::read(&out.join("results.json")).ok())
    }

    #[tokio::test]
    async fn interrupted_run_is_not_met_in_any_of_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let (error, run) = run_interrupted(short_and_endless(), folder.path()).await;
        assert_eq!(error, "interrupted by SIGINT in phase p of endless");
        let run = run.unwrap();
        assert_eq!((run.scenarios.len(), run.scenarios[0].is_met(), run.met), (1, true, false));
        assert_eq!(run.interrupted.as_deref(), Some("SIGINT in phase p of endless"));
        assert_eq!(run.not_run, ["endless"]);
        let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(text("report.html").contains("The run was interrupted, so its expectations are not met."));
        assert!(text("all.csv").contains(",,,,,run_met,,0\n"), "{}", text("all.csv"));
    }

    #[tokio::test]
    async fn run_that_is_interrupted_before_any_result_says_so_in_all_of_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let (error, run) = run_interrupted(short_and_endless().split_off(1), folder.path()).await;
        let run = run.unwrap();
        assert_eq!((run.scenarios.len(), run.not_run.len(), run.met), (0, 1, false));
        assert_eq!(format!("interrupted by {}", run.interrupted.unwrap()), error);
        let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(text("report.html").contains("The run was interrupted"));
        assert!(text("all.csv").contains(",,,,,run_interrupted,,1\n"), "{}", text("all.csv"));
    }

    #[tokio::test]
    async fn log_of_an_earlier_run_is_not_appended_to() {
        let folder = tempfile::tempdir().unwrap();
        let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let mut session = session(folder.path(), Interrupt::never());
        // Nothing listens there, and the command ends at once.
        session.target = Arc::new(Target::local("http://127.0.0.1:9").unwrap());
        session.spawn = Some("echo started".to_owned());
        let earlier = "of an earlier run\n";
        std::fs::write(&session.log, earlier).unwrap();
        let started = vec![short_and_endless().swap_remove(0)];
        let export = ExportArgs::default();
        run_scenarios(&session, "http://x", started, folder.path(), &export).await.unwrap_err();
        assert_eq!(
            (text("server.log"), text("previous-server.log")),
            ("started\n".to_owned(), earlier.to_owned())
        );
    }

    /// What a pipe gets, to which a run of these scenarios writes its figures.
    async fn written_to_a_pipe(scenarios: Vec<Scenario>, is_interrupted: bool) -> String {
        let folder = tempfile::tempdir().unwrap();
        let (mut reader, writer) = std::io::pipe().unwrap();
        let reading = std::thread::spawn(move || std::io::read_to_string(&mut reader).unwrap());
        let pipe = PathBuf::from(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&writer)));
        let (interrupter, interrupt) = Interrupter::new();
        let session = session(folder.path(), interrupt);
        let export = ExportArgs { csv: Some(pipe), prometheus: None };
        let interruption = async {
            if is_interrupted {
                fake::wait_for_queue(&session.target).await;
                interrupter.fire("SIGINT");
            }
        };
        let running = run_scenarios(&session, "http://x", scenarios, folder.path(), &export);
        let (outcome, ()) = tokio::join!(running, interruption);
        assert_eq!(outcome.ok(), (!is_interrupted).then_some(true));
        drop(writer);
        reading.join().unwrap()
    }

    #[tokio::test]
    async fn what_is_appended_to_is_written_once() {
        let mut again = short_and_endless().swap_remove(0);
        "again".clone_into(&mut again.name);
        let two = vec![short_and_endless().swap_remove(0), again];
        let interrupted = written_to_a_pipe(short_and_endless(), true).await;
        let whole = written_to_a_pipe(two, false).await;
        for (text, met) in [(&interrupted, ",run_met,,0\n"), (&whole, ",run_met,,1\n")] {
            assert_eq!(text.matches("started_at,server").count(), 1, "{text}");
            assert!(text.contains(met) && text.contains(",short,p,send,"), "{text}");
        }
        assert!(whole.contains(",again,p,send,"), "{whole}");
    }

    #[tokio::test]
    async fn another_process_is_not_taken_for_the_server() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let target = fake::start(Faults::default());
        let run_with = async |pid: u32| {
            let words = format!(
                "loadtest run users_me --secs 0.1 --no-baseline --url http://{} --server-pid {pid} --out {}",
                target.host,
                out.display()
            );
            let Command::Run(args) = Cli::parse_from(words.split(' ')).command else {
                panic!("another command")
            };
            run(args, &Interrupt::never()).await
        };
        let mut other = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let error = run_with(other.id()).await.unwrap_err().to_string();
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(
            error.starts_with("--server-pid: process ") && error.contains("does not listen on"),
            "{error}"
        );
        assert!(!out.exists(), "before the files of an earlier run are renamed");
        assert!(run_with(std::process::id()).await.is_ok());
    }

    #[test]
    fn scenario_is_run_once() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(load_scenarios(&names(&["idle", "send"]), None).unwrap().len(), 2);
        let error = load_scenarios(&names(&["idle", "send", "idle"]), None).unwrap_err().to_string();
        assert!(error.contains("idle is there twice"), "{error}");
    }

    #[test]
    fn other_seconds_are_checked_and_stages_keep_theirs() {
        let load = |name: &str| load_scenarios(&[name.to_owned()], Some(3.0));
        let error = load("missed_mail").unwrap_err().to_string();
        assert!(
            error
                .starts_with("missed_mail: --secs: phase with e-mails: secs is 3, and must be more than 140"),
            "{error}"
        );
        let ramp = load("ramp").unwrap().swap_remove(0);
        assert!(ramp.phases.iter().all(|phase| phase.secs < 3.0 && phase.measured_secs() > 3.0), "{ramp:?}");
        let mut ramp = Scenario::load("ramp").unwrap();
        let names: Vec<String> = ramp.phases.iter().map(|phase| phase.name.clone()).collect();
        assert_eq!(ramp.set_secs(3.0), Ok(names.iter().map(String::as_str).collect()));
        assert_eq!(Scenario::load("send").unwrap().set_secs(3.0), Ok(Vec::new()));
    }

    #[tokio::test]
    async fn run_with_repeated_ids_misses_an_expectation_and_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let mut session = session(folder.path(), Interrupt::never());
        session.target = fake::start(Faults { repeat_id_every: 3, ..Faults::default() });
        let scenarios = vec![short_and_endless().swap_remove(0)];
        let export = ExportArgs::default();
        let met = run_scenarios(&session, "http://x", scenarios, folder.path(), &export).await.unwrap();
        assert!(!met, "which is exit code 1");
        let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
        assert!(page.contains("200 with the id of a message that was acknowledged before"), "{page}");
    }
}
