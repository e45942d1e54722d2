//! Small responses outside the envelope.

use super::{Body, Reply};
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream;

impl Reply {
    /// A response of these bytes, with these headers.
    pub fn small(
        status: StatusCode,
        headers: Vec<(HeaderName, HeaderValue)>,
        bytes: impl Into<Bytes>,
    ) -> Self {
        let bytes = bytes.into();
        let size = bytes.len() as u64;
        Self::stream_with(status, headers, size, stream::once(async move { Ok(bytes) }).boxed())
    }

    /// Adds a header to a response outside the envelope.
    pub fn with_header(mut self, header: (HeaderName, HeaderValue)) -> Self {
        if let Body::Other(other) = &mut self.body {
            other.headers.push(header);
        }
        self
    }
}
