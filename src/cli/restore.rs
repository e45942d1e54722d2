//! `millstream restore`: a new data folder from a backup.

use super::backup::{FromArgs, files, millis_of, readable};
use super::error::CliError;
use crate::admin::{self, Answer, Since};
use crate::units::size;
use actors::backups::{OnDamage, RestoreError, Restored};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Restore a backup into a new data folder
///
/// The first start on the new folder builds its database from the journal.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  millstream restore --from /mnt/backups --data /var/lib/millstream-restored
  millstream restore --from /mnt/backups --data /var/lib/millstream-restored --at 2026-11-22T18:30:00Z")]
pub struct RestoreArgs {
    #[command(flatten)]
    from: FromArgs,
    /// Data folder to create; missing or empty
    #[arg(long, value_name = "NEW")]
    data: PathBuf,
    /// Restore the state at this time instead of the newest backup: a date and a time (2026-11-22T18:30:00Z), a date (2026-11-22), a
    /// time ago (12h, 30 days, 2w), today, or yesterday. Without an offset it is UTC. The whole second is included
    #[arg(long, value_name = "TIME", value_parser = Since::parse)]
    at: Option<Since>,
    /// Restore without uploaded files that are damaged or missing in the backup. Everything else must be whole
    #[arg(long)]
    skip_damaged: bool,
}

/// Restores, and prints what was restored.
pub fn run(args: &RestoreArgs) -> Result<(), CliError> {
    let now = model::Timestamp(millis_of(Timestamp::now()));
    let time = args.at.map(|at| at.at(now).0 / 1000 * 1000 + 999);
    let on_damage = if args.skip_damaged { OnDamage::Skip } else { OnDamage::Refuse };
    let restored =
        actors::backups::restore(args.from.repository()?, &args.data, time, on_damage).map_err(|error| {
            match error {
                RestoreError::TooEarly { oldest } => too_early(time.unwrap_or_default(), oldest),
                RestoreError::Failed(error) => CliError::Data(error),
            }
        })?;
    args.from.output.print(&Answer {
        table: None,
        lines: lines(args, time, &restored),
        value: value(args, time, &restored),
    })
}

fn too_early(time: u64, oldest: u64) -> CliError {
    CliError::Refused(format!(
        "nothing had changed yet at {}; the oldest change is of {}: choose this time or a later one",
        readable(time),
        readable(oldest)
    ))
}

fn lines(args: &RestoreArgs, time: Option<u64>, restored: &Restored) -> Vec<String> {
    let state = time.map(|time| format!("state of {} from the ", readable(time))).unwrap_or_default();
    let done = format!(
        "Restored the {state}backup of {} to {}: {}, {}. {} left out.",
        readable(restored.at),
        args.data.display(),
        files(restored.files),
        size(restored.bytes),
        match restored.frames_removed {
            1 => "1 later change was".to_owned(),
            count => format!("{count} later changes were"),
        },
    );
    let mut lines = vec![done];
    if restored.skipped_count > 0 {
        lines.push(format!("Left out, because they are damaged: {}", files(restored.skipped_count)));
        lines.extend(restored.skipped.iter().map(|path| format!("  {path}")));
        let more = restored.skipped_count - restored.skipped.len();
        lines.extend((more > 0).then(|| format!("  and {more} more")));
    }
    lines
}

fn value(args: &RestoreArgs, time: Option<u64>, restored: &Restored) -> Value {
    let written = |at: u64| admin::time(model::Timestamp(at));
    json!({
        "time": written(restored.at), "state": written(time.unwrap_or(restored.at)), "data": args.data,
        "files": restored.files, "bytes": restored.bytes, "later_changes": restored.frames_removed,
        "skipped": restored.skipped, "skipped_count": restored.skipped_count,
    })
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn times_are_those_of_audit() {
        let parse = |at: &str| parse::<RestoreArgs>(&["--from", "a", "--data", "b", "--at", at]);
        for at in ["2026-11-27 14:48:12 UTC", "2026-11-27T14:48:12Z", "2026-11-27", "1h", "yesterday"] {
            assert!(parse(at).is_ok(), "{at}");
        }
        let refused = parse("soon").unwrap_err().to_string();
        assert!(refused.contains("a date (2026-11-01)"), "{refused}");
    }
}
