//! `PATCH /tus/{upload_id}`: the next bytes of an upload.

use super::errors::with_message;
use super::finish::{finish, is_recorded};
use super::headers::{TusHeaders, state};
use super::own::turn;
use crate::http::body::{BodyShare, RequestBody, broken_off, too_slow};
use crate::http::{ApiError, App, BodyStream, Caller, HandlerResult, Path, Reply};
use crate::integrations::partial_uploads::Turn;
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
        Ok(turn) => receive(app, caller, turn, body, StatusCode::NO_CONTENT).await,
        Err(refusal) => {
            body.discard(Duration::from_secs(app.config.http.body_secs_max)).await;
            Err(refusal)
        }
    }
}

async fn begin(app: &App, caller: &Caller, id: &str, headers: &TusHeaders) -> Result<Turn, ApiError> {
    headers.check_version()?;
    headers.check_has_bytes()?;
    let offset = headers.offset()?;
    let turn = turn(app, caller, id).await?;
    if offset != turn.upload().offset() {
        let msg = format!("The upload continues at offset {}", turn.upload().offset());
        return Err(with_message(ApiError::bad_request(msg).status(StatusCode::CONFLICT)));
    }
    if headers.content_length().is_some_and(|length| length > turn.bytes_left()) {
        return Err(beyond_length());
    }
    if let Some(pause) = app.server.storage_status().paused {
        return Err(with_message(ApiError::paused(pause)));
    }
    Ok(turn)
}

fn beyond_length() -> ApiError {
    let error = ApiError::bad_request("The body is longer than the rest of the file");
    with_message(error.status(StatusCode::PAYLOAD_TOO_LARGE))
}

/// Receives a body, also if the client disconnects in the middle of it: what arrived is kept.
pub(super) async fn receive(
    app: App,
    caller: Caller,
    turn: Turn,
    body: RequestBody,
    status: StatusCode,
) -> HandlerResult {
    let received = actix_rt::spawn(async move {
        let mut turn = turn;
        if is_recorded(&caller, turn.upload()) {
            body.discard(Duration::from_secs(app.config.http.body_secs_max)).await;
            return finish(&app, &caller, turn, status).await;
        }
        let end = add_all(&app, &caller, &mut turn, body).await;
        // Whatever the end is, as much as possible is kept.
        let offset = turn.sync(app.clock.now()).await?;
        end?;
        if offset == turn.upload().about.length {
            return finish(&app, &caller, turn, status).await;
        }
        Ok(Reply::bare(status, state(turn.upload(), offset)))
    });
    received.await.map_err(|_| ApiError::internal())?
}

async fn add_all(app: &App, caller: &Caller, turn: &mut Turn, mut body: RequestBody) -> Result<(), ApiError> {
    let mut share = BodyShare::new(app, Some(caller), None);
    share.hold(MEMORY_BYTES)?;
    while let Some(piece) = next(app, turn, &mut body).await? {
        if piece.len() as u64 > turn.bytes_left() {
            turn.roll_back().await?;
            return Err(beyond_length());
        }
        turn.write(&piece).await?;
    }
    Ok(())
}

/// The next piece of a body; none at its end. Fails when the connection does, when nothing arrives for too long, when
/// another request continues the upload, and when the server stops.
async fn next(app: &App, turn: &mut Turn, body: &mut RequestBody) -> Result<Option<Bytes>, ApiError> {
    let pause_max = Duration::from_secs(app.config.http.body_secs_max);
    tokio::select! {
        piece = timeout(pause_max, body.next()) => {
            piece.map_err(|_| too_slow())?.transpose().map_err(broken_off)
        }
        () = turn.interrupted() => {
            let error = ApiError::bad_request("Another request continues this upload");
            Err(with_message(error.status(StatusCode::LOCKED)))
        }
        () = app.stopping().wait() => Err(ApiError::stopping()),
    }
}
