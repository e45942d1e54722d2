//! `DELETE /tus/{upload_id}`: cancels an upload.

use super::headers::TusHeaders;
use super::own::turn;
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
    let turn = turn(&app, &caller, &id).await?;
    app.partial_uploads.delete(turn).await?;
    Ok(Reply::bare(StatusCode::NO_CONTENT, Vec::new()))
}
