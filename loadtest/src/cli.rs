//! The command line. What each command does is in `runner`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Load tests for a Zulip-compatible development server, over HTTP, on this machine only.
///
/// Exit code: 0 when every expectation was met, 1 when one was missed, 2 when the run could not be done.
#[derive(Debug, Parser)]
#[command(name = "loadtest", version)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Client threads. The server needs the rest of the machine.
    #[arg(long, global = true, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    pub threads: u8,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run scenarios: files, or names of the ones listed by `loadtest scenarios`.
    Run(RunArgs),
    /// Measure the machine alone: bare actix-web, and append + fdatasync.
    Baseline(BaselineArgs),
    /// Time from exec to the first answer, and the memory resident then (the scenario `start`).
    Start(StartArgs),
    /// List the scenarios that come with the program.
    Scenarios,
    /// The bare server of the baselines; started by the program itself.
    #[command(hide = true)]
    BareServer,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Scenario files, or names of shipped scenarios.
    #[arg(required = true)]
    pub scenarios: Vec<String>,
    /// Where the server is, and its process or the command that starts it.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Folder for `results.json`, `report.html` and `server.log`.
    #[arg(long, default_value = "target/loadtest")]
    pub out: PathBuf,
    /// Folder whose disk is measured; the server's data folder, or one on the same disk. Default: the parent of
    /// `--data` in `--spawn`, else the system's folder for temporary files.
    #[arg(long)]
    pub disk_dir: Option<PathBuf>,
    /// Measured seconds of every phase that has a time, instead of the scenario's.
    #[arg(long)]
    pub secs: Option<f64>,
}

/// The server under test.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// Address of the server; must be a loopback address.
    #[arg(long, default_value = "http://127.0.0.1:9991")]
    pub url: String,
    /// Process of the running server, to read its memory and CPU time.
    #[arg(long, conflicts_with = "spawn")]
    pub server_pid: Option<u32>,
    /// Command that starts the server, anew for every scenario; words are split at white space.
    /// For example 'millstream dev --data /tmp/load'.
    #[arg(long)]
    pub spawn: Option<String>,
}

/// Arguments of `baseline`.
#[derive(Debug, Args)]
pub struct BaselineArgs {
    /// Seconds of each of the three rounds of each measurement.
    #[arg(long, default_value_t = 2.0)]
    pub secs: f64,
    /// Concurrent clients.
    #[arg(long, default_value_t = 64)]
    pub clients: u32,
    /// Held requests for the memory of a connection; 0 leaves it out.
    #[arg(long, default_value_t = 2_000)]
    pub held: u32,
    /// Folder whose disk is measured. Default: the system's folder for temporary files.
    #[arg(long)]
    pub disk_dir: Option<PathBuf>,
}

/// Arguments of `start`.
#[derive(Debug, Args)]
pub struct StartArgs {
    /// Command that starts the server; words are split at white space.
    #[arg(long)]
    pub spawn: String,
    /// Address it will listen on.
    #[arg(long, default_value = "http://127.0.0.1:9991")]
    pub url: String,
    /// Folder for `results.json`, `report.html` and `server.log`.
    #[arg(long, default_value = "target/loadtest")]
    pub out: PathBuf,
    /// How often to start it.
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
