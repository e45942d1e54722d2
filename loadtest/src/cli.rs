//! The command line. What each command does is in `runner`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::process::parse_pid;
use crate::scenario::{CLIENTS_MAX, SECS_MAX};

/// What to begin with.
const EXAMPLES: &str = "\
Examples:
  List the scenarios:
    loadtest scenarios
  Start a server for a scenario, and write target/loadtest/report.html:
    loadtest run send --spawn 'millstream dev --data /tmp/load'
  Test a development server that is running, for five seconds a phase:
    loadtest run users_me --url http://127.0.0.1:9991 --secs 5";

/// Load tests over HTTP for servers that speak the Zulip API: a development server on this machine, or with `--users` any other
/// one.
///
/// Exit code: 0 if all expectations were met, 1 if one was missed, 2 if the run failed or was interrupted.
#[derive(Debug, Parser)]
#[command(name = "loadtest", version, after_help = EXAMPLES)]
pub struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
    /// Number of client threads, 1 or 2. The server needs the rest of the machine.
    #[arg(long, global = true, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    pub threads: u8,
}

/// The commands of the program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run scenarios: files, or names listed by `loadtest scenarios`.
    Run(RunArgs),
    /// Run the same scenarios on two or more servers, and show them side by side.
    ///
    /// Expectations are not checked. Exit code 1: a scenario could not be run on one of the servers.
    Compare(CompareArgs),
    /// Show earlier runs side by side, from their `results.json`.
    Overlay(OverlayArgs),
    /// Append the figures of a run to the recorded history, and draw its plot.
    ///
    /// The default files are those of the repository, so call it in the repository's folder.
    History(HistoryArgs),
    /// Measure the machine without a server under test.
    ///
    /// GET, POST and held requests of a bare actix-web server, which `run` compares with, too, and overwriting 4 KiB of a file +
    /// fdatasync.
    Baseline(BaselineArgs),
    /// Measure the time from exec to the first response, and the resident memory then (scenario `start`).
    Start(StartArgs),
    /// List the scenarios included in the program.
    Scenarios,
    /// The bare server of the baselines; started by the program itself.
    #[command(hide = true)]
    BareServer {
        /// A file for `GET /file`, sent by actix-files.
        #[arg(long)]
        file: Option<PathBuf>,
    },
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Scenario files, or names of included scenarios.
    #[arg(value_name = "SCENARIO", required = true)]
    pub scenarios: Vec<String>,
    /// The server's URL, and its process or the command that starts it.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Accounts for a server without the development endpoints: JSON or CSV with `email` and `api_key`. Bots that may not use
    /// the API and guests are skipped.
    #[arg(value_name = "FILE", long)]
    pub users: Option<PathBuf>,
    /// Other machines and https.
    #[command(flatten)]
    pub reach: ReachArgs,
    /// Files for other programs.
    #[command(flatten)]
    pub export: ExportArgs,
    /// Output folder for `results.json`, `report.html` and `server.log`. Those of an earlier run get `previous-` before their
    /// names.
    #[arg(value_name = "FOLDER", long, default_value = "target/loadtest")]
    pub out: PathBuf,
    /// Do not measure the bare server and the disk of this machine, which say nothing about another one. Expectations that
    /// compare with them are left out.
    #[arg(long)]
    pub no_baseline: bool,
    /// Folder on the disk to measure: the server's data folder, or one on the same disk. Default: that of `--data` in `--spawn`,
    /// or, until the server has created it, the one that it is in; without `--data` the system's temporary folder.
    #[arg(value_name = "FOLDER", long)]
    pub disk_dir: Option<PathBuf>,
    /// Measured seconds of every phase with a duration, overriding the scenario. Phases with stages keep theirs.
    #[arg(long, allow_negative_numbers = true, value_parser = parse_secs)]
    pub secs: Option<f64>,
}

/// Which servers may be tested.
#[derive(Debug, Args)]
pub struct ReachArgs {
    /// Allow servers on other machines. Only test servers whose operator has agreed to it.
    #[arg(long)]
    pub allow_remote: bool,
    /// Certificate authorities (PEM) for https, instead of the system's. The file must exist.
    #[arg(value_name = "FILE", long)]
    pub ca: Option<PathBuf>,
}

/// Files for other programs.
#[derive(Debug, Default, Args)]
pub struct ExportArgs {
    /// File for the figures as CSV, a line each. An earlier one gets `previous-` before its name.
    #[arg(value_name = "FILE", long)]
    pub csv: Option<PathBuf>,
    /// File for the figures in the text format of Prometheus.
    #[arg(value_name = "FILE", long)]
    pub prometheus: Option<PathBuf>,
}

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Scenario files, or names of included scenarios.
    #[arg(value_name = "SCENARIO", required = true)]
    pub scenarios: Vec<String>,
    /// A server, and its name in the report. Ratios are those to the first server.
    #[arg(long = "server", value_name = "NAME=URL", required = true, value_parser = parse_named)]
    pub servers: Vec<(String, String)>,
    /// Accounts: JSON or CSV with `email` and `api_key`. Without a name for all servers. A server without
    /// accounts must be a development server. Scenarios use as many users as the shortest file has.
    #[arg(long, value_name = "[NAME=]FILE", value_parser = parse_perhaps_named)]
    pub users: Vec<(String, String)>,
    /// Process id of a server on this machine, to read its memory and CPU time: the process that listens on the URL's port.
    /// Its workers and other processes are not counted.
    #[arg(long = "server-pid", value_name = "NAME=PID", value_parser = parse_named)]
    pub server_pids: Vec<(String, String)>,
    /// Command that starts a server, run for every scenario; split at white space, also within quotes. A wrapper must `exec` the server.
    #[arg(long = "spawn", value_name = "NAME=CMD", value_parser = parse_named)]
    pub spawns: Vec<(String, String)>,
    /// Other machines and https.
    #[command(flatten)]
    pub reach: ReachArgs,
    /// Files for other programs.
    #[command(flatten)]
    pub export: ExportArgs,
    /// Output folder for `compare.html`, and a folder for each server, with its `server.log`. Files of an earlier run get `previous-`
    /// before their names.
    #[arg(value_name = "FOLDER", long, default_value = "target/loadtest")]
    pub out: PathBuf,
    /// Do not measure the bare server and the disk of this machine, which say nothing about another one.
    #[arg(long)]
    pub no_baseline: bool,
    /// Folder on the disk to measure. Default: as for `run`.
    #[arg(value_name = "FOLDER", long)]
    pub disk_dir: Option<PathBuf>,
    /// Measured seconds of every phase with a duration, overriding the scenario. Phases with stages keep theirs.
    #[arg(long, allow_negative_numbers = true, value_parser = parse_secs)]
    pub secs: Option<f64>,
}

/// Arguments of `overlay`.
#[derive(Debug, Args)]
pub struct OverlayArgs {
    /// `results.json` of a run, and its name on the page. Ratios are those to the first run.
    #[arg(value_name = "NAME=FILE", required = true, num_args = 2.., value_parser = parse_named_path)]
    pub results: Vec<(String, PathBuf)>,
    /// Output folder for `compare.html`.
    #[arg(value_name = "FOLDER", long, default_value = "target/loadtest")]
    pub out: PathBuf,
}

/// Arguments of `history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// `results.json` of a run of `send`, `send_one`, `fanout`, `users_me`, `fetch_newest`, `idle` or `start`.
    /// Without it, only the plot is drawn. An interrupted run is refused, and scenarios with failures are left out.
    #[arg(value_name = "FILE", long, requires = "version")]
    pub results: Option<PathBuf>,
    /// The release or the change that was measured; without commas and quotes.
    #[arg(long, requires = "results")]
    pub version: Option<String>,
    /// The recorded history.
    #[arg(value_name = "FILE", long, default_value = "loadtest/history.csv")]
    pub file: PathBuf,
    /// Its plot.
    #[arg(value_name = "FILE", long, default_value = "loadtest/HISTORY.svg")]
    pub plot: PathBuf,
}

/// Measured seconds: as in a scenario, and more than 0.
fn parse_secs(text: &str) -> Result<f64, String> {
    let secs = text.parse().ok().filter(|secs| *secs > 0.0 && *secs <= SECS_MAX);
    secs.ok_or_else(|| format!("a number above 0 and up to {SECS_MAX} is expected"))
}

/// Splits `NAME=VALUE`. A name is also that of a folder.
fn parse_named(text: &str) -> Result<(String, String), String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(format!("write it with a name in reports, as old={text}"));
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(fits) || value.is_empty() {
        return Err("write NAME=VALUE; the name has letters, digits, '-', '_' and '.'".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

fn parse_perhaps_named(text: &str) -> Result<(String, String), String> {
    if text.contains('=') { parse_named(text) } else { Ok((String::new(), text.to_owned())) }
}

fn parse_named_path(text: &str) -> Result<(String, PathBuf), String> {
    parse_named(text).map(|(name, path)| (name, path.into()))
}

/// The server under test.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// URL of the server; must be a loopback address without `--allow-remote`.
    #[arg(long, default_value = "http://127.0.0.1:9991")]
    pub url: String,
    /// Process id of the running server, to read its memory and CPU time: the process that listens on the URL's port. Another one is
    /// refused. Its workers and other processes are not counted.
    #[arg(value_name = "PID", long, conflicts_with = "spawn", value_parser = parse_pid)]
    pub server_pid: Option<u32>,
    /// Command that starts the server, run for every scenario; split at white space, also within quotes. A wrapper must `exec` the server.
    /// For example 'millstream dev --data /tmp/load'.
    #[arg(value_name = "CMD", long)]
    pub spawn: Option<String>,
}

/// Arguments of `baseline`.
#[derive(Debug, Args)]
pub struct BaselineArgs {
    /// Seconds per round; each measurement has three rounds.
    #[arg(long, default_value_t = 2.0, allow_negative_numbers = true, value_parser = parse_secs)]
    pub secs: f64,
    /// Number of concurrent clients.
    #[arg(
        long,
        default_value_t = 64,
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(CLIENTS_MAX))
    )]
    pub clients: u32,
    /// Number of held requests to measure memory per connection; 0 skips the measurement.
    #[arg(long, default_value_t = 2_000)]
    pub held: u32,
    /// Folder on the disk to measure. Default: the system's temporary folder.
    #[arg(value_name = "FOLDER", long)]
    pub disk_dir: Option<PathBuf>,
}

/// Arguments of `start`.
#[derive(Debug, Args)]
pub struct StartArgs {
    /// Command that starts the server; split at white space, also within quotes. A wrapper must `exec` the server.
    #[arg(value_name = "CMD", long)]
    pub spawn: String,
    /// URL that the server will listen on, with http. For https use `loadtest run start`.
    #[arg(long, default_value = "http://127.0.0.1:9991")]
    pub url: String,
    /// Output folder for `results.json`, `report.html` and `server.log`. Those of an earlier run get `previous-` before their
    /// names.
    #[arg(value_name = "FOLDER", long, default_value = "target/loadtest")]
    pub out: PathBuf,
    /// Number of starts, 1 to 100. Default: that of the scenario, 7.
    #[arg(value_name = "COUNT", long, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: Option<u32>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn servers_have_names() {
        assert_eq!(parse_named("a=http://x?y=z").unwrap(), ("a".to_owned(), "http://x?y=z".to_owned()));
        assert_eq!(parse_perhaps_named("users.csv").unwrap(), (String::new(), "users.csv".to_owned()));
        for bad in ["http://x", "=x", "a/b=x", "..=x", "a="] {
            assert!(parse_named(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn seconds_are_checked() {
        let commands = [
            &["run", "send"][..],
            &["compare", "send", "--server", "a=http://x", "--server", "b=http://x"],
            &["baseline"],
        ];
        for command in commands {
            let parsed = |secs| Cli::try_parse_from([&["loadtest"], command, &["--secs", secs]].concat());
            for refused in ["0", "-1", "nan", "inf", "1e300", "3601", "x"] {
                let error = parsed(refused).err().map(|error| error.to_string()).unwrap_or_default();
                let range = "'--secs <SECS>': a number above 0 and up to 3600 is expected";
                assert!(error.contains(range), "{command:?} {refused}: {error}");
            }
            assert!(parsed("0.5").is_ok());
        }
    }

    #[test]
    fn clients_of_the_baseline_are_checked() {
        let parsed = |clients| Cli::try_parse_from(["loadtest", "baseline", "--clients", clients]);
        for refused in ["0", "-1", "2001"] {
            let error = parsed(refused).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains("--clients") && error.contains("1..=2000"), "{refused}: {error}");
        }
        assert!(parsed("1").is_ok() && parsed("2000").is_ok());
    }

    #[test]
    fn processes_exist() {
        let parsed = |pid: &str| Cli::try_parse_from(["loadtest", "run", "send", "--server-pid", pid]);
        assert!(parsed(&std::process::id().to_string()).is_ok());
        for (refused, why) in [
            ("4294967295", "there is no process 4294967295"),
            ("0", "there is no process 0"),
            ("x", "not a process id"),
        ] {
            let error = parsed(refused).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(why), "{refused}: {error}");
        }
    }
}
