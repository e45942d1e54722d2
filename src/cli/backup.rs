//! `millstream backup`: backups of a data folder, also while a server uses it.

mod verify;

use super::config::environment;
use super::data::{DataArgs, Output};
use super::error::CliError;
use crate::admin::{Answer, time};
use crate::config::{Config, Overrides, parse_duration};
use crate::integrations::blobs::backups::Bucket;
use crate::units::{counted, readable_time, size};
use actors::backups::{FileStore, Folder};
use jiff::Timestamp;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest interval, in seconds: 100 years.
const SECS_MAX: u64 = 100 * 365 * 24 * 3_600;

/// Back up a data folder; the server may be running
///
/// Adds a backup to a folder of backups, or to S3: the journal, uploaded files and the secret. Only what changed since the last backup is
/// read and stored. Everything that the server acknowledged before the start of a backup is in it.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BackupArgs {
    #[command(subcommand)]
    command: Option<BackupCommand>,
    #[command(flatten)]
    data: DataArgs,
    /// Folder of backups, created if it is missing, or s3://BUCKET/PREFIX, with the access of section [backups] of the configuration
    #[arg(long, value_name = "PLACE", required = true)]
    to: Option<String>,
    /// Make a backup now, and again after each interval, such as 30m or 1h, until the command is stopped
    #[arg(long, value_name = "TIME", value_parser = duration)]
    every: Option<Duration>,
    /// Remove older backups, such as 7d; the newest is always kept
    #[arg(long, value_name = "TIME", value_parser = duration)]
    keep: Option<Duration>,
}

/// What to do with existing backups.
#[derive(Debug, clap::Subcommand)]
enum BackupCommand {
    Verify(verify::VerifyArgs),
}

/// The place of existing backups.
#[derive(Debug, clap::Args)]
pub struct FromArgs {
    /// Folder of backups, or s3://BUCKET/PREFIX, with the access of section [backups] of the configuration
    #[arg(long, value_name = "PLACE")]
    from: String,
    /// Configuration file of the server
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// How to print the result: for people, or one line of JSON
    #[arg(long, value_enum, default_value_t)]
    pub output: Output,
}

impl FromArgs {
    /// The place that these arguments name.
    pub fn place(&self) -> Result<Box<dyn FileStore>, CliError> {
        let config = Config::load(self.config.as_deref(), environment(), Overrides::default())?;
        place(&self.from, &config)
    }
}

/// The folder or the S3 service of this name.
fn place(name: &str, config: &Config) -> Result<Box<dyn FileStore>, CliError> {
    if !name.contains("://") {
        return Ok(Box::new(Folder::new(Path::new(name))));
    }
    let refused = |why: String| CliError::Refused(format!("{name}: {why}"));
    let path =
        name.strip_prefix("s3://").ok_or_else(|| refused("only folders and s3:// are supported".into()))?;
    let (bucket, prefix) = path.split_once('/').unwrap_or((path, ""));
    let bucket = Bucket::open(&config.backups, bucket, prefix).map_err(|error| refused(error.to_string()))?;
    Ok(Box::new(bucket))
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
        let made = place(to, &config).and_then(|to| back_up(&args.data, &config.data, to, args.keep));
        let Some(interval) = args.every else { return made };
        if let Err(error) = made {
            // The next one may succeed, and the earlier ones are still there.
            eprintln!("millstream: {error}");
        }
        std::thread::sleep(interval);
    }
}

/// Refuses a folder inside the data folder: it would be lost together with what it is to save.
fn check_outside(to: &str, data: &Path) -> Result<(), CliError> {
    if to.contains("://") {
        return Ok(());
    }
    let to =
        std::path::absolute(to).map_err(|reason| CliError::System { what: "the current folder", reason })?;
    // The place may be missing, and so may folders above it.
    let existing = to.ancestors().find_map(|folder| folder.canonicalize().ok());
    let is_inside = |data: PathBuf| existing.is_some_and(|existing| existing.starts_with(data));
    if !data.canonicalize().is_ok_and(is_inside) {
        return Ok(());
    }
    Err(CliError::Refused(format!(
        "{} is inside the data folder {}, and would be lost with it; choose a place on another disk",
        to.display(),
        data.display()
    )))
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
    args.print(&Answer::of(text, value));
    Ok(())
}

/// A time in milliseconds since 1970, as people write it.
pub fn readable(at: u64) -> String {
    readable_time(time(model::Timestamp(at)).as_str().unwrap_or_default())
}

/// A number of files.
pub fn files(count: usize) -> String {
    counted(count as u64, "file")
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
    fn places_are_folders_or_buckets() {
        let config = Config::load(None, [], Overrides::default()).unwrap();
        for name in
            ["/backups", "backups", "s3://bucket", "s3://bucket/", "s3://bucket/a/b-c", "s3://bucket/a/"]
        {
            let place = place(name, &config).map(|place| place.title());
            assert_eq!(place.unwrap(), name.trim_end_matches('/'));
        }
        for name in ["ftp://host/backups", "s3://", "s3:///a", "s3://bucket/../a", "s3://bucket/a b"] {
            assert!(place(name, &config).is_err(), "{name}");
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

    #[test]
    fn places_inside_the_data_folder_are_refused() {
        let temp = tempfile::tempdir().unwrap();
        let data = temp.path().join("data");
        std::fs::create_dir(&data).unwrap();
        std::os::unix::fs::symlink(&data, temp.path().join("link")).unwrap();
        let path = |name: &str| temp.path().join(name).display().to_string();
        for inside in ["data", "data/backups", "data/a/b", "link/backups"] {
            let refused = check_outside(&path(inside), &data).unwrap_err().to_string();
            assert!(refused.contains("is inside the data folder"), "{inside}: {refused}");
        }
        for outside in ["backups", "data-backups", "other/a"] {
            assert!(check_outside(&path(outside), &data).is_ok(), "{outside}");
        }
        assert!(check_outside("s3://bucket/backups", &data).is_ok());
        assert!(check_outside(&path("backups"), &temp.path().join("missing")).is_ok());
    }
}
