//! `millstream audit`: the log of administrative acts.

use super::backup::duration;
use super::data::DataArgs;
use super::error::CliError;
use super::offline::execute_and_print;
use crate::admin::AdminRequest;
use std::time::{Duration, SystemTime};

/// Acts that one call lists.
const LISTED_MAX: u64 = 100_000;

/// Show who changed what in an organization: accounts, roles, channels, groups, permissions, settings, messages of others
///
/// Lists the newest acts, the oldest of them first: the time (UTC), the account, what was done, the client and its address.
/// Acts of the operator's commands are listed, too. Owners read the same with `GET /realm/audit` and on the page `/about`.
#[derive(Debug, clap::Args)]
pub struct AuditArgs {
    /// Subdomain of the organization (default: none)
    #[arg(long, value_name = "SUBDOMAIN", default_value = "", hide_default_value = true)]
    realm: String,
    /// Only acts of this long ago or later, such as 12h or 7d
    #[arg(long, value_name = "TIME", value_parser = duration)]
    since: Option<Duration>,
    /// Only acts by the account with this e-mail address, or about it
    #[arg(long, value_name = "ADDRESS")]
    user: Option<String>,
    /// The greatest number of acts
    #[arg(long, value_name = "NUMBER", default_value = "100", value_parser = clap::value_parser!(u64).range(1..=LISTED_MAX))]
    limit: u64,
    #[command(flatten)]
    data: DataArgs,
}

/// Lists the acts.
pub fn run(args: AuditArgs) -> Result<(), CliError> {
    let since = args.since.map(|since| {
        let start = SystemTime::now().checked_sub(since).unwrap_or(SystemTime::UNIX_EPOCH);
        let start = start.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(start.as_millis()).unwrap_or(u64::MAX)
    });
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let request = AdminRequest::Audit { realm: args.realm, since, user: args.user, limit };
    execute_and_print(&args.data, request)
}
