//! The end of an upload: the complete file is moved into the store of files, and recorded like every uploaded file.

use super::errors::with_message;
use super::headers::state;
use crate::api::uploads::store::{IncomingFile, keep};
use crate::http::{ApiError, App, Caller, HandlerResult, Reply};
use crate::integrations::blobs::uploads::new_path as random_path;
use crate::integrations::partial_uploads::{PartialError, PartialUpload, WriteLock};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use bytes::{Bytes, BytesMut};
use rules::uploads::{check_room, file_name};
use serde::Serialize;
use std::io::Read;

/// Bytes of a file that are moved at a time.
const PIECE_BYTES: usize = 256 << 10;

#[derive(Serialize)]
struct Uploaded<'a> {
    url: &'a str,
    filename: &'a str,
}

/// Maximum size of a file, in bytes.
pub(super) fn file_bytes_max(app: &App) -> u64 {
    app.config.uploads.file_bytes_max()
}

/// Refuses an upload that would be refused at its end.
pub(super) fn check_quota(app: &App, caller: &Caller, length: u64) -> Result<(), ApiError> {
    let quota = app.config.uploads.quota_bytes();
    check_room(&caller.realm.directory(), caller.user.id, length, quota)
        .map_err(|refusal| with_message(refusal.into()))
}

/// The path that the complete file will have.
pub(super) fn new_path(caller: &Caller, sent_name: &str) -> Result<String, ApiError> {
    Ok(random_path(caller.realm.id(), &file_name(sent_name))?)
}

/// Records the complete file, and answers its URL. A file that is recorded already is not recorded twice: the server may
/// have been killed before it could delete the upload. After an error the client sends the last byte again.
pub(super) async fn finish(app: &App, caller: &Caller, lock: WriteLock, status: StatusCode) -> HandlerResult {
    let upload = lock.upload().clone();
    if !is_recorded(caller, &upload) {
        let file = stored(app, &upload).await.map_err(with_message)?;
        if !app.partial_uploads.has(&upload) {
            return Err(with_message(PartialError::Missing.into()));
        }
        keep(app, caller, file).await.map_err(with_message)?;
    }
    if let Err(error) = app.partial_uploads.delete(lock).await {
        tracing::warn!(%error, "the temporary copy of a completed upload could not be removed; it expires like an unfinished upload");
    }
    let url = format!("/user_uploads/{}", upload.info.path_id);
    let uploaded = Uploaded { url: &url, filename: &file_name(&upload.info.file_name) };
    let json = serde_json::to_vec(&uploaded).map_err(|_| ApiError::internal())?;
    Ok(Reply::small(status_of_end(status), headers(&upload), json))
}

/// Whether a complete upload is a file already; its bytes do not change any more.
pub(super) fn is_recorded(caller: &Caller, upload: &PartialUpload) -> bool {
    caller.realm.directory().attachment_by_path(&upload.info.path_id).is_some()
}

/// A response with a body is not 204.
fn status_of_end(status: StatusCode) -> StatusCode {
    if status == StatusCode::NO_CONTENT { StatusCode::OK } else { status }
}

fn headers(upload: &PartialUpload) -> Vec<(HeaderName, HeaderValue)> {
    let mut headers = state(upload, upload.info.length);
    headers.push((header::CONTENT_TYPE, HeaderValue::from_static("application/json")));
    headers
}

/// The file in the store. It is not recorded yet.
async fn stored(app: &App, upload: &PartialUpload) -> Result<IncomingFile, ApiError> {
    let info = &upload.info;
    let declared = info.content_type.as_deref();
    let linked = IncomingFile::of_stored(app, &info.path_id, (&info.file_name, declared), upload.file());
    if let Some(file) = linked.await? {
        return Ok(file);
    }
    let mut file = IncomingFile::begin_at(app, info.path_id.clone(), &info.file_name, declared)?;
    let mut source = std::fs::File::open(upload.file()).map_err(PartialError::from)?;
    loop {
        let read = tokio::task::spawn_blocking(move || read_piece(source)).await;
        let (next, piece) = read.map_err(|_| ApiError::internal())?.map_err(PartialError::from)?;
        if piece.is_empty() {
            return Ok(file);
        }
        file.write(app, piece).await?;
        source = next;
    }
}

fn read_piece(mut source: std::fs::File) -> std::io::Result<(std::fs::File, Bytes)> {
    let mut piece = BytesMut::zeroed(PIECE_BYTES);
    let length = source.read(&mut piece)?;
    piece.truncate(length);
    Ok((source, piece.freeze()))
}
