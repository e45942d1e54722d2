//! `millstream restore`: a new data folder from a backup.

use super::backup::{FromArgs, files, millis_of};
use super::error::CliError;
use crate::admin::{self, Answer};
use crate::units::{readable_time, size};
use jiff::Timestamp;
use serde_json::json;
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
    let at = admin::time(model::Timestamp(restored.at));
    let text = format!(
        "Restored the backup of {} to {}: {}, {}. {} left out.",
        readable_time(at.as_str().unwrap_or_default()),
        args.data.display(),
        files(restored.files),
        size(restored.bytes),
        match restored.frames_removed {
            1 => "1 later change was".to_owned(),
            count => format!("{count} later changes were"),
        },
    );
    let value = json!({
        "time": at, "data": args.data, "files": restored.files, "bytes": restored.bytes,
        "later_changes": restored.frames_removed,
    });
    args.from.output.print(&Answer::of(text, value));
    Ok(())
}
