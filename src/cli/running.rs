//! `millstream log-level` and `millstream reload`: commands for a running server.

use super::data::DataArgs;
use super::error::CliError;
use super::offline::execute_and_print;
use crate::admin::AdminRequest;

/// Change what a running server logs, until it restarts or reloads its configuration
#[derive(Debug, clap::Args)]
pub struct LogLevelArgs {
    /// The new `log.filter`, a level, and targets with other levels, such as `info`, `debug` or `info,access=off`
    filter: String,
    #[command(flatten)]
    data: DataArgs,
}

/// Let a running server read its configuration again, as SIGHUP does
#[derive(Debug, clap::Args)]
pub struct ReloadArgs {
    #[command(flatten)]
    data: DataArgs,
}

/// Changes the log filter.
pub fn log_level(args: LogLevelArgs) -> Result<(), CliError> {
    execute_and_print(&args.data, AdminRequest::LogLevel { filter: args.filter })
}

/// Reloads the configuration.
pub fn reload(args: &ReloadArgs) -> Result<(), CliError> {
    execute_and_print(&args.data, AdminRequest::Reload)
}
