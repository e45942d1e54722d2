//! The command line: the commands and their arguments.
//!
//! Every command is one file of `cli/`: its arguments, and the function that runs it.

pub mod audit;
pub mod backup;
pub mod channel;
pub mod check;
#[cfg(feature = "cluster")]
pub mod cluster;
pub mod config;
pub mod data;
pub mod dev;
pub mod doctor;
pub mod documents;
pub mod erase;
pub mod error;
pub mod export;
pub mod health;
pub mod import;
pub mod logging;
mod notify;
mod offline;
pub mod outbox;
mod print;
mod progress;
pub mod realm;
#[cfg(feature = "cluster")]
pub mod relocate;
pub mod restore;
pub mod routes;
mod run;
pub mod running;
pub mod serve;
pub mod settings;
pub mod signal;
pub mod user;
pub mod web_app;

use clap::{CommandFactory, Parser, Subcommand};
use error::CliError;
use std::process::ExitCode;

/// The end of `millstream --help`: first steps, and what the exit code of a command means.
const AFTER_HELP: &str = "\
To try it, with a sample organization:
  millstream dev

To run a server that keeps its data in the folder `millstream-data`:
  millstream realm create Acme --owner-email olga@acme.example --owner-name 'Olga Ortiz'
  millstream serve

Exit codes:
  0    done
  1    refused, failed, or found a problem; standard error says why
  2    the command line is not valid
  129, 130, 143
       ended by SIGHUP, SIGINT or SIGTERM before it was done";

/// A team chat server that speaks the Zulip HTTP API, in one binary, with no other services needed.
#[derive(Debug, Parser)]
#[command(name = "millstream", version, propagate_version = true, after_help = AFTER_HELP)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Dev(dev::DevArgs),
    Serve(serve::ServeArgs),
    /// Create, list, deactivate and reactivate organizations, move them to a cluster and back
    #[command(subcommand)]
    Realm(realm::RealmCommand),
    /// List, create and change accounts, their passwords, roles, keys and sessions
    #[command(subcommand)]
    User(user::UserCommand),
    /// List and create channels
    #[command(subcommand)]
    Channel(channel::ChannelCommand),
    /// Install Zulip's web app from a release archive, show it, remove it
    #[command(subcommand)]
    WebApp(web_app::WebAppCommand),
    /// Import an organization from another server
    #[command(subcommand)]
    Import(import::ImportCommand),
    Export(export::ExportArgs),
    /// Show the nodes of a cluster, move organizations between them, drain one
    #[cfg(feature = "cluster")]
    #[command(subcommand)]
    Cluster(cluster::ClusterCommand),
    Audit(audit::AuditArgs),
    Outbox(outbox::OutboxArgs),
    LogLevel(running::LogLevelArgs),
    Reload(running::ReloadArgs),
    Health(health::HealthArgs),
    Doctor(doctor::DoctorArgs),
    Backup(backup::BackupArgs),
    Restore(restore::RestoreArgs),
    Check(check::CheckArgs),
    Erase(erase::EraseArgs),
    Config(config::ConfigArgs),
    Settings(settings::SettingsArgs),
    Routes(routes::RoutesArgs),
    Completions(documents::CompletionsArgs),
    Man(documents::ManArgs),
}

impl Cli {
    /// Reads the command line of the process and runs its command, or prints the help or the version that it asks for. Errors
    /// are printed on standard error; a command line that is not valid ends the process.
    pub fn run() -> ExitCode {
        let done = match Self::try_parse() {
            Ok(cli) => cli.command.run(),
            Err(wrong) if wrong.use_stderr() => wrong.exit(),
            Err(help) => print::print_help(&help),
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(CliError::Interrupted(signal)) => ExitCode::from(signal.exit_code()),
            Err(error) => {
                print::print_note(format_args!("millstream: {error}"));
                ExitCode::FAILURE
            }
        }
    }
}

impl Command {
    fn run(self) -> Result<(), CliError> {
        match self {
            Self::Dev(args) => dev::run(&args),
            Self::Serve(args) => serve::run(&args),
            Self::Realm(command) => realm::run(command),
            Self::User(command) => user::run(command),
            Self::WebApp(command) => web_app::run(command),
            Self::Channel(command) => channel::run(command),
            Self::Import(command) => interruptible(|| import::run(command)),
            Self::Export(args) => export::run(&args),
            #[cfg(feature = "cluster")]
            Self::Cluster(command) => cluster::run(command),
            Self::Audit(args) => audit::run(args),
            Self::Outbox(args) => outbox::run(args),
            Self::LogLevel(args) => running::log_level(args),
            Self::Reload(args) => running::reload(&args),
            Self::Health(args) => health::run(&args),
            Self::Doctor(args) => doctor::run(&args),
            Self::Backup(args) => interruptible(|| backup::run(&args)),
            Self::Restore(args) => interruptible(|| restore::run(&args)),
            Self::Check(args) => interruptible(|| check::run(&args)),
            Self::Erase(args) => interruptible(|| erase::run(&args)),
            Self::Config(args) => config::run(&args),
            Self::Settings(args) => settings::run(&args),
            Self::Routes(args) => routes::run(&args),
            Self::Completions(args) => documents::completions(&args, Cli::command()),
            Self::Man(args) => documents::man(&args, Cli::command()),
        }
    }
}

/// Runs a command that may end at any time, as by a kill; `serve`, `dev` and `export` have something to do at a signal.
fn interruptible(run: impl FnOnce() -> Result<(), CliError>) -> Result<(), CliError> {
    let prepared = actix_rt::System::new().block_on(async { signal::fail_beyond_size_limit() });
    prepared
        .and_then(|()| signal::end_first_process())
        .map_err(|reason| CliError::System { what: "cannot wait for signals", reason })?;
    run()
}

/// Parses one command's arguments as if they had been typed.
#[cfg(test)]
fn parse<A: clap::Args>(words: &[&str]) -> Result<A, clap::Error> {
    let command = A::augment_args(clap::Command::new("millstream"));
    let matches = command.try_get_matches_from(std::iter::once(&"millstream").chain(words))?;
    A::from_arg_matches(&matches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_definition_is_valid() {
        Cli::command().debug_assert();
    }
}
