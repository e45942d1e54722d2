//! `millstream restore`: a new data folder from a backup.

use super::backup::{FromArgs, millis_of};
use super::error::CliError;
use jiff::Timestamp;
use std::path::PathBuf;

/// Restore a backup into a new data folder
///
/// The first start on the new folder builds its database from the journal.
#[derive(Debug, clap::Args)]
pub struct RestoreArgs {
    #[command(flatten)]
    from: FromArgs,
    /// Data folder to create; missing or empty
    #[arg(long, value_name = "NEW")]
    data: PathBuf,
    /// Restore the state at this time, such as 2026-11-22T18:30:00Z, instead of the newest backup
    #[arg(long, value_name = "TIME")]
    at: Option<Timestamp>,
}

/// Restores, and prints what was restored.
pub fn run(args: &RestoreArgs) -> Result<(), CliError> {
    // The whole second is included.
    let time = args.at.map(|at| millis_of(at) / 1000 * 1000 + 999);
    let restored = actors::backups::restore(args.from.place()?, &args.data, time)?;
    let at = i64::try_from(restored.at).ok().and_then(|at| Timestamp::from_millisecond(at).ok());
    println!(
        "restored the backup of {:.0} to {}: {} files, {} bytes; {} later changes were left out",
        at.unwrap_or_default(),
        args.data.display(),
        restored.files,
        restored.bytes,
        restored.frames_removed
    );
    Ok(())
}
