//! The command line. What each command does is in `runner`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Load tests for a Zulip-compatible development server, over HTTP, on this machine only.
///
/// Exit code: 0 if all expectations were met, 1 if one was missed, 2 if the run failed.
#[derive(Debug, Parser)]
#[command(name = "loadtest", version)]
pub struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
    /// Number of client threads. The server needs the rest of the machine.
    #[arg(long, global = true, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    pub threads: u8,
}

/// The commands of the program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run scenarios: files, or names listed by `loadtest scenarios`.
    Run(RunArgs),
    /// Measure the machine without a server: bare actix-web, and append + fdatasync.
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
    #[arg(required = true)]
    pub scenarios: Vec<String>,
    /// The server's URL, and its process or the command that starts it.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Output folder for `results.json`, `report.html` and `server.log`.
    #[arg(long, default_value = "target/loadtest")]
    pub out: PathBuf,
    /// Folder on the disk to measure: the server's data folder, or one on the same disk. Default: the parent of
    /// `--data` in `--spawn`, or the system's temporary folder.
    #[arg(long)]
    pub disk_dir: Option<PathBuf>,
    /// Measured seconds of every phase with a duration, overriding the scenario.
    #[arg(long)]
    pub secs: Option<f64>,
}

/// The server under test.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// URL of the server; must be a loopback address.
    #[arg(long, default_value = "http://127.0.0.1:9991")]
    pub url: String,
    /// Process id of the running server, to read its memory and CPU time.
    #[arg(long, conflicts_with = "spawn")]
    pub server_pid: Option<u32>,
    /// Command that starts the server, run for every scenario; split at white space.
    /// For example 'millstream dev --data /tmp/load'.
    #[arg(long)]
    pub spawn: Option<String>,
}

/// Arguments of `baseline`.
#[derive(Debug, Args)]
pub struct BaselineArgs {
    /// Seconds per round; each measurement has three rounds.
    #[arg(long, default_value_t = 2.0)]
    pub secs: f64,
    /// Number of concurrent clients.
    #[arg(long, default_value_t = 64)]
    pub clients: u32,
    /// Number of held requests to measure memory per connection; 0 skips the measurement.
    #[arg(long, default_value_t = 2_000)]
    pub held: u32,
    /// Folder on the disk to measure. Default: the system's temporary folder.
    #[arg(long)]
    pub disk_dir: Option<PathBuf>,
}

/// Arguments of `start`.
#[derive(Debug, Args)]
pub struct StartArgs {
    /// Command that starts the server; split at white space.
    #[arg(long)]
    pub spawn: String,
    /// URL that the server will listen on.
    #[arg(long, default_value = "http://127.0.0.1:9991")]
    pub url: String,
    /// Output folder for `results.json`, `report.html` and `server.log`.
    #[arg(long, default_value = "target/loadtest")]
    pub out: PathBuf,
    /// Number of starts.
    #[arg(long)]
    pub rounds: Option<u32>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
