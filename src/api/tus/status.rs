//! `HEAD /tus/{upload_id}`: how much of an upload has arrived.

use super::headers::{TusHeaders, description, state};
use super::own::write_lock;
use crate::http::{App, Caller, HandlerResult, Path, Reply};
use actix_web::http::StatusCode;

/// Returns the offset at which to continue. A request that still writes to the upload is stopped first.
pub async fn status(app: App, caller: Caller, Path(id): Path<String>, headers: TusHeaders) -> HandlerResult {
    headers.check_version()?;
    let lock = write_lock(&app, &caller, &id).await?;
    let upload = lock.upload();
    let headers = state(upload, upload.offset()).into_iter().chain(description(upload)).collect();
    Ok(Reply::bare(StatusCode::OK, headers))
}
