//! Exports by the operator on a running server, which sends the archive to the command.

use super::answer::Answer;
use super::export_stream::{PROGRESS_EVERY, Part, send};
use super::find::find_realm;
use super::request::ExportOptions;
use crate::cli::error::CliError;
use crate::http::App;
use crate::transfer::export::{ExportProgress, ExportRequest, Exported, top_name};
use crate::units::{counted, size};
use parking_lot::Mutex;
use serde_json::json;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tokio::net::UnixStream;
use tokio::sync::mpsc;

/// Parts of the archive that wait to be sent.
const PARTS_WAITING_MAX: usize = 2;

/// Makes an export and sends it to the command that asked for it, which may end meanwhile.
pub async fn send_export(app: App, wanted: ExportOptions, mut stream: UnixStream) {
    if let Err(error) = make_and_send(&app, wanted, &mut stream).await {
        tracing::warn!(%error, "an export was ended early, because the command does not receive it any more");
    }
}

async fn make_and_send(app: &App, wanted: ExportOptions, stream: &mut UnixStream) -> io::Result<()> {
    let ended = match (request(app, &wanted), app.exports.of_operator()) {
        (Ok(request), Ok(_turn)) => send_archive(app, request, stream).await?,
        (Err(error), _) => Err(error.to_string()),
        (_, Err(error)) => Err(error.to_string()),
    };
    send(stream, &Part::End(ended)).await
}

fn request(app: &App, wanted: &ExportOptions) -> Result<ExportRequest, CliError> {
    Ok(ExportRequest {
        realm: find_realm(&app.server, &wanted.realm)?,
        top: top_name(Path::new(&wanted.top)),
        folder: app.config.data.clone(),
        blobs: app.blobs.clone(),
        stop: app.exports.stop_flag(),
        kind: wanted.kind,
    })
}

/// Sends the archive while it is made, and how far it is.
async fn send_archive(
    app: &App,
    request: ExportRequest,
    stream: &mut UnixStream,
) -> io::Result<Result<Answer, String>> {
    let (sender, mut parts) = mpsc::channel(PARTS_WAITING_MAX);
    let progress = Arc::new(Mutex::new(ExportProgress::default()));
    let export = app.exports.in_parts(request, sender, progress.clone());
    tokio::pin!(export);
    let mut beat = tokio::time::interval(PROGRESS_EVERY);
    let exported = loop {
        tokio::select! {
            exported = &mut export => break exported,
            Some(bytes) = parts.recv() => send(stream, &Part::Archive(bytes)).await?,
            _ = beat.tick() => {
                let now = *progress.lock();
                send(stream, &Part::Progress(now)).await?;
            }
        }
    };
    while let Some(bytes) = parts.recv().await {
        send(stream, &Part::Archive(bytes)).await?;
    }
    Ok(exported.map(|exported| export_done(&exported)).map_err(|error| error.to_string()))
}

/// What a finished export has.
pub fn export_done(exported: &Exported) -> Answer {
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
