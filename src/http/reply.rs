//! The success envelope: `{"result":"success","msg":"",…}`, written in one pass around a handler's fields.
//!
//! A handler gives a struct, or writes pre-encoded fields itself; the names of its unread parameters are added at the
//! end. Responses without the envelope (metrics, static files) use [`Reply::plain`].
//!
//! Memory: responses larger than [`UNCOUNTED_BYTES_MAX`] count against the budget until the client has read them,
//! reserved by the handler ([`Reply::holding`]) or before sending ([`Reply::admitted`]). Parts that many responses
//! share are spliced in ([`Envelope::splice`]) and not copied, and counted only if the envelope says so.

mod parts;
mod small;

use super::error::{ApiError, JSON};
pub use super::segmented_body::PIECE_BYTES_MAX;
use super::segmented_body::SegmentedBody;
use actix_web::body::{BodyStream, SizedStream};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::{HttpResponse, HttpResponseBuilder};
use actors::budget::{BudgetFull, ByteBudget, Holder, Purpose, Reservation};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde::Serialize;
use tracing::error;

const OPENING: &[u8] = br#"{"result":"success","msg":"""#;
const NEVER_CACHED: HeaderValue =
    HeaderValue::from_static("max-age=0, no-cache, no-store, must-revalidate, private");

/// Pages have inline styles and a form, and load only pictures of this server.
const PAGE_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
);

/// The policy of pages that also have a script, which comes from this server.
const SCRIPTED_PAGE_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self'; form-action 'self'; \
     frame-ancestors 'none'; base-uri 'none'",
);

/// The policy of pages whose script makes calls to this server.
const CALLING_PAGE_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; img-src 'self'; \
     form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
);

/// The result of a handler: a reply or an error.
pub type HandlerResult = Result<Reply, ApiError>;

/// Responses up to this size are not counted in the memory budget: the operating system takes them at once, and
/// reserving would cost more than it protects.
pub(super) const UNCOUNTED_BYTES_MAX: usize = 64 << 10;
/// Expected size of a response of some fields: an account with profile data has 700 to 900 bytes, and a buffer that grows
/// costs more than one that is too large.
const REPLY_BYTES: usize = 1024;
/// Shared parts below this size are copied: splicing costs about as much.
const COPIED_BYTES_MAX: usize = 256;
/// Memory of a spliced part besides its bytes.
const SPLICE_BYTES: usize = 96;

/// A response: status 200, except for pages.
pub struct Reply {
    body: Body,
    held: Option<Reservation>,
    /// The unread parameters, if the handler read its body itself.
    ignored: Option<Vec<String>>,
    /// Headers besides those of the body's kind.
    headers: Vec<(HeaderName, HeaderValue)>,
}

enum Body {
    /// An envelope that is not closed yet.
    Envelope(Envelope),
    /// An envelope of unknown length that is produced while it is sent, not closed yet.
    Flow(PartStream),
    Other(Other),
    Plain {
        content_type: &'static str,
        cache_control: &'static str,
        bytes: Bytes,
    },
    Page {
        status: StatusCode,
        html: String,
        policy: HeaderValue,
    },
}

/// A stream of bytes. An error ends the connection.
pub type ByteStream = BoxStream<'static, Result<Bytes, Box<dyn std::error::Error>>>;
/// Parts of a response that is produced while it is sent.
pub type PartStream = BoxStream<'static, Result<Bytes, Box<dyn std::error::Error + Send + Sync>>>;

/// A response with arbitrary status and headers.
struct Other {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Option<(u64, ByteStream)>,
}

impl Other {
    fn into_response(self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status);
        for header in self.headers {
            response.insert_header(header);
        }
        match self.body {
            Some((size, bytes)) => response.body(SizedStream::new(size, bytes)),
            None => response.finish(),
        }
    }
}

/// Responds with the fields of a struct, in its order. A struct without fields is the bare success.
pub fn reply(fields: &impl Serialize) -> HandlerResult {
    Envelope::with_capacity(REPLY_BYTES).fields(fields)?.reply()
}

/// Responds with one field.
pub fn reply_field(name: &str, value: &impl Serialize) -> HandlerResult {
    Envelope::with_capacity(256).field(name, value)?.reply()
}

/// Responds with the bare success: `{"result":"success","msg":""}`.
pub fn reply_ok() -> HandlerResult {
    Envelope::with_capacity(0).reply()
}

/// Responds with success and a text for the user in `msg`.
pub fn reply_with_msg(msg: &str) -> HandlerResult {
    Envelope::with_msg(msg)?.reply()
}

/// An envelope under construction, for responses with pre-encoded JSON.
#[derive(Debug)]
pub struct Envelope {
    /// The bytes of this response, without the spliced parts.
    own: Vec<u8>,
    /// Shared parts, each with the length of `own` at which it is inserted.
    spliced: Vec<(usize, Bytes)>,
    /// Whether the spliced parts count as memory of this response.
    counts_spliced: bool,
    /// Shared parts up to this size are copied.
    copied_bytes_max: usize,
}

impl Envelope {
    /// An envelope without fields; `bytes` is their expected size.
    pub fn with_capacity(bytes: usize) -> Self {
        let mut own = Vec::with_capacity(OPENING.len() + bytes + 64);
        own.extend_from_slice(OPENING);
        Self { own, spliced: Vec::new(), counts_spliced: false, copied_bytes_max: COPIED_BYTES_MAX }
    }

    /// Charges the response for all of its spliced parts, as if it shared them with no other.
    pub fn counting_spliced(mut self) -> Self {
        self.counts_spliced = true;
        self
    }

    /// An envelope with a text for the user in `msg`.
    pub fn with_msg(msg: &str) -> Result<Self, ApiError> {
        let mut envelope = Self::with_capacity(msg.len());
        envelope.own.truncate(OPENING.len() - 2);
        serde_json::to_writer(&mut envelope.own, msg).map_err(not_encoded)?;
        Ok(envelope)
    }

    /// Adds one field.
    pub fn field(mut self, name: &str, value: &impl Serialize) -> Result<Self, ApiError> {
        let body = self.open_field(name);
        serde_json::to_writer(body, value).map_err(not_encoded)?;
        Ok(self)
    }

    /// Adds every field of a struct.
    pub fn fields(mut self, fields: &impl Serialize) -> Result<Self, ApiError> {
        push_fields(&mut self.own, fields)?;
        Ok(self)
    }

    /// Starts a field, and returns the buffer: exactly one JSON value has to be written to it.
    pub fn open_field(&mut self, name: &str) -> &mut Vec<u8> {
        self.own.extend_from_slice(b",\"");
        self.own.extend_from_slice(name.as_bytes());
        self.own.extend_from_slice(b"\":");
        &mut self.own
    }

    /// The buffer, to continue a value.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.own
    }

    /// Inserts shared bytes without copying them.
    pub fn splice(&mut self, shared: Bytes) {
        if shared.len() <= self.copied_bytes_max {
            self.own.extend_from_slice(&shared);
        } else {
            self.spliced.push((self.own.len(), shared));
        }
    }

    /// Adds a field whose value is already encoded.
    pub fn raw_field(mut self, name: &str, json: &[u8]) -> Self {
        self.open_field(name).extend_from_slice(json);
        self
    }

    /// The finished response.
    pub fn reply(self) -> HandlerResult {
        Ok(Body::Envelope(self).into())
    }

    fn own_bytes(&self) -> usize {
        let spliced = self.spliced.iter().map(|(_, shared)| shared.len()).sum::<usize>();
        let whole = self.own.len() + spliced;
        // Small parts of a large response are combined for one write at a time.
        let copied = if whole > PIECE_BYTES_MAX { PIECE_BYTES_MAX } else { 0 };
        let counted = if self.counts_spliced { spliced } else { 0 };
        self.own.len() + self.spliced.len() * SPLICE_BYTES + copied + counted
    }

    fn into_parts(self) -> Vec<Bytes> {
        let own = Bytes::from(self.own);
        if self.spliced.is_empty() {
            return vec![own];
        }
        let mut parts = Vec::with_capacity(self.spliced.len() * 2 + 1);
        let mut from = 0;
        for (at, shared) in self.spliced {
            parts.push(own.slice(from..at));
            parts.push(shared);
            from = at;
        }
        parts.push(own.slice(from..));
        parts
    }
}

impl Reply {
    /// A response outside the envelope. An empty `cache_control` sends no such header.
    pub fn plain(content_type: &'static str, cache_control: &'static str, bytes: impl Into<Bytes>) -> Self {
        Body::Plain { content_type, cache_control, bytes: bytes.into() }.into()
    }

    /// A web page that is never cached, and whose URL is not sent to other sites as a referrer: it may contain a secret.
    pub fn page(status: StatusCode, html: String) -> Self {
        Body::Page { status, html, policy: PAGE_POLICY }.into()
    }

    /// A web page as of [`Self::page`], with a script of this server.
    pub fn scripted_page(status: StatusCode, html: String) -> Self {
        Body::Page { status, html, policy: SCRIPTED_PAGE_POLICY }.into()
    }

    /// A web page as of [`Self::page`], with a script that makes calls to this server.
    pub fn calling_page(status: StatusCode, html: String) -> Self {
        Body::Page { status, html, policy: CALLING_PAGE_POLICY }.into()
    }

    /// A response of these headers, without a body.
    pub fn bare(status: StatusCode, headers: Vec<(HeaderName, HeaderValue)>) -> Self {
        Body::Other(Other { status, headers, body: None }).into()
    }

    /// Status 200 with these headers and a body of known size, as a stream.
    pub fn stream(headers: Vec<(HeaderName, HeaderValue)>, size: u64, bytes: ByteStream) -> Self {
        Self::stream_with(StatusCode::OK, headers, size, bytes)
    }

    /// A response of a status with these headers and a body of known size in bytes, as a stream.
    pub fn stream_with(
        status: StatusCode,
        headers: Vec<(HeaderName, HeaderValue)>,
        size: u64,
        bytes: ByteStream,
    ) -> Self {
        Body::Other(Other { status, headers, body: Some((size, bytes)) }).into()
    }

    /// An envelope that is produced while it is sent: `start` is its beginning, `more` the rest up to the closing
    /// brace. Its length is unknown; an error ends the connection in the middle of the body.
    pub fn flow(start: Envelope, more: PartStream) -> Self {
        let start = start.into_parts().into_iter().map(Ok);
        Body::Flow(stream::iter(start).chain(more).boxed()).into()
    }

    /// Holds memory of the budget until the client has read the response, as much as it really takes. Fails if it takes
    /// more than was reserved and the budget is full.
    pub fn holding(mut self, mut held: Reservation) -> Result<Self, BudgetFull> {
        let bytes = self.own_bytes() as u64;
        if !matches!(self.body, Body::Flow(_)) {
            match bytes.checked_sub(held.bytes()) {
                Some(more) => held.grow(more)?,
                None => held.shrink_to(bytes),
            }
        }
        self.held = Some(held);
        Ok(self)
    }

    /// Counts a large response, unless its handler did. Fails if the budget is full; the response is not sent then.
    pub fn admitted(self, budget: &ByteBudget, holder: Holder) -> Result<Self, BudgetFull> {
        if self.held.is_some() || self.own_bytes() <= UNCOUNTED_BYTES_MAX {
            return Ok(self);
        }
        let held = budget.reserve(holder, Purpose::Answer, self.own_bytes() as u64)?;
        self.holding(held)
    }

    fn own_bytes(&self) -> usize {
        match &self.body {
            Body::Envelope(envelope) => envelope.own_bytes(),
            Body::Plain { bytes, .. } => bytes.len(),
            Body::Page { html, .. } => html.len(),
            Body::Flow(_) | Body::Other(_) => 0,
        }
    }

    /// Sets the unread parameters, for handlers that read their body themselves.
    pub fn ignoring(mut self, names: Vec<String>) -> Self {
        self.ignored = Some(names);
        self
    }

    /// The unread parameters, if the handler has set them.
    pub fn ignored(&self) -> Option<&[String]> {
        self.ignored.as_deref()
    }

    /// Adds headers, such as cookies.
    pub fn with_headers(mut self, headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>) -> Self {
        self.headers.extend(headers);
        self
    }

    /// Closes the envelope and builds the response. `ignored` are the sorted names of unread parameters.
    pub fn into_response(mut self, ignored: &[String]) -> HttpResponse {
        let headers = std::mem::take(&mut self.headers);
        let mut response = self.into_plain_response(ignored);
        for (name, value) in headers {
            response.headers_mut().append(name, value);
        }
        response
    }

    fn into_plain_response(self, ignored: &[String]) -> HttpResponse {
        let mut response = HttpResponse::Ok();
        let held = self.held;
        let ignored = self.ignored.as_deref().unwrap_or(ignored);
        match self.body {
            Body::Envelope(mut envelope) => {
                push_end(&mut envelope.own, ignored);
                respond(json_response(), envelope.into_parts(), held)
            }
            Body::Flow(flow) => close_flow(flow, ignored, held),
            Body::Other(other) => other.into_response(),
            Body::Plain { content_type, cache_control, bytes } => {
                response.insert_header((header::CONTENT_TYPE, HeaderValue::from_static(content_type)));
                if !cache_control.is_empty() {
                    response.insert_header((header::CACHE_CONTROL, HeaderValue::from_static(cache_control)));
                }
                respond(response, vec![bytes], held)
            }
            Body::Page { status, html, policy } => {
                response.status(status);
                response.insert_header((
                    header::CONTENT_TYPE,
                    HeaderValue::from_static("text/html; charset=utf-8"),
                ));
                response.insert_header((header::CACHE_CONTROL, HeaderValue::from_static("no-store")));
                let mut response = response.body(html);
                protect_page(response.headers_mut());
                response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
                response
            }
        }
    }
}

/// The headers that bound what a page may do, and who may show or learn of it.
pub fn protect_page(headers: &mut HeaderMap) {
    headers.insert(header::CONTENT_SECURITY_POLICY, PAGE_POLICY);
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
}

impl From<Body> for Reply {
    fn from(body: Body) -> Self {
        Self { body, held: None, ignored: None, headers: Vec::new() }
    }
}

fn close_flow(flow: PartStream, ignored: &[String], held: Option<Reservation>) -> HttpResponse {
    let mut end = Vec::new();
    push_end(&mut end, ignored);
    // The last chunk owns the reservation, which is released with the stream, also if that is dropped.
    let end = stream::once(async move {
        drop(held);
        Ok(Bytes::from(end))
    });
    let whole = flow.chain(end).map(|part| part.map_err(|error| -> Box<dyn std::error::Error> { error }));
    json_response().body(BodyStream::new(whole))
}

fn json_response() -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CONTENT_TYPE, JSON));
    response.insert_header((header::CACHE_CONTROL, NEVER_CACHED));
    response
}

/// Small bodies are sent whole, large ones in pieces.
fn respond(
    mut response: HttpResponseBuilder,
    mut parts: Vec<Bytes>,
    held: Option<Reservation>,
) -> HttpResponse {
    match parts.as_slice() {
        [only] if only.len() <= UNCOUNTED_BYTES_MAX => response.body(parts.swap_remove(0)),
        _ => response.body(SegmentedBody::new(parts, held)),
    }
}

/// Adds the names of the unread parameters, and closes the envelope.
fn push_end(body: &mut Vec<u8>, ignored: &[String]) {
    if !ignored.is_empty() {
        body.extend_from_slice(b",\"ignored_parameters_unsupported\":");
        // Writing a list of strings to memory cannot fail.
        let _ = serde_json::to_writer(&mut *body, ignored);
    }
    body.extend_from_slice(b"}\n");
}

/// Writes every field of a struct, each with a comma before it. Status 500 if it is not a struct or map, or cannot be
/// encoded.
pub fn push_fields(out: &mut Vec<u8>, fields: &impl Serialize) -> Result<(), ApiError> {
    let start = out.len();
    serde_json::to_writer(&mut *out, fields).map_err(not_encoded)?;
    match &out[start..] {
        b"{}" => out.truncate(start),
        [b'{', .., b'}'] => {
            out[start] = b',';
            out.pop();
        }
        _ => return Err(not_encoded("the fields of a response must be a struct or a map")),
    }
    Ok(())
}

fn not_encoded(reason: impl std::fmt::Display) -> ApiError {
    error!(%reason, "a response could not be encoded");
    ApiError::internal()
}

#[cfg(test)]
mod tests;
