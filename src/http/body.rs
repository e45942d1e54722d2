//! Reads request bodies into memory, with limits on size and time.
//!
//! The body of a refused request is still read and discarded for as long as it arrives, because many clients read the
//! response only after they have sent everything.

use super::address::is_trusted;
use super::app::App;
use super::caller::Caller;
use super::error::ApiError;
use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::http::header::{self, HeaderMap};
use actix_web::http::{Method, StatusCode};
use actors::budget::{BudgetFull, ByteBudget, Holder, Purpose, Reservation};
use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt};
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// Maximum number of bytes of a discarded body that are read before the connection is closed.
pub(super) const DISCARDED_BYTES_MAX: usize = 64 << 20;

/// How long the sender of a discarded body may pause before it gets the response and the connection is closed.
const PAUSE_MAX: Duration = Duration::from_millis(500);

/// Bytes of a body, or of an incomplete head, that are held without a reservation; most are smaller.
pub(super) const UNRESERVED_BYTES_MAX: usize = 4 << 10;
/// Bytes that are reserved at a time.
const RESERVED_STEP_BYTES: usize = 16 << 10;
/// Maximum size of all bodies without credentials and incomplete heads from one IP address at the same time.
const ANONYMOUS_SHARE_BYTES: u64 = 4 << 20;

/// Values of `Content-Encoding` that say nothing about a body; some senders of webhooks write the charset there.
const PLAIN_CODINGS: [&str; 3] = ["identity", "utf-8", "utf8"];

/// The memory reserved for the body of a request, or for its incomplete head, released on drop.
pub struct BodyShare {
    budget: ByteBudget,
    holder: Holder,
    share_bytes_max: u64,
    held: Option<Reservation>,
}

impl BodyShare {
    /// Without a reservation. Callers without credentials share the budget of their IP address.
    pub fn new(app: &App, caller: Option<&Caller>, address: Option<IpAddr>) -> Self {
        let budget = app.server.budget().clone();
        match caller {
            Some(caller) => Self::of(budget, (caller.holder(), u64::MAX)),
            None => Self::of_address(budget, address),
        }
    }

    /// For the head of a request, which says only later who calls: the budget of the IP address, as without credentials. A
    /// trusted proxy has many clients, and no share.
    pub fn of_head(app: &App, address: Option<IpAddr>) -> Self {
        let trusted = &app.config.http.trusted_proxies;
        match address.is_some_and(|address| is_trusted(trusted, address)) {
            true => Self::of_server(app),
            false => Self::of_address(app.server.budget().clone(), address),
        }
    }

    /// Without a share: only the budget of all clients limits it.
    pub fn of_server(app: &App) -> Self {
        Self::of(app.server.budget().clone(), (Holder::Server, u64::MAX))
    }

    /// For a client without credentials.
    pub fn of_address(budget: ByteBudget, address: Option<IpAddr>) -> Self {
        Self::of(budget, (Holder::address(address), ANONYMOUS_SHARE_BYTES))
    }

    fn of(budget: ByteBudget, (holder, share_bytes_max): (Holder, u64)) -> Self {
        Self { budget, holder, share_bytes_max, held: None }
    }

    /// Makes sure that `bytes` bytes are reserved. Must be called before they are kept. Fails if the caller or all
    /// callers together hold too much.
    pub fn hold(&mut self, bytes: usize) -> Result<(), BudgetFull> {
        let held = self.held.as_ref().map_or(0, Reservation::bytes);
        if bytes <= UNRESERVED_BYTES_MAX || bytes as u64 <= held {
            return Ok(());
        }
        let more = bytes.next_multiple_of(RESERVED_STEP_BYTES) as u64 - held;
        if self.budget.share_bytes(self.holder) + more > self.share_bytes_max {
            return Err(BudgetFull::Share);
        }
        match &mut self.held {
            Some(held) => held.grow(more),
            None => {
                self.held = Some(self.budget.reserve(self.holder, Purpose::Body, more)?);
                Ok(())
            }
        }
    }
}

/// Why a body was not read completely.
enum Cut {
    TooLarge,
    NoRoom(BudgetFull),
    Broken(ApiError),
}

/// The body of a request, as a stream.
pub struct RequestBody {
    payload: Payload,
    declared: Option<u64>,
    /// Bytes until the end, if the connection does not determine it.
    left: Option<u64>,
}

impl RequestBody {
    /// The body of a request. A request to upgrade the connection is treated as an ordinary request, because upgrades
    /// are not supported: `Content-Length` is the length of its body, although the connection would continue.
    pub fn new(request: &HttpRequest, payload: Payload) -> Self {
        let headers = request.headers();
        let declared = content_length(headers);
        let asks_for_more = headers.contains_key(header::UPGRADE) || *request.method() == Method::CONNECT;
        let has_length = declared.is_some_and(|length| length > 0) && !asks_for_more;
        let left =
            (!has_length && !headers.contains_key(header::TRANSFER_ENCODING)).then(|| declared.unwrap_or(0));
        Self { payload, declared, left }
    }

    /// Its length, as the client declared it.
    pub(super) fn declared(&self) -> Option<u64> {
        self.declared
    }

    /// Refuses compressed bodies with status 415: they would be read as if they were plain.
    pub(super) fn check_coding(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let coding = headers.get(header::CONTENT_ENCODING).and_then(|value| value.to_str().ok());
        let coding = coding.unwrap_or_default().trim();
        let is_plain = PLAIN_CODINGS.iter().any(|plain| coding.eq_ignore_ascii_case(plain));
        if self.left == Some(0) || coding.is_empty() || is_plain {
            return Ok(());
        }
        let msg = format!("Request bodies must not be compressed (Content-Encoding: {coding})");
        Err(ApiError::bad_request(msg).status(StatusCode::UNSUPPORTED_MEDIA_TYPE))
    }

    /// The complete body. Status 413 beyond `bytes_max`, 408 after `time_max`, 400 if it is incomplete, 429 or 503 if
    /// there is no memory for it.
    pub async fn read(
        mut self,
        bytes_max: usize,
        time_max: Duration,
        share: &mut BodyShare,
    ) -> Result<Bytes, ApiError> {
        if self.left == Some(0) {
            return Ok(Bytes::new());
        }
        if self.declared.is_some_and(|length| length > bytes_max as u64) {
            self.discard(time_max).await;
            return Err(ApiError::body_too_large(bytes_max));
        }
        let started = Instant::now();
        let cut = match timeout(time_max, self.gather(bytes_max, share)).await {
            Ok(Ok(body)) => return Ok(body),
            Ok(Err(cut)) => cut,
            Err(_) => return Err(too_slow()),
        };
        let error = match cut {
            Cut::TooLarge => ApiError::body_too_large(bytes_max),
            Cut::NoRoom(full) => full.into(),
            Cut::Broken(error) => return Err(error),
        };
        self.discard(time_max.saturating_sub(started.elapsed())).await;
        Err(error)
    }

    /// Reads and discards the rest of the body, as long as it arrives.
    pub async fn discard(mut self, time_max: Duration) {
        let deadline = Instant::now() + time_max;
        let mut read = 0;
        while read < DISCARDED_BYTES_MAX && Instant::now() < deadline {
            match timeout(PAUSE_MAX, self.next()).await {
                Ok(Some(Ok(chunk))) => read += chunk.len(),
                // Whether it was complete makes no difference to the response.
                Ok(Some(Err(_)) | None) | Err(_) => return,
            }
        }
    }

    /// Collects the chunks; on overflow those received are dropped.
    async fn gather(&mut self, bytes_max: usize, share: &mut BodyShare) -> Result<Bytes, Cut> {
        let mut body = BytesMut::new();
        let mut first: Option<Bytes> = None;
        while let Some(chunk) = self.next().await {
            let chunk = chunk.map_err(|error| Cut::Broken(broken_off(error)))?;
            let length = body.len() + first.as_ref().map_or(0, Bytes::len) + chunk.len();
            if length > bytes_max {
                return Err(Cut::TooLarge);
            }
            share.hold(length).map_err(Cut::NoRoom)?;
            // Most bodies arrive in one chunk and need no copy.
            if body.is_empty() && first.is_none() {
                first = Some(chunk);
                continue;
            }
            if let Some(first) = first.take() {
                body.extend_from_slice(&first);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(first.unwrap_or_else(|| body.freeze()))
    }
}

impl Stream for RequestBody {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.left == Some(0) {
            return Poll::Ready(None);
        }
        let mut next = ready!(Pin::new(&mut self.payload).poll_next(context));
        if let (Some(left), Some(Ok(chunk))) = (&mut self.left, &mut next) {
            chunk.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
            *left -= chunk.len() as u64;
        }
        Poll::Ready(next)
    }
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}

/// The error for a body that takes too long.
pub fn too_slow() -> ApiError {
    ApiError::bad_request("Request body took too long").status(StatusCode::REQUEST_TIMEOUT)
}

/// The error for a body whose connection failed.
pub fn broken_off(_: PayloadError) -> ApiError {
    ApiError::bad_request("Request body is incomplete")
}
