//! `millstream outbox`: the pending and failed deliveries.

use super::data::DataArgs;
use super::error::CliError;
use super::offline::execute_and_print;
use crate::admin::AdminRequest;

/// List, retry and drop deliveries: e-mails, webhook calls, push notifications
///
/// Without a command it lists the pending deliveries, and the newest ones that were given up, with the reason.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct OutboxArgs {
    #[command(subcommand)]
    command: Option<OutboxCommand>,
    #[command(flatten)]
    data: DataArgs,
}

/// Commands for deliveries.
#[derive(Debug, clap::Subcommand)]
enum OutboxCommand {
    /// List the pending deliveries, and the newest ones that were given up
    List(DataArgs),
    /// Retry one delivery, or all that were given up, immediately
    Retry(RetryArgs),
    /// Remove a delivery
    Drop(DropArgs),
}

/// The arguments of `outbox retry`.
#[derive(Debug, clap::Args)]
struct RetryArgs {
    /// The job, as `outbox list` shows it (default: all that were given up)
    job: Option<u64>,
    /// Subdomain of the organization (default: none)
    #[arg(long, value_name = "SUBDOMAIN", default_value = "", hide_default_value = true)]
    realm: String,
    #[command(flatten)]
    data: DataArgs,
}

/// The arguments of `outbox drop`.
#[derive(Debug, clap::Args)]
struct DropArgs {
    /// The job, as `outbox list` shows it
    job: u64,
    /// Subdomain of the organization (default: none)
    #[arg(long, value_name = "SUBDOMAIN", default_value = "", hide_default_value = true)]
    realm: String,
    #[command(flatten)]
    data: DataArgs,
}

/// Runs the command.
pub fn run(args: OutboxArgs) -> Result<(), CliError> {
    match args.command {
        None => execute_and_print(&args.data, AdminRequest::OutboxList),
        Some(OutboxCommand::List(data)) => execute_and_print(&data, AdminRequest::OutboxList),
        Some(OutboxCommand::Retry(RetryArgs { job, realm, data })) => {
            execute_and_print(&data, AdminRequest::OutboxRetry { realm, job })
        }
        Some(OutboxCommand::Drop(DropArgs { job, realm, data })) => {
            execute_and_print(&data, AdminRequest::OutboxDrop { realm, job })
        }
    }
}
