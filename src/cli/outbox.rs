//! `millstream outbox`: the pending and failed deliveries.

use super::data::{DataArgs, subdomain};
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
    list: ListArgs,
}

/// Commands for deliveries.
#[derive(Debug, clap::Subcommand)]
enum OutboxCommand {
    /// List the pending deliveries, and the newest ones that were given up
    List(ListArgs),
    /// Retry one delivery, or all that were given up, immediately
    Retry(RetryArgs),
    /// Remove a delivery
    Drop(DropArgs),
}

/// The arguments of `outbox` and `outbox list`.
#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Subdomain of the organization; - for the one without (default: all organizations)
    #[arg(long, value_name = "SUBDOMAIN", value_parser = subdomain)]
    realm: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

/// The arguments of `outbox retry`.
#[derive(Debug, clap::Args)]
struct RetryArgs {
    /// The job, as `outbox list` shows it (default: all that were given up)
    #[arg(value_parser = job_number)]
    job: Option<u64>,
    /// Subdomain of the organization; - for the one without (default: all organizations)
    #[arg(long, value_name = "SUBDOMAIN", value_parser = subdomain)]
    realm: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

/// The arguments of `outbox drop`.
#[derive(Debug, clap::Args)]
struct DropArgs {
    /// The job, as `outbox list` shows it
    #[arg(value_parser = job_number)]
    job: u64,
    /// Subdomain of the organization; - for the one without (default: the organization that has the job)
    #[arg(long, value_name = "SUBDOMAIN", value_parser = subdomain)]
    realm: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

/// Reads the number of a job.
fn job_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| {
        "it is not the number of a job, which `millstream outbox list` shows; `outbox retry` without a number retries \
         all that were given up"
            .to_owned()
    })
}

/// Runs the command.
pub fn run(args: OutboxArgs) -> Result<(), CliError> {
    match args.command {
        None => list(args.list),
        Some(OutboxCommand::List(args)) => list(args),
        Some(OutboxCommand::Retry(RetryArgs { job, realm, data })) => {
            execute_and_print(&data, AdminRequest::OutboxRetry { realm, job })
        }
        Some(OutboxCommand::Drop(DropArgs { job, realm, data })) => {
            execute_and_print(&data, AdminRequest::OutboxDrop { realm, job })
        }
    }
}

fn list(args: ListArgs) -> Result<(), CliError> {
    execute_and_print(&args.data, AdminRequest::OutboxList { realm: args.realm })
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn word_that_is_no_job_gets_a_sentence() {
        assert!(parse::<RetryArgs>(&["12"]).is_ok_and(|args| args.job == Some(12)));
        assert!(parse::<RetryArgs>(&[]).is_ok_and(|args| args.job.is_none()));
        let said = parse::<RetryArgs>(&["all"]).unwrap_err().to_string();
        assert!(said.contains("not the number of a job") && !said.contains("digit"), "{said}");
        assert!(parse::<DropArgs>(&["all"]).unwrap_err().to_string().contains("not the number of a job"));
    }

    #[test]
    fn commands_are_of_all_organizations_or_of_one() {
        assert!(parse::<OutboxArgs>(&[]).is_ok_and(|args| args.list.realm.is_none()));
        for (realm, expected) in [("beta", "beta"), ("-", "")] {
            let args: OutboxArgs = parse(&["--realm", realm]).unwrap();
            assert_eq!(args.list.realm.as_deref(), Some(expected));
            let args: OutboxArgs = parse(&["list", "--realm", realm]).unwrap();
            let Some(OutboxCommand::List(list)) = args.command else { panic!("no list") };
            assert_eq!(list.realm.as_deref(), Some(expected));
            let args: RetryArgs = parse(&["--realm", realm]).unwrap();
            assert_eq!(args.realm.as_deref(), Some(expected));
        }
        assert!(parse::<RetryArgs>(&[]).is_ok_and(|args| args.realm.is_none()));
        assert!(parse::<DropArgs>(&["7"]).is_ok_and(|args| args.realm.is_none()));
    }
}
