//! HTTP/1.1 on one connection, with the codec of the HTTP library: a request is read, answered by a service, and its response
//! written, one after the other.
//!
//! The library's own dispatcher keeps two buffers of 8 KB, two timers and a shutdown signal for each connection, which a server that
//! holds ten thousand waiting polls would mostly pay for. Here a connection that waits holds no buffer: bytes are read into a buffer of
//! the thread and kept only if a request is incomplete, and responses are written from another one.

mod buffers;
mod bursts;
mod deadline;
mod draining;
mod input;
mod output;
mod payload;

pub use draining::Draining;

use super::body::BodyShare;
use super::connection_slots;
use super::truncation::Truncation;
use actix_http::body::{BodySize, BoxBody, MessageBody};
use actix_http::h1::Codec;
use actix_http::{ConnectionType, KeepAlive, Request, Response, ServiceConfig, ServiceConfigBuilder};
use actix_service::Service;
use actix_web::http::StatusCode;
use bursts::{Bursts, LastAnswer};
use bytes::Bytes;
use deadline::Deadline;
use draining::Idle;
use input::{Arrived, Input};
use output::Output;
use std::future::{Future, poll_fn};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

/// How long a connection whose request was not read completely waits for its client to close it, so that the client reads the response.
const LINGER_MAX: Duration = Duration::from_secs(2);

/// The interim response to clients that ask before they send a body.
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// What the connections of a thread share.
#[derive(Clone)]
pub struct Shared {
    config: ServiceConfig,
    /// How long the head of a request may take.
    head_max: Duration,
    /// How long a connection may be without a request.
    keep_alive: Duration,
    draining: Draining,
    bursts: Bursts,
    /// Makes the budget for incomplete heads of an address.
    head_share: Rc<dyn Fn(Option<IpAddr>) -> BodyShare>,
}

impl Shared {
    /// For connections to a local address.
    pub fn new(
        local: SocketAddr,
        (head_max, keep_alive): (Duration, Duration),
        draining: Draining,
        head_share: Rc<dyn Fn(Option<IpAddr>) -> BodyShare>,
    ) -> Self {
        let config = ServiceConfigBuilder::new()
            .keep_alive(KeepAlive::Timeout(keep_alive))
            .local_addr(Some(local))
            .build();
        Self { config, head_max, keep_alive, draining, bursts: Bursts::default(), head_share }
    }
}

/// A connection, without its service.
struct Connection<'s, T> {
    input: Input<T>,
    output: Output,
    /// Ends the wait for a request.
    deadline: Deadline,
    shared: &'s Shared,
    /// None until it waits for the first time.
    idle: Option<Idle>,
    last_answer: LastAnswer,
}

/// What comes after a request or instead of it.
enum Next {
    Request(Request),
    /// The client has sent something else, too much, or too slowly.
    Refused(Response<BoxBody>),
    /// The client has closed the connection, or it was idle for too long, or the server stops.
    End,
}

/// For what is not a request of the API: without a body.
fn refused(status: StatusCode) -> Next {
    Next::Refused(Response::with_body(status, ()).map_into_boxed_body())
}

/// What happens to a connection after a response.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    NextRequest,
    Close,
    /// The rest of the request is read and discarded before the connection is closed.
    Linger,
    /// Nothing more is written.
    Drop,
}

/// Serves a connection until it ends.
///
/// # Errors
/// When the connection fails, or the body of a response.
pub async fn serve<T, S>(stream: T, peer: Option<SocketAddr>, service: &S, shared: &Shared) -> io::Result<()>
where
    T: AsyncRead + AsyncWrite + Unpin,
    S: Service<Request>,
    S::Response: Into<Response<BoxBody>>,
    S::Error: Into<Response<BoxBody>>,
{
    let mut connection = Connection {
        input: Input::new(stream, Codec::new(shared.config.clone()), peer),
        output: Output::default(),
        deadline: Deadline::default(),
        shared,
        idle: None,
        last_answer: LastAnswer::default(),
    };
    let mut is_first = true;
    loop {
        let request = match connection.next(is_first).await? {
            Next::Request(request) => request,
            Next::Refused(refusal) => {
                connection.respond(refusal, true).await?;
                return connection.close(After::Linger).await;
            }
            Next::End => return connection.close(After::Close).await,
        };
        is_first = false;
        connection_slots::begin_request();
        if request.head().expect() && connection.input.is_body_awaited() {
            connection.output.write(connection.input.parts().1, Bytes::from_static(CONTINUE)).await?;
        }
        let mut has_waited = false;
        let response = {
            let mut call = pin!(service.call(request));
            poll_fn(|cx| {
                let polled = connection.poll_call(cx, call.as_mut());
                has_waited |= polled.is_pending();
                polled
            })
            .await
        };
        // The client has disconnected.
        let Some(response) = response else { return Ok(()) };
        let response: Response<BoxBody> = response.map_or_else(Into::into, Into::into);
        if !has_waited && connection.is_in_burst(&response) {
            tokio::task::yield_now().await;
        }
        match connection.respond(response, false).await? {
            After::NextRequest => {
                connection_slots::end_request();
                if !connection.input.is_empty() {
                    // A client that sends many requests at once lets those of others between.
                    tokio::task::yield_now().await;
                }
            }
            after => return connection.close(after).await,
        }
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> Connection<'_, T> {
    /// Waits for the next request.
    async fn next(&mut self, is_first: bool) -> io::Result<Next> {
        let mut since = Instant::now();
        let mut has_begun = !self.input.is_empty();
        poll_fn(|cx| {
            match self.input.poll_request(cx, &*self.shared.head_share)? {
                Poll::Ready(Arrived::Request(request)) => return Poll::Ready(Ok(Next::Request(request))),
                Poll::Ready(Arrived::Invalid(status)) => return Poll::Ready(Ok(refused(status))),
                Poll::Ready(Arrived::Refused(error)) => {
                    return Poll::Ready(Ok(Next::Refused(error.into_response().into())));
                }
                Poll::Ready(Arrived::End) => return Poll::Ready(Ok(Next::End)),
                Poll::Pending => {}
            }
            if !has_begun && !self.input.is_empty() {
                (has_begun, since) = (true, Instant::now());
            }
            self.idle.get_or_insert_with(|| self.shared.draining.idle(cx.waker()));
            if self.shared.draining.is_draining() && !has_begun {
                return Poll::Ready(Ok(Next::End));
            }
            let is_timed = is_first || has_begun;
            let time_max = if is_timed { self.shared.head_max } else { self.shared.keep_alive };
            ready!(self.deadline.poll(cx, since + time_max));
            Poll::Ready(Ok(if is_timed { refused(StatusCode::REQUEST_TIMEOUT) } else { Next::End }))
        })
        .await
    }

    /// Polls the service, and gives it the body of the request as it arrives; `None` if the client has closed the connection.
    fn poll_call<F: Future>(
        &mut self,
        cx: &mut Context<'_>,
        mut call: Pin<&mut F>,
    ) -> Poll<Option<F::Output>> {
        loop {
            if let Poll::Ready(response) = call.as_mut().poll(cx) {
                return Poll::Ready(Some(response));
            }
            match self.input.poll_rest(cx) {
                // The body has grown.
                Poll::Ready(true) => {}
                Poll::Ready(false) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Whether a response that was decided at once is written after those of other connections are decided.
    fn is_in_burst(&mut self, response: &Response<BoxBody>) -> bool {
        let now = Instant::now();
        self.shared.bursts.defers(response.body().size(), &mut self.last_answer, now)
    }

    /// Writes a response. Returns what happens to the connection then.
    async fn respond(&mut self, mut response: Response<BoxBody>, must_close: bool) -> io::Result<After> {
        let truncation = response.extensions_mut().remove::<Truncation>();
        let is_whole = self.input.finish_body();
        if !is_whole || must_close || self.shared.draining.is_draining() {
            response.head_mut().set_connection_type(ConnectionType::Close);
        }
        if !self.input.takes_chunks() && matches!(response.body().size(), BodySize::Stream) {
            response.head_mut().no_chunking(true);
            response.head_mut().set_connection_type(ConnectionType::Close);
        }
        let (head, body) = response.into_parts();
        match truncation {
            None => self.write(head, body).await?,
            Some(Truncation::Everything) => return Ok(After::Drop),
            Some(Truncation::SecondHalf) => {
                self.write_half(head, body).await?;
                return Ok(After::Drop);
            }
        }
        Ok(match (is_whole, self.input.parts().0.keep_alive()) {
            (false, _) => After::Linger,
            (true, true) => After::NextRequest,
            (true, false) => After::Close,
        })
    }

    async fn write(&mut self, head: Response<()>, body: BoxBody) -> io::Result<()> {
        let has_body = !self.input.is_head();
        self.output.begin(self.input.parts().0, head, body.size(), has_body)?;
        match body.try_into_bytes() {
            Ok(bytes) => self.output.piece(self.input.parts(), bytes).await?,
            Err(mut body) if has_body => {
                while let Some(piece) = poll_fn(|cx| self.poll_piece(cx, &mut body)).await? {
                    self.output.piece(self.input.parts(), piece).await?;
                }
            }
            Err(_) => {}
        }
        self.output.end(self.input.parts()).await
    }

    /// The next piece of a body. What was written before is sent while it is awaited.
    fn poll_piece(&mut self, cx: &mut Context<'_>, body: &mut BoxBody) -> Poll<io::Result<Option<Bytes>>> {
        if let Poll::Ready(piece) = Pin::new(body).poll_next(cx) {
            return Poll::Ready(piece.transpose().map_err(|error| io::Error::other(error.to_string())));
        }
        if let Poll::Ready(result) = self.output.poll_flush(cx, self.input.parts().1) {
            result?;
        }
        loop {
            match self.input.poll_rest(cx) {
                // The handler may still read.
                Poll::Ready(true) => {}
                Poll::Ready(false) => return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into())),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// For a fault of a development server.
    async fn write_half(&mut self, head: Response<()>, body: BoxBody) -> io::Result<()> {
        self.output.begin(self.input.parts().0, head, body.size(), true)?;
        let half = body.try_into_bytes().map(|bytes| bytes.slice(..bytes.len() / 2)).unwrap_or_default();
        self.output.piece(self.input.parts(), half).await?;
        self.output.write(self.input.parts().1, Bytes::new()).await
    }

    async fn close(mut self, after: After) -> io::Result<()> {
        let until = Instant::now() + LINGER_MAX;
        if after == After::Linger {
            // The deadline first: a client that sends without end would use up all that a task may do at a time.
            poll_fn(|cx| match self.deadline.poll(cx, until) {
                Poll::Ready(()) => Poll::Ready(()),
                Poll::Pending => self.input.poll_discard(cx),
            })
            .await;
        }
        if after == After::Drop {
            return Ok(());
        }
        // It makes no difference to a client that has disconnected.
        let _ = tokio::time::timeout_at(until, poll_fn(|cx| self.input.poll_shutdown(cx))).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
