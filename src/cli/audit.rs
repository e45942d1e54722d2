//! `millstream audit`: the audit log.

use super::data::{DataArgs, subdomain};
use super::error::CliError;
use super::offline::execute_and_print;
use crate::admin::{AdminRequest, Since};

/// Entries that one call lists.
const LISTED_MAX: u64 = 100_000;

/// Show who changed what in an organization: accounts, roles, channels, groups, permissions, settings, messages of others
///
/// Lists the newest entries, the oldest of them first: the time (UTC), the account, the client and its address, and what was done.
/// The operator's own commands are listed, too. Owners read the same with `GET /realm/audit` and on the page `/about`.
#[derive(Debug, clap::Args)]
pub struct AuditArgs {
    /// Subdomain of the organization (default: the organization without a subdomain)
    #[arg(long, value_name = "SUBDOMAIN", default_value = "-", hide_default_value = true, value_parser = subdomain)]
    realm: String,
    /// Only entries at this time or later: a time ago (12h, 30 days, 2w), today, yesterday, a date (2026-11-01), or a date and a time
    /// (2026-11-01T08:30:00Z). Without an offset it is UTC
    #[arg(long, value_name = "TIME", value_parser = Since::parse)]
    since: Option<Since>,
    /// Only entries by the account with this e-mail address, or about it
    #[arg(long, value_name = "ADDRESS")]
    user: Option<String>,
    /// List at most this many entries
    #[arg(long, value_name = "NUMBER", default_value = "100", value_parser = clap::value_parser!(u64).range(1..=LISTED_MAX))]
    limit: u64,
    #[command(flatten)]
    data: DataArgs,
}

/// Lists the entries.
pub fn run(args: AuditArgs) -> Result<(), CliError> {
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let request = AdminRequest::Audit { realm: args.realm, since: args.since, user: args.user, limit };
    execute_and_print(&args.data, request)
}
