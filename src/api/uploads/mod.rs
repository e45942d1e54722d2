//! Files that users upload and name in messages (docs/api/uploads.md).

pub mod list;
pub mod remove;
pub mod serve;
pub mod store;
pub mod temporary;
pub mod thumbnail;

use crate::http::{ApiError, App, Audience, HandlerResult, Reply};
use crate::integrations::blobs::uploads::{thumbnail_blobs, upload_blob};
use crate::pages::message_of;
use actix_web::http::StatusCode;
use actors::{FileAccess, RealmHandle};
use model::{Attachment, User};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};
use std::sync::Arc;

/// Characters of the name of a file that need no encoding in a URL.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The file at a path below `/user_uploads/`, if a requester (none: without an account) may read it. Otherwise the answer.
///
/// # Errors
/// Status 401 for requesters without an account, whether or not there is such a file.
fn access(
    realm: &RealmHandle,
    asker: Option<&User>,
    path_id: &str,
    asks: Audience,
) -> Result<Result<Arc<Attachment>, Reply>, ApiError> {
    match (realm.access_file(asker, path_id), asker) {
        (FileAccess::Allowed(file), _) => Ok(Ok(file)),
        (FileAccess::Missing | FileAccess::Refused, None) => Err(ApiError::not_logged_in()),
        (FileAccess::Missing, Some(_)) => missing(realm, asks).map(Err),
        (FileAccess::Refused, Some(_)) => {
            let text = "You are not authorized to view this file.";
            no_file(realm, asks, (StatusCode::FORBIDDEN, "This file is not for you", text)).map(Err)
        }
    }
}

/// The answer for a file that does not exist.
fn missing(realm: &RealmHandle, asks: Audience) -> HandlerResult {
    let text = "This file does not exist or has been deleted.";
    no_file(realm, asks, (StatusCode::NOT_FOUND, "There is no such file", text))
}

/// A page for people, because browsers ask for files; programs get the text alone.
fn no_file(
    realm: &RealmHandle,
    asks: Audience,
    (status, title, text): (StatusCode, &str, &str),
) -> HandlerResult {
    match asks.wants_page {
        true => message_of(realm, status, title, text, None),
        false => Ok(Reply::page(status, format!("<p>{text}</p>"))),
    }
}

/// Deletes the bytes and thumbnails of a file that was deleted. What fails is done by the next sweep of the store.
async fn delete_bytes(app: &App, path_id: &str) {
    let Some(blob) = upload_blob(path_id) else { return };
    for name in std::iter::once(blob).chain(thumbnail_blobs(path_id)) {
        if let Err(error) = app.blobs.delete(&name).await {
            tracing::warn!(%error, "the contents of a deleted file could not be removed; the next sweep removes them");
        }
    }
}
