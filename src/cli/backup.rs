//! `millstream backup`: backups of a data folder, also while a server uses it.

mod repository;
mod verify;

pub use repository::{FromArgs, files, readable};

use super::data::DataArgs;
use super::error::CliError;
use super::print::print_note;
use crate::admin::{Answer, time};
use crate::config::parse_duration;
use crate::units::{counted, size};
use actors::backups::FileStore;
use jiff::Timestamp;
use repository::{check_outside, repository};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// The longest interval, in seconds: 100 years.
const SECS_MAX: u64 = 100 * 365 * 24 * 3_600;

/// Back up a data folder; the server may be running
///
/// Adds a backup to a repository, which is a folder or a prefix in a bucket (S3): the journal, uploaded files and the secret. Only
/// what changed since the last backup is read and stored. Everything that the server acknowledged before the start of a backup is in it.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  millstream backup --data /var/lib/millstream --to /mnt/backups
  millstream backup --data /var/lib/millstream --to s3://acme/backups --every 1h --keep 30d"
)]
pub struct BackupArgs {
    #[command(subcommand)]
    command: Option<BackupCommand>,
    #[command(flatten)]
    data: DataArgs,
    /// Backup repository: a folder, created if it is missing, or s3://BUCKET/PREFIX, with the access of section [backups] of the
    /// configuration
    #[arg(long, value_name = "REPOSITORY", required = true)]
    to: Option<String>,
    /// Make a backup now, and again after each interval, such as 30m or 1h, until the command is stopped
    #[arg(long, value_name = "TIME", value_parser = duration)]
    every: Option<Duration>,
    /// After each backup, remove backups that are older than this, such as 7d; the newest is always kept
    #[arg(long, value_name = "TIME", value_parser = duration)]
    keep: Option<Duration>,
}

/// What to do with existing backups.
#[derive(Debug, clap::Subcommand)]
enum BackupCommand {
    Verify(verify::VerifyArgs),
}

/// Makes one backup, or one after each interval, or verifies existing ones.
pub fn run(args: &BackupArgs) -> Result<(), CliError> {
    if let Some(BackupCommand::Verify(args)) = &args.command {
        return verify::run(args);
    }
    let Some(to) = &args.to else { return Ok(()) };
    let config = args.data.load_single(
        "its data folder is no backup; use the backup of the database (WAL archive or pg_dump), and one of the files",
    )?;
    check_outside(to, &config.data)?;
    loop {
        let made = repository(to, &config).and_then(|to| back_up(&args.data, &config.data, to, args.keep));
        let Some(interval) = args.every else { return made };
        if let Err(error) = made {
            // The next one may succeed, and the earlier ones are still there.
            print_note(format_args!("millstream: {error}"));
        }
        std::thread::sleep(interval);
    }
}

fn back_up(
    args: &DataArgs,
    data: &Path,
    to: Box<dyn FileStore>,
    keep: Option<Duration>,
) -> Result<(), CliError> {
    let millis = millis_of(Timestamp::now());
    let keep_from =
        keep.map(|keep| millis.saturating_sub(u64::try_from(keep.as_millis()).unwrap_or(u64::MAX)));
    let (done, removed) = actors::backups::back_up(data, to, millis, keep_from)?;
    let at = time(model::Timestamp(done.at));
    let text = format!(
        "Backup of {}: {}, {}; new are {}, {}. {} removed.",
        readable(done.at),
        files(done.files),
        size(done.bytes),
        files(done.new_files),
        size(done.new_bytes),
        counted_were(removed, "old backup"),
    );
    let value = json!({
        "time": at, "files": done.files, "bytes": done.bytes, "new_files": done.new_files,
        "new_bytes": done.new_bytes, "removed_backups": removed,
    });
    args.print(&Answer::of(text, value))
}

fn counted_were(count: usize, noun: &str) -> String {
    format!("{} {}", counted(count as u64, noun), if count == 1 { "was" } else { "were" })
}

/// Milliseconds since 1970.
pub fn millis_of(time: Timestamp) -> u64 {
    u64::try_from(time.as_millisecond()).unwrap_or_default()
}

/// A duration of at least a second, such as `90s`, `30m`, `1.5h` or `7 days`.
fn duration(text: &str) -> Result<Duration, String> {
    match parse_duration(text) {
        Some(time) if (1..=SECS_MAX).contains(&time.as_secs()) => Ok(time),
        Some(_) => Err("it must be at least a second and at most 100 years".to_owned()),
        None => Err("it is not a number with a unit, such as 90s, 30m, 1.5h, 7d or 2 weeks".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        for (text, secs) in [("90s", 90), ("30m", 1_800), ("1.5h", 5_400), ("7d", 604_800), ("1w", 604_800)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(secs)));
        }
        for text in ["", "h", "1", "0s", "-1h", "99999999999999999999d", "1é"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn verify_needs_no_target() {
        assert!(parse::<BackupArgs>(&[]).is_err());
        assert!(parse::<BackupArgs>(&["--to", "/backups", "--every", "1h", "--keep", "7d"]).is_ok());
        let args: BackupArgs = parse(&["verify", "--from", "/backups"]).unwrap();
        assert!(matches!(args.command, Some(BackupCommand::Verify(_))));
        assert!(parse::<BackupArgs>(&["--to", "/backups", "verify", "--from", "/backups"]).is_err());
    }
}
