//! Erasing what was deleted, and how far that is.

use super::answer::Answer;
use crate::cli::error::CliError;
use crate::units::counted;
use actors::{EraseStatus, Erased, Server};
use serde_json::json;

/// Begins to erase.
pub(super) fn start(server: &Server) -> Answer {
    server.request_erase();
    Answer::of("Erasing has begun.".to_owned(), json!({"state": "running"}))
}

/// How far it is.
pub(super) fn status(server: &Server) -> Result<Answer, CliError> {
    match server.erase_status() {
        EraseStatus::None => {
            Err(CliError::Refused("nothing was asked for since the server started".to_owned()))
        }
        EraseStatus::Running { step, done, all } => {
            let line = format!("Erasing: {step}, {done} of {all}.");
            Ok(Answer::of(line, json!({"state": "running", "step": step, "done": done, "all": all})))
        }
        EraseStatus::Done(erased) => Ok(done(&erased)),
        EraseStatus::Failed(reason) => Err(CliError::Refused(reason)),
    }
}

fn done(erased: &Erased) -> Answer {
    let Erased { messages, histories, accounts, frames, parts } = erased;
    let line = format!(
        "Erased: the contents of {}, old versions of {}, the data of {}; {} of the journal, in {}.",
        counted(*messages, "deleted message"),
        counted(*histories, "message"),
        counted(*accounts, "deleted account"),
        counted(*frames, "change"),
        counted(*parts, "file"),
    );
    let value = json!({"state": "done", "messages": messages, "histories": histories, "accounts": accounts,
        "frames": frames, "files": parts});
    Answer::of(line, value)
}
