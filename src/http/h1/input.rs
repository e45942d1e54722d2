//! What a client sends: heads and bodies of requests.

use super::buffers::with_read_buffer;
use super::payload::{BodySender, WholeBody, channel};
use crate::http::body::{BodyShare, UNRESERVED_BYTES_MAX};
use crate::http::error::ApiError;
use actix_http::error::{ParseError, PayloadError};
use actix_http::h1::{Codec, Message, MessageType};
use actix_http::{Payload, Request};
use actix_web::http::{Method, StatusCode, Version};
use bytes::BytesMut;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::codec::Decoder;

/// Bytes that are read at a time, except of bodies.
const HEAD_READ_BYTES: usize = 16 << 10;
/// Maximum size of the head of a request, in bytes. A query alone may have 64 KB: the API allows 5,000 ids of messages.
pub const HEAD_BYTES_MAX: usize = 80 << 10;
/// Maximum size of the path and query of a request, in bytes: that of the type for addresses.
pub const TARGET_BYTES_MAX: usize = 65_534;
/// Bytes of further requests that are kept while one is being answered, before the last read.
const PIPELINED_BYTES_MAX: usize = 8 << 10;

/// The reading side of a connection.
pub struct Input<T> {
    stream: T,
    codec: Codec,
    peer: Option<SocketAddr>,
    /// What has arrived and was not decoded. Without capacity if it is empty, so that waiting requests hold nothing.
    buffer: BytesMut,
    /// The memory that is reserved for an incomplete head, unless it is small.
    head: Option<Box<BodyShare>>,
    /// The body of the current request, until it is complete.
    body: Option<BodySender>,
    /// Whether the current request has the method HEAD.
    is_head: bool,
    /// Whether the client of the current request understands chunks.
    takes_chunks: bool,
    /// Whether what follows on the connection cannot be understood.
    is_broken: bool,
    /// Whether the client sends nothing more.
    is_closed: bool,
}

/// What has arrived.
pub enum Arrived {
    Request(Request),
    /// Not a request: the status says why.
    Invalid(StatusCode),
    /// The beginning of a request, or one that is refused as a whole.
    Refused(ApiError),
    /// The client has closed the connection.
    End,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Input<T> {
    /// Nothing has arrived yet.
    pub fn new(stream: T, codec: Codec, peer: Option<SocketAddr>) -> Self {
        Self {
            stream,
            codec,
            peer,
            buffer: BytesMut::new(),
            head: None,
            body: None,
            is_head: false,
            takes_chunks: true,
            is_broken: false,
            is_closed: false,
        }
    }

    /// The codec and the connection, for responses.
    pub fn parts(&mut self) -> (&mut Codec, &mut T) {
        (&mut self.codec, &mut self.stream)
    }

    /// Whether nothing of the next request has arrived.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Whether the response to the current request has no body.
    pub fn is_head(&self) -> bool {
        self.is_head
    }

    /// Whether a body of unknown length is sent in chunks. Clients of HTTP/1.0 know its end by that of the connection.
    pub fn takes_chunks(&self) -> bool {
        self.takes_chunks
    }

    /// Whether the body of the current request has not arrived yet.
    pub fn is_body_awaited(&self) -> bool {
        self.body.is_some()
    }

    /// The next request, with as much of its body as has arrived. `share` makes the budget for the heads of an address.
    pub fn poll_request(
        &mut self,
        cx: &mut Context<'_>,
        share: &dyn Fn(Option<IpAddr>) -> BodyShare,
    ) -> Poll<io::Result<Arrived>> {
        loop {
            if !self.buffer.is_empty() {
                let bytes = self.buffer.len();
                match self.codec.decode(&mut self.buffer) {
                    Ok(Some(Message::Item(_))) if bytes - self.buffer.len() > HEAD_BYTES_MAX => {
                        return Poll::Ready(Ok(self.refuse(head_too_large())));
                    }
                    Ok(Some(Message::Item(request))) => {
                        self.head = None;
                        return Poll::Ready(Ok(Arrived::Request(self.admit(request))));
                    }
                    // Bodies are read to their ends before the next head.
                    Ok(Some(Message::Chunk(_))) => {
                        return Poll::Ready(Ok(Arrived::Invalid(StatusCode::BAD_REQUEST)));
                    }
                    Ok(None) => {
                        if let Err(refusal) = self.hold_head(share) {
                            return Poll::Ready(Ok(self.refuse(refusal)));
                        }
                    }
                    Err(error) => return Poll::Ready(self.invalid(error, bytes)),
                }
            }
            if ready!(self.poll_fill(cx))? == 0 {
                return Poll::Ready(Ok(Arrived::End));
            }
        }
    }

    /// Reserves the memory of an incomplete head.
    fn hold_head(&mut self, share: &dyn Fn(Option<IpAddr>) -> BodyShare) -> Result<(), ApiError> {
        if self.buffer.len() > HEAD_BYTES_MAX {
            return Err(head_too_large());
        }
        if self.buffer.len() <= UNRESERVED_BYTES_MAX {
            return Ok(());
        }
        let address = self.peer.map(|peer| peer.ip());
        let held = self.head.get_or_insert_with(|| Box::new(share(address)));
        Ok(held.hold(self.buffer.capacity())?)
    }

    /// Frees what has arrived of a request that is refused.
    fn refuse(&mut self, refusal: ApiError) -> Arrived {
        (self.buffer, self.head, self.is_head) = (BytesMut::new(), None, false);
        Arrived::Refused(refusal)
    }

    /// Refuses what cannot be decoded, of which `bytes` bytes have arrived.
    fn invalid(&mut self, error: ParseError, bytes: usize) -> io::Result<Arrived> {
        match error {
            ParseError::Io(error) => Err(error),
            ParseError::TooLarge => Ok(self.refuse(too_many_headers())),
            ParseError::Uri(_) if bytes > HEAD_BYTES_MAX => Ok(self.refuse(head_too_large())),
            ParseError::Uri(_) if bytes > TARGET_BYTES_MAX => Ok(self.refuse(target_too_large())),
            _ => Ok(Arrived::Invalid(StatusCode::BAD_REQUEST)),
        }
    }

    /// Gives a request its peer and its body.
    fn admit(&mut self, mut request: Request) -> Request {
        request.head_mut().peer_addr = self.peer;
        self.is_head = *request.method() == Method::HEAD;
        self.takes_chunks = request.version() >= Version::HTTP_11;
        match self.codec.message_type() {
            MessageType::None => {}
            // Upgrades are not supported: the body is what comes until the end of the connection.
            MessageType::Payload | MessageType::Stream => *request.payload() = self.payload(),
        }
        self.free_buffer();
        request
    }

    fn payload(&mut self) -> Payload {
        let mut first = None;
        loop {
            match self.codec.decode(&mut self.buffer) {
                // Most bodies have arrived with their head.
                Ok(Some(Message::Chunk(None))) => {
                    return Payload::Stream { payload: Box::pin(WholeBody(first)) };
                }
                Ok(Some(Message::Chunk(Some(chunk)))) if first.is_none() => first = Some(chunk),
                more => {
                    let (sender, body) = channel();
                    if let Some(first) = first {
                        sender.push(first);
                    }
                    self.body = Some(sender);
                    if self.take(more) {
                        self.decode_body();
                    }
                    return Payload::Stream { payload: Box::pin(body) };
                }
            }
        }
    }

    /// Reads more while a request is being answered: ready with true when its body has grown or ended, and with false when the
    /// client has closed the connection.
    pub fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        loop {
            if self.is_closed {
                return Poll::Ready(false);
            }
            let may_read = match &self.body {
                Some(body) => body.has_room(cx),
                None => self.buffer.len() < PIPELINED_BYTES_MAX,
            };
            if !may_read {
                return Poll::Pending;
            }
            self.is_closed = ready!(self.poll_fill(cx)).unwrap_or(0) == 0;
            if self.body.is_none() {
                // What was read is a request that is answered later.
                continue;
            }
            if self.is_closed {
                // The body ends with an error.
                (self.body, self.is_broken) = (None, true);
            } else {
                self.decode_body();
            }
            return Poll::Ready(true);
        }
    }

    /// Ends the body of the request that is answered now. False if the rest of it has not arrived: what comes next on the
    /// connection is not a request.
    pub fn finish_body(&mut self) -> bool {
        self.decode_body();
        self.body.is_none() && !self.is_broken
    }

    /// Reads and discards until the client closes the connection.
    pub fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while !self.is_closed {
            self.is_closed = ready!(self.poll_fill(cx)).unwrap_or(0) == 0;
            self.buffer.clear();
        }
        Poll::Ready(())
    }

    /// Closes the connection after what was written.
    pub fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn decode_body(&mut self) {
        while self.body.is_some() {
            let decoded = self.codec.decode(&mut self.buffer);
            if !self.take(decoded) {
                break;
            }
        }
        self.free_buffer();
    }

    /// Gives the body what was decoded; false if nothing more can be decoded now.
    fn take(&mut self, decoded: Result<Option<Message<Request>>, ParseError>) -> bool {
        let Some(body) = &self.body else { return false };
        match decoded {
            Ok(Some(Message::Chunk(Some(chunk)))) => body.push(chunk),
            Ok(None) => return false,
            Ok(Some(Message::Chunk(None))) => {
                body.end(Ok(()));
                self.body = None;
            }
            Ok(Some(Message::Item(_))) | Err(_) => {
                body.end(Err(PayloadError::EncodingCorrupted));
                (self.body, self.is_broken) = (None, true);
            }
        }
        self.body.is_some()
    }

    /// Reads what has arrived; 0 bytes at the end.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        with_read_buffer(|room| {
            let bytes = if self.body.is_some() { room.len() } else { HEAD_READ_BYTES };
            let mut room = ReadBuf::new(&mut room[..bytes]);
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut room))?;
            self.buffer.extend_from_slice(room.filled());
            Poll::Ready(Ok(room.filled().len()))
        })
    }

    /// An empty buffer may share its memory with the head of the request.
    fn free_buffer(&mut self) {
        if self.buffer.is_empty() {
            self.buffer = BytesMut::new();
        }
    }
}

fn head_too_large() -> ApiError {
    ApiError::bad_request(format!("Request head is too large (limit: {HEAD_BYTES_MAX} bytes)"))
        .status(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)
}

fn target_too_large() -> ApiError {
    ApiError::bad_request(format!("Path and query are too large (limit: {TARGET_BYTES_MAX} bytes)"))
        .status(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)
}

fn too_many_headers() -> ApiError {
    ApiError::bad_request("Request has too many headers").status(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)
}
