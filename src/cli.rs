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
use std::process::ExitCode;

/// The end of `millstream --help`.
const FIRST_STEPS: &str = "\
To try it, with a sample organization:
  millstream dev

To run a server that keeps its data in the folder `millstream-data`:
  millstream realm create Acme --owner-email olga@acme.example --owner-name 'Olga Ortiz'
  millstream serve";

/// A team chat server that speaks the Zulip HTTP API, in one binary, with no other services needed.
#[derive(Debug, Parser)]
#[command(name = "millstream", version, propagate_version = true, after_help = FIRST_STEPS)]
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
    /// Show a cluster of several servers, move organizations between them, drain one
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
    /// Runs the command. Errors are printed on standard error.
    pub fn run(self) -> ExitCode {
        let done = match self.command {
            Command::Dev(args) => dev::run(&args),
            Command::Serve(args) => serve::run(&args),
            Command::Realm(command) => realm::run(command),
            Command::User(command) => user::run(command),
            Command::WebApp(command) => web_app::run(command),
            Command::Channel(command) => channel::run(command),
            Command::Import(command) => import::run(command),
            Command::Export(args) => export::run(&args),
            #[cfg(feature = "cluster")]
            Command::Cluster(command) => cluster::run(command),
            Command::Audit(args) => audit::run(args),
            Command::Outbox(args) => outbox::run(args),
            Command::LogLevel(args) => running::log_level(args),
            Command::Reload(args) => running::reload(&args),
            Command::Health(args) => health::run(&args),
            Command::Doctor(args) => doctor::run(&args),
            Command::Backup(args) => backup::run(&args),
            Command::Restore(args) => restore::run(&args),
            Command::Check(args) => check::run(&args),
            Command::Erase(args) => erase::run(&args),
            Command::Config(args) => config::run(&args),
            Command::Settings(args) => settings::run(&args),
            Command::Routes(args) => routes::run(&args),
            Command::Completions(args) => documents::completions(&args, Self::command()),
            Command::Man(args) => documents::man(&args, Self::command()),
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(error::CliError::Interrupted(signal)) => ExitCode::from(signal.exit_code()),
            Err(error) => {
                print::print_note(format_args!("millstream: {error}"));
                ExitCode::FAILURE
            }
        }
    }
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
