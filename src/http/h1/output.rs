//! What a client gets: heads and bodies of responses.

use super::buffers::{give_response_buffer, take_response_buffer};
use actix_http::Response;
use actix_http::body::BodySize;
use actix_http::h1::{Codec, Message};
use bytes::{Buf, Bytes, BytesMut};
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;
use tokio_util::codec::Encoder;

/// Smaller parts of a body are copied behind what is written before them: one large write costs less than two.
const COPIED_BYTES_MAX: usize = 16 << 10;

/// How the end of a body is known.
#[derive(Clone, Copy, Debug, Default)]
enum Framing {
    #[default]
    Empty,
    /// By its length; the bytes that are left.
    Length(u64),
    Chunks,
}

/// The writing side of a connection.
#[derive(Default)]
pub struct Output {
    /// What was not written yet.
    buffer: BytesMut,
    framing: Framing,
}

impl Output {
    /// Begins a response; a body follows if `has_body`.
    pub fn begin(
        &mut self,
        codec: &mut Codec,
        head: Response<()>,
        size: BodySize,
        has_body: bool,
    ) -> io::Result<()> {
        self.buffer = take_response_buffer();
        self.framing = match size {
            BodySize::Sized(bytes) if has_body => Framing::Length(bytes),
            BodySize::Stream if has_body => Framing::Chunks,
            BodySize::None | BodySize::Sized(_) | BodySize::Stream => Framing::Empty,
        };
        codec.encode(Message::Item((head, size)), &mut self.buffer)
    }

    /// Adds a piece of the body, and writes it if it is large.
    pub async fn piece(
        &mut self,
        (codec, stream): (&mut Codec, &mut (impl AsyncWrite + Unpin)),
        mut piece: Bytes,
    ) -> io::Result<()> {
        match &mut self.framing {
            Framing::Empty => return Ok(()),
            Framing::Chunks => codec.encode(Message::Chunk(Some(piece)), &mut self.buffer)?,
            Framing::Length(left) => {
                piece.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= piece.len() as u64;
                if piece.len() > COPIED_BYTES_MAX {
                    return self.write(stream, piece).await;
                }
                self.buffer.extend_from_slice(&piece);
            }
        }
        if self.buffer.len() > COPIED_BYTES_MAX { self.write(stream, Bytes::new()).await } else { Ok(()) }
    }

    /// Ends the body, and writes everything. Fails if the body is shorter than the head says.
    pub async fn end(
        &mut self,
        (codec, stream): (&mut Codec, &mut (impl AsyncWrite + Unpin)),
    ) -> io::Result<()> {
        let is_short = matches!(self.framing, Framing::Length(1..));
        if matches!(self.framing, Framing::Chunks) {
            codec.encode(Message::Chunk(None), &mut self.buffer)?;
        }
        self.write(stream, Bytes::new()).await?;
        give_response_buffer(std::mem::take(&mut self.buffer));
        if is_short { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    /// Writes what is in the buffer.
    pub fn poll_flush(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut (impl AsyncWrite + Unpin),
    ) -> Poll<io::Result<()>> {
        self.poll_write(cx, stream, &mut Bytes::new())
    }

    /// Writes bytes behind those of the buffer.
    pub async fn write(
        &mut self,
        stream: &mut (impl AsyncWrite + Unpin),
        mut bytes: Bytes,
    ) -> io::Result<()> {
        poll_fn(|cx| self.poll_write(cx, stream, &mut bytes)).await
    }

    fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut (impl AsyncWrite + Unpin),
        bytes: &mut Bytes,
    ) -> Poll<io::Result<()>> {
        while !self.buffer.is_empty() || !bytes.is_empty() {
            let mut stream = Pin::new(&mut *stream);
            let written = match (self.buffer.is_empty(), bytes.is_empty()) {
                (false, true) => ready!(stream.as_mut().poll_write(cx, &self.buffer))?,
                (true, _) => ready!(stream.as_mut().poll_write(cx, bytes))?,
                (false, false) => {
                    let both = [IoSlice::new(&self.buffer), IoSlice::new(bytes)];
                    ready!(stream.as_mut().poll_write_vectored(cx, &both))?
                }
            };
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            match written.checked_sub(self.buffer.len()) {
                // The buffer keeps its room.
                Some(more) => {
                    self.buffer.clear();
                    bytes.advance(more);
                }
                None => self.buffer.advance(written),
            }
        }
        Pin::new(stream).poll_flush(cx)
    }
}
