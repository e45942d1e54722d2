//! `POST /tus/`: begins an upload that can be resumed.

use super::append::receive;
use super::errors::with_message;
use super::finish::{check_quota, file_bytes_max, new_path};
use super::headers::{TusHeaders, description, location, state};
use crate::http::{ApiError, App, BodyStream, Caller, HandlerResult, RealmUrl, Reply};
use crate::integrations::partial_uploads::{UploadInfo, WriteLock};
use actix_web::http::StatusCode;
use std::time::Duration;

/// Bytes of all unfinished uploads of an account, as a multiple of the largest file.
const FILES_MAX: u64 = 10;

/// Begins an upload, whose URL is in the header `Location`. The body may contain its first bytes.
pub async fn create(
    app: App,
    caller: Caller,
    RealmUrl(realm_url): RealmUrl,
    headers: TusHeaders,
    BodyStream(body): BodyStream,
) -> HandlerResult {
    let lock = match begin(&app, &caller, &headers).await {
        Ok(lock) => lock,
        Err(refusal) => {
            body.discard(Duration::from_secs(app.config.http.body_secs_max)).await;
            return Err(refusal);
        }
    };
    let upload = lock.upload().clone();
    let location = location(&realm_url, &upload).ok_or_else(ApiError::internal)?;
    if headers.has_bytes() || upload.info.length == 0 {
        return Ok(receive(app, caller, lock, body, StatusCode::CREATED).await?.with_header(location));
    }
    let headers = state(&upload, 0).into_iter().chain(description(&upload)).chain([location]).collect();
    Ok(Reply::bare(StatusCode::CREATED, headers))
}

async fn begin(app: &App, caller: &Caller, headers: &TusHeaders) -> Result<WriteLock, ApiError> {
    headers.check_version()?;
    let length = headers.length()?;
    let bytes_max = file_bytes_max(app);
    if length > bytes_max {
        let mib = bytes_max >> 20;
        let error = ApiError::bad_request(format!(
            "File is larger than this server's configured maximum upload size ({mib} MiB)."
        ));
        return Err(with_message(error.status(StatusCode::PAYLOAD_TOO_LARGE)));
    }
    let metadata = headers.metadata()?;
    check_quota(app, caller, length)?;
    if let Some(pause) = app.server.storage_status().paused {
        return Err(with_message(ApiError::paused(pause)));
    }
    let file_name = metadata.file_name.unwrap_or_default();
    let info = UploadInfo {
        realm: caller.realm.id(),
        user: caller.user.id,
        length,
        path_id: new_path(caller, &file_name)?,
        file_name,
        content_type: metadata.content_type,
        metadata: metadata.raw,
    };
    let uploads = &app.partial_uploads;
    let upload = uploads.create(info, FILES_MAX * bytes_max, app.clock.now()).await?;
    Ok(uploads.write_lock(&upload).await?)
}
