//! `PATCH /tus/{upload_id}`: the next bytes of an upload.

use super::errors::with_message;
use super::finish::{finish, is_recorded};
use super::headers::{TusHeaders, state};
use super::own::write_lock;
use crate::http::body::{BodyShare, RequestBody, broken_off, too_slow};
use crate::http::{ApiError, App, BodyStream, Caller, HandlerResult, Path, Reply};
use crate::integrations::partial_uploads::WriteLock;
use actix_web::http::StatusCode;
use bytes::Bytes;
use futures_util::StreamExt;
use std::time::Duration;
use tokio::time::timeout;

/// Memory that one request holds: what is collected before it is written.
const MEMORY_BYTES: usize = 512 << 10;

/// Adds the body, and answers when it is durable. After the last byte the file is complete, and its URL is returned.
pub async fn append(
    app: App,
    caller: Caller,
    Path(id): Path<String>,
    headers: TusHeaders,
    BodyStream(body): BodyStream,
) -> HandlerResult {
    match begin(&app, &caller, &id, &headers).await {
        Ok(lock) => receive(app, caller, lock, body, StatusCode::NO_CONTENT).await,
        Err(refusal) => {
            body.discard(Duration::from_secs(app.config.http.body_secs_max)).await;
            Err(refusal)
        }
    }
}

async fn begin(app: &App, caller: &Caller, id: &str, headers: &TusHeaders) -> Result<WriteLock, ApiError> {
    headers.check_version()?;
    headers.check_has_bytes()?;
    let offset = headers.offset()?;
    let lock = write_lock(app, caller, id).await?;
    if offset != lock.upload().offset() {
        let msg = format!("The upload continues at offset {}", lock.upload().offset());
        return Err(with_message(ApiError::bad_request(msg).status(StatusCode::CONFLICT)));
    }
    if headers.content_length().is_some_and(|length| length > lock.bytes_left()) {
        return Err(beyond_length());
    }
    if let Some(pause) = app.server.storage_status().paused {
        return Err(with_message(ApiError::paused(pause)));
    }
    Ok(lock)
}

fn beyond_length() -> ApiError {
    let error = ApiError::bad_request("The body is longer than the rest of the file");
    with_message(error.status(StatusCode::PAYLOAD_TOO_LARGE))
}

/// Receives a body, also if the client disconnects in the middle of it: what arrived is kept.
pub(super) async fn receive(
    app: App,
    caller: Caller,
    lock: WriteLock,
    body: RequestBody,
    status: StatusCode,
) -> HandlerResult {
    let received = actix_rt::spawn(async move {
        let mut lock = lock;
        if is_recorded(&caller, lock.upload()) {
            body.discard(Duration::from_secs(app.config.http.body_secs_max)).await;
            return finish(&app, &caller, lock, status).await;
        }
        let end = add_all(&app, &caller, &mut lock, body).await;
        // Whatever the end is, as much as possible is kept.
        let offset = lock.sync(app.clock.now()).await?;
        end?;
        if offset == lock.upload().info.length {
            return finish(&app, &caller, lock, status).await;
        }
        Ok(Reply::bare(status, state(lock.upload(), offset)))
    });
    received.await.map_err(|_| ApiError::internal())?
}

async fn add_all(
    app: &App,
    caller: &Caller,
    lock: &mut WriteLock,
    mut body: RequestBody,
) -> Result<(), ApiError> {
    let mut share = BodyShare::new(app, Some(caller), None);
    share.hold(MEMORY_BYTES)?;
    while let Some(piece) = next(app, lock, &mut body).await? {
        if piece.len() as u64 > lock.bytes_left() {
            lock.roll_back().await?;
            return Err(beyond_length());
        }
        lock.write(&piece).await?;
    }
    Ok(())
}

/// The next piece of a body; none at its end. Fails when the connection does, when nothing arrives for too long, when
/// another request continues the upload, and when the server stops.
async fn next(app: &App, lock: &mut WriteLock, body: &mut RequestBody) -> Result<Option<Bytes>, ApiError> {
    let pause_max = Duration::from_secs(app.config.http.body_secs_max);
    tokio::select! {
        piece = timeout(pause_max, body.next()) => {
            piece.map_err(|_| too_slow())?.transpose().map_err(broken_off)
        }
        () = lock.interrupted() => {
            let error = ApiError::bad_request("Another request continues this upload");
            Err(with_message(error.status(StatusCode::LOCKED)))
        }
        () = app.stopping().wait() => Err(ApiError::stopping()),
    }
}
