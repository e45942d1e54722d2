//! `millstream backup`: backups of a data folder, also while a server uses it.

use super::data::DataArgs;
use super::error::CliError;
use jiff::Timestamp;
use std::path::PathBuf;
use std::time::Duration;

/// Back up a data folder; the server may be running
///
/// Adds a backup to a folder of backups: the journal, uploaded files and the secret. Only what changed since the last backup is
/// read and stored. Everything that the server acknowledged before the start of a backup is in it.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BackupArgs {
    #[command(subcommand)]
    command: Option<BackupCommand>,
    #[command(flatten)]
    data: DataArgs,
    /// Folder of backups; created if it is missing
    #[arg(long, value_name = "DIR", required = true)]
    to: Option<PathBuf>,
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
    /// Compare everything in a folder of backups with its checksums
    Verify {
        /// Folder of backups
        #[arg(long, value_name = "DIR")]
        from: PathBuf,
    },
}

/// Makes one backup, or one after each interval, or verifies existing ones.
pub fn run(args: &BackupArgs) -> Result<(), CliError> {
    if let Some(BackupCommand::Verify { from }) = &args.command {
        refuse_remote(from)?;
        return verify(from);
    }
    let Some(to) = &args.to else { return Ok(()) };
    refuse_remote(to)?;
    let data = args.data.load()?.data;
    loop {
        let made = back_up(&data, to, args.keep);
        let Some(interval) = args.every else { return made };
        if let Err(error) = made {
            // The next one may succeed, and the earlier ones are still there.
            eprintln!("millstream: {error}");
        }
        std::thread::sleep(interval);
    }
}

fn back_up(data: &std::path::Path, to: &std::path::Path, keep: Option<Duration>) -> Result<(), CliError> {
    let now = Timestamp::now();
    let millis = millis_of(now);
    let keep_from =
        keep.map(|keep| millis.saturating_sub(u64::try_from(keep.as_millis()).unwrap_or(u64::MAX)));
    let (done, removed) = actors::backups::back_up(data, to, millis, keep_from)?;
    println!(
        "backup of {now:.0}: {} files, {} bytes; {} files, {} bytes of them new; {removed} old backups removed",
        done.files, done.bytes, done.new_files, done.new_bytes
    );
    Ok(())
}

fn verify(from: &std::path::Path) -> Result<(), CliError> {
    let (times, files, bytes) = actors::backups::verify(from)?;
    for at in &times {
        println!(
            "{:.0}",
            i64::try_from(*at).ok().and_then(|at| Timestamp::from_millisecond(at).ok()).unwrap_or_default()
        );
    }
    println!("{} backups are intact; the newest has {files} files, {bytes} bytes", times.len());
    Ok(())
}

/// Only folders are supported.
pub fn refuse_remote(path: &std::path::Path) -> Result<(), CliError> {
    if path.to_string_lossy().contains("://") {
        return Err(CliError::Refused(format!(
            "{} is not a folder; backups are only made to folders. Copy the folder of backups to other places",
            path.display()
        )));
    }
    Ok(())
}

/// Milliseconds since 1970.
pub fn millis_of(time: Timestamp) -> u64 {
    u64::try_from(time.as_millisecond()).unwrap_or_default()
}

/// A duration such as `90s`, `30m`, `1h` or `7d`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a number with s, m, h or d, such as 1h");
    let unit_secs = match text.chars().next_back() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3_600,
        Some('d') => 24 * 3_600,
        _ => return Err(wrong()),
    };
    let count: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    match count.checked_mul(unit_secs).filter(|secs| (1..=100 * 365 * 24 * 3_600).contains(secs)) {
        Some(secs) => Ok(Duration::from_secs(secs)),
        None => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        for (text, secs) in [("90s", 90), ("30m", 1_800), ("1h", 3_600), ("7d", 604_800)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(secs)));
        }
        for text in ["", "h", "1", "1w", "0s", "-1h", "1.5h", "99999999999999999999d", "1é"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn verify_needs_no_target() {
        assert!(parse::<BackupArgs>(&[]).is_err());
        assert!(parse::<BackupArgs>(&["--to", "/backups", "--every", "1h", "--keep", "7d"]).is_ok());
        let args: BackupArgs = parse(&["verify", "--from", "/backups"]).unwrap();
        assert!(matches!(args.command, Some(BackupCommand::Verify { .. })));
        assert!(parse::<BackupArgs>(&["--to", "/backups", "verify", "--from", "/backups"]).is_err());
        assert!(refuse_remote(std::path::Path::new("s3://bucket/backups")).is_err());
    }
}
