//! The body of an incoming webhook: read into memory after its key was checked, and not as parameters.

use super::body::{BodyShare, RequestBody};
use super::call::{Call, FromCall};
use super::error::ApiError;
use super::params::{BodyKind, Fields};
use actix_web::http::header::{self, HeaderMap};
use bytes::Bytes;
use std::time::Duration;

/// A body that has not been read yet, with the head that it belongs to. For routes with `Body::Stream`.
pub struct WebhookBody {
    /// The parameters of the URL.
    pub parameters: Fields,
    /// The encoding of the body, as its sender names it.
    pub kind: BodyKind,
    headers: HeaderMap,
    body: RequestBody,
    share: BodyShare,
    time_max: Duration,
    bytes_max: usize,
}

impl FromCall for WebhookBody {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        let body = call.body.take().ok_or_else(ApiError::internal)?;
        let parameters = Fields::parse(call.request.query_string().as_bytes(), &BodyKind::Other, b"")?;
        Ok(Self {
            parameters,
            kind: BodyKind::from_content_type(call.header(header::CONTENT_TYPE))?,
            headers: call.request.headers().clone(),
            body,
            share: BodyShare::new(&call.app, call.caller.as_ref(), call.address),
            time_max: Duration::from_secs(call.app.config.http.body_secs_max),
            bytes_max: call.app.config.incoming_webhooks.body_bytes_max,
        })
    }
}

/// A body in memory, which is reserved as long as this lives.
pub struct ReadBody {
    pub bytes: Bytes,
    share: BodyShare,
}

impl WebhookBody {
    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body: status 413 beyond `incoming_webhooks.body_bytes_max`, 408 if it takes too long, 429 or 503 if there is no
    /// memory for it.
    pub async fn read(self) -> Result<ReadBody, ApiError> {
        let Self { body, mut share, time_max, bytes_max, .. } = self;
        let bytes = body.read(bytes_max, time_max, &mut share).await?;
        Ok(ReadBody { bytes, share })
    }

    /// Receives the body of a refused request, because many senders read the response only afterwards.
    pub async fn discard(self) {
        self.body.discard(self.time_max).await;
    }
}

impl ReadBody {
    /// Reserves memory for what is made of the body.
    pub fn hold(&mut self, more_bytes: usize) -> Result<(), ApiError> {
        Ok(self.share.hold(self.bytes.len() + more_bytes)?)
    }
}
