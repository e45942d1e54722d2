//! `millstream check`: checks the integrity of a data folder.

use super::data::DataArgs;
use super::error::CliError;
use super::print::replace_line;
use crate::admin::Answer;
use actors::{CheckProgress, Server};
use serde_json::json;
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
        replace_line(format_args!(""));
    }
    let report = report?;
    let indexes: Vec<String> =
        actors::check_indexes(&data, &report).into_iter().map(|index| index.to_string()).collect();
    let unfinished = Server::unfinished_realms_in(&data)?;
    let unfinished: Vec<String> = unfinished.iter().map(ToString::to_string).collect();
    let value = json!({
        "is_clean": report.is_clean(),
        "is_repaired": !report.is_clean() && report.is_repaired(),
        "journals": report.shards.iter().map(|shard| json!({
            "shard": shard.shard, "frames": shard.progress.frames, "bytes": shard.progress.bytes,
            "segments": shard.progress.segments_done,
            "damage": shard.damage.as_ref().map(ToString::to_string),
        })).collect::<Vec<_>>(),
        "trees_damage": report.trees_damage,
        "organizations": report.realms.iter().map(|realm| json!({
            "id": realm.realm.0, "frames": realm.frames, "rows": realm.rows, "differing": realm.differing,
            "inconsistent": realm.inconsistent, "rebuilt": realm.rebuilt, "problem": realm.problem,
        })).collect::<Vec<_>>(),
        "search": &indexes,
        "unfinished": &unfinished,
    });
    let lines = indexes.into_iter().chain(unfinished).chain([report.to_string()]).collect();
    args.data.print(&Answer { table: None, lines, value })?;
    if report.is_clean() || report.is_repaired() {
        return Ok(());
    }
    Err(CliError::Refused(format!("{} is damaged", data.display())))
}

/// Overwrites the progress line on standard error.
fn show(at: &CheckProgress) {
    match at {
        CheckProgress::Journal { shard, progress } => replace_line(format_args!(
            "journal {shard}: segment {} of {}, {} frames",
            progress.segments_done, progress.segments_total, progress.frames
        )),
        CheckProgress::Realm { realm, done, total } => {
            replace_line(format_args!("organization {realm}, {} of {total}", done + 1));
        }
    }
}
