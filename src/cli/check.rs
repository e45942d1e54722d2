//! `millstream check`: checks the integrity of a data folder.

use super::data::DataArgs;
use super::error::CliError;
use actors::CheckProgress;
use std::io::IsTerminal;

/// Check the integrity of a data folder
///
/// Reads everything: verifies the journal, which holds every change, and compares the database, which is derived from
/// it. The exit code is 0 if there is no damage, or if --rebuild repaired it. The search index is made again by the server
/// when it is missing or damaged, so its state does not change the exit code.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Rebuild data that differs from the journal
    #[arg(long)]
    rebuild: bool,
}

/// Checks, and prints a report. Fails if there is damage that was not repaired.
pub fn run(args: &CheckArgs) -> Result<(), CliError> {
    let data = args.data.load_single("its data folder can be made again; the database has the logs")?.data;
    let is_watched = std::io::stderr().is_terminal();
    let report = actors::check(&data, args.rebuild, |at| {
        if is_watched {
            show(&at);
        }
    });
    if is_watched {
        eprint!("\r\x1b[K");
    }
    let report = report?;
    for index in actors::check_indexes(&data, &report) {
        println!("{index}");
    }
    println!("{report}");
    if report.is_clean() || report.is_repaired() {
        return Ok(());
    }
    Err(CliError::Refused(format!("{} is damaged", data.display())))
}

/// Overwrites the progress line on standard error.
fn show(at: &CheckProgress) {
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
