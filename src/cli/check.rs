//! `millstream check`: whether a data folder is in order.

use super::error::CliError;
use actors::CheckProgress;
use std::io::IsTerminal;
use std::path::PathBuf;

/// Check a data folder: is the journal whole, and do the trees say what it says?
///
/// Reads everything. The journal holds every change since the beginning; the trees are made from it, and can be
/// made again. The exit code is 0 when everything is in order, or was put in order by --rebuild.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// Data folder; the server must not be running on it
    #[arg(long, value_name = "DIR", env = "MILLSTREAM_DATA", default_value = "millstream-data")]
    data: PathBuf,
    /// Make trees that differ anew, from the journal
    #[arg(long)]
    rebuild: bool,
}

/// Checks, and prints what was found. Fails when something is not in order afterwards.
pub fn run(args: &CheckArgs) -> Result<(), CliError> {
    let mut progress = ProgressLine::new();
    let report = actors::check(&args.data, args.rebuild, |at| progress.show(&at));
    progress.clear();
    let report = report?;
    println!("{report}");
    if report.is_clean() || report.is_repaired() {
        return Ok(());
    }
    Err(CliError::Refused(format!("{} is not in order", args.data.display())))
}

/// One line on standard error that is written over and over; nothing where nobody watches.
struct ProgressLine {
    is_watched: bool,
}

impl ProgressLine {
    fn new() -> Self {
        Self { is_watched: std::io::stderr().is_terminal() }
    }

    fn show(&mut self, at: &CheckProgress) {
        if !self.is_watched {
            return;
        }
        match at {
            CheckProgress::Journal { shard, progress } => eprint!(
                "\r\x1b[Kjournal {shard}: segment {} of {}, {} frames",
                progress.segments_done, progress.segments_total, progress.frames
            ),
            CheckProgress::Realm { realm, done, total } => {
                eprint!("\r\x1b[Korganization {realm}, {} of {total}", done + 1);
            }
        }
    }

    fn clear(&self) {
        if self.is_watched {
            eprint!("\r\x1b[K");
        }
    }
}
