//! Files that users upload and name in messages (docs/api/uploads.md).

pub mod list;
pub mod remove;
pub mod serve;
pub mod store;
pub mod temporary;
pub mod thumbnail;

use crate::http::{ApiError, App, Reply};
use crate::integrations::blobs::uploads::{thumbnail_blobs, upload_blob};
use actix_web::http::StatusCode;
use actors::{FileAccess, RealmHandle};
use model::{Attachment, User};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};
use std::sync::Arc;

/// Characters of the name of a file that need no encoding in a URL.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The file at a path below `/user_uploads/`, if a requester (none: without an account) may read it. Otherwise the answer: pages
/// for people, because browsers ask for files.
///
/// # Errors
/// Status 401 for requesters without an account, whether or not there is such a file.
fn access(
    realm: &RealmHandle,
    asker: Option<&User>,
    path_id: &str,
) -> Result<Result<Arc<Attachment>, Reply>, ApiError> {
    match (realm.access_file(asker, path_id), asker) {
        (FileAccess::Allowed(file), _) => Ok(Ok(file)),
        (FileAccess::Missing | FileAccess::Refused, None) => Err(ApiError::not_logged_in()),
        (FileAccess::Missing, Some(_)) => Ok(Err(missing())),
        (FileAccess::Refused, Some(_)) => {
            let html = "<p>You are not authorized to view this file.</p>".to_owned();
            Ok(Err(Reply::page(StatusCode::FORBIDDEN, html)))
        }
    }
}

/// The answer for a file that does not exist.
fn missing() -> Reply {
    Reply::page(StatusCode::NOT_FOUND, "<p>This file does not exist or has been deleted.</p>".to_owned())
}

/// Deletes the bytes and thumbnails of a file that was deleted. What fails is done by the next sweep of the store.
async fn delete_bytes(app: &App, path_id: &str) {
    let Some(blob) = upload_blob(path_id) else { return };
    for name in std::iter::once(blob).chain(thumbnail_blobs(path_id)) {
        if let Err(error) = app.blobs.delete(&name).await {
            tracing::warn!(%error, "a deleted file is still stored");
        }
    }
}
