//! Reading a request body into memory, within its bounds of length and time.
//!
//! A body that is too long is read and thrown away for a while, so that its sender gets to see the answer.

use super::error::ApiError;
use actix_web::http::StatusCode;
use actix_web::web::Payload;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use std::time::Duration;

/// How much of a too long body is still taken from its sender before the connection is closed, in bytes.
pub(super) const DISCARDED_BYTES_MAX: usize = 64 << 20;

/// The whole body. Errors: 413 past `bytes_max`, 408 past `time_max`, 400 when it breaks off.
pub async fn read_body(payload: Payload, bytes_max: usize, time_max: Duration) -> Result<Bytes, ApiError> {
    match tokio::time::timeout(time_max, collect(payload, bytes_max)).await {
        Ok(result) => result,
        Err(_) => Err(too_slow()),
    }
}

/// The answer to a body that takes too long.
pub(super) fn too_slow() -> ApiError {
    ApiError::bad_request("Request body took too long").status(StatusCode::REQUEST_TIMEOUT)
}

/// Takes the rest of a body that nobody wants from its sender, who would not look for an answer before.
pub(super) async fn discard_all(payload: Payload, time_max: Duration) {
    // Whether all of it came makes no difference to the answer.
    let _ = tokio::time::timeout(time_max, discard(payload, 0, 0)).await;
}

async fn collect(mut payload: Payload, bytes_max: usize) -> Result<Bytes, ApiError> {
    let Some(first) = payload.next().await else { return Ok(Bytes::new()) };
    let first = first.map_err(broken_off)?;
    if first.len() > bytes_max {
        return Err(discard(payload, first.len(), bytes_max).await);
    }
    // Most bodies arrive in one piece and need no copy.
    let Some(second) = payload.next().await else { return Ok(first) };
    let mut body = BytesMut::from(first);
    let mut chunk = second.map_err(broken_off)?;
    loop {
        if body.len() + chunk.len() > bytes_max {
            let read = body.len() + chunk.len();
            drop((body, chunk));
            return Err(discard(payload, read, bytes_max).await);
        }
        body.extend_from_slice(&chunk);
        match payload.next().await {
            Some(next) => chunk = next.map_err(broken_off)?,
            None => return Ok(body.freeze()),
        }
    }
}

async fn discard(mut payload: Payload, mut read: usize, bytes_max: usize) -> ApiError {
    while read < DISCARDED_BYTES_MAX {
        match payload.next().await {
            Some(Ok(chunk)) => read += chunk.len(),
            Some(Err(_)) | None => break,
        }
    }
    ApiError::body_too_large(bytes_max)
}

pub(super) fn broken_off(_: actix_web::error::PayloadError) -> ApiError {
    ApiError::bad_request("Request body is incomplete")
}
