//! Exports by the operator on a running server: begin one, and ask how far it is.

use super::answer::Answer;
use super::find::find_realm;
use crate::cli::error::CliError;
use crate::http::App;
use crate::transfer::export::{
    ExportKind, ExportProgress, ExportRequest, ExportState, Exported, target_folder, top_name,
};
use crate::units::{counted, size};
use serde_json::json;
use std::path::PathBuf;

/// Begins an export.
pub fn start(app: &App, realm: &str, to: PathBuf, kind: ExportKind) -> Result<Answer, CliError> {
    let realm = find_realm(&app.server, realm)?;
    let request = ExportRequest {
        top: top_name(&to),
        folder: target_folder(&to),
        blobs: app.blobs.clone(),
        stop: app.exports.stop_flag(),
        realm,
        kind,
    };
    app.exports.start(request, to)?;
    Ok(Answer::of("The export has begun.".to_owned(), json!({"state": "running"})))
}

/// How far the newest export is.
pub fn status(app: &App) -> Result<Answer, CliError> {
    match app.exports.state() {
        ExportState::None => {
            Err(CliError::Refused("no export was begun since the server started".to_owned()))
        }
        ExportState::Running(ExportProgress { done, all }) => {
            let line = format!("{done} of {all} messages are exported.");
            Ok(Answer::of(line, json!({"state": "running", "done": done, "all": all})))
        }
        ExportState::Done(exported) => Ok(done(&exported)),
        ExportState::Failed(reason) => Err(CliError::Refused(reason)),
    }
}

/// What a finished export has.
pub fn done(exported: &Exported) -> Answer {
    let Exported { messages, files, bytes, missing_files } = exported;
    let (sent, parts) = (counted(*messages, "message"), counted(*files, "file"));
    let mut line = format!("Exported {sent} in {parts}, {} before compression.", size(*bytes));
    match missing_files {
        0 => {}
        1 => line.push_str(" 1 uploaded file is missing in the store and was left out."),
        count => {
            line.push_str(&format!(" {count} uploaded files are missing in the store and were left out."))
        }
    }
    Answer::of(
        line,
        json!({"state": "done", "messages": messages, "files": files, "bytes": bytes,
            "missing_files": missing_files}),
    )
}
