//! `millstream erase`: erases the contents of deleted messages from a data folder.

use super::data::DataArgs;
use super::error::CliError;
use crate::admin::Answer;
use actors::Erased;
use serde_json::json;

/// Erase the contents of deleted messages (server stopped)
///
/// Deleting a message removes it from what people can read, but the journal keeps its text. This command replaces the texts of
/// deleted messages, and of all their versions, in the journal, and builds everything that is derived from the journal anew. It
/// cannot be undone. Backups that were made before keep the texts until they are removed.
#[derive(Debug, clap::Args)]
pub struct EraseArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Erase everything that was deleted up to now; required, because it cannot be undone
    #[arg(long)]
    now: bool,
}

/// Erases, and prints how much.
pub fn run(args: &EraseArgs) -> Result<(), CliError> {
    let data = args.data.load()?.data;
    if !args.now {
        return Err(CliError::Refused("erasing cannot be undone; add --now to do it".to_owned()));
    }
    let erased = actors::erase(&data)?;
    let Erased { messages, frames, parts } = erased;
    let line = format!(
        "The contents of {messages} deleted messages are erased: {frames} changes of the journal, {parts} of its files."
    );
    args.data.print(&Answer::of(line, json!({"messages": messages, "frames": frames, "files": parts})));
    Ok(())
}
