//! `DELETE /tus/{upload_id}`: cancels an upload.

use super::headers::TusHeaders;
use super::own::write_lock;
use crate::http::{App, Caller, HandlerResult, Path, Reply};
use actix_web::http::StatusCode;

/// Deletes what has arrived.
pub async fn terminate(
    app: App,
    caller: Caller,
    Path(id): Path<String>,
    headers: TusHeaders,
) -> HandlerResult {
    headers.check_version()?;
    let lock = write_lock(&app, &caller, &id).await?;
    app.partial_uploads.delete(lock).await?;
    Ok(Reply::bare(StatusCode::NO_CONTENT, Vec::new()))
}
