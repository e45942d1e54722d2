//! A TCP connection with a limit on how long a client may leave a response unread.
//!
//! A response to a client that does not read would be held in memory indefinitely. A [`Connection`] fails a write that has made no
//! progress for `http.write_secs_max` seconds; the connection is closed, and everything that was held for it is freed.

use actix_rt::net::TcpStream;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// A TCP connection whose writes fail once the client has read nothing for too long.
pub struct Connection {
    stream: TcpStream,
    unread_max: Duration,
    /// Runs while a write waits for the client; created by the first that does.
    deadline: Option<Pin<Box<Sleep>>>,
    is_waiting: bool,
}

impl Connection {
    /// A new connection, counted until it is dropped.
    pub fn new(stream: TcpStream, unread_max: Duration) -> Self {
        // Responses are written completely; Nagle's algorithm would only delay them.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        metrics::gauge!("millstream_http_connections").increment(1.0);
        Self { stream, unread_max, deadline: None, is_waiting: false }
    }

    /// Reads the first bytes without taking them.
    pub async fn peek(&self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.peek(bytes).await
    }

    /// The result of a write, or the end of waiting for it.
    fn or_deadline(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(written) => {
                self.is_waiting = false;
                Poll::Ready(written)
            }
            Poll::Pending => self.poll_deadline(cx).map(Err),
        }
    }

    /// Waits for the client, up to the deadline.
    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        let until = Instant::now() + self.unread_max;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        if !self.is_waiting {
            self.is_waiting = true;
            deadline.as_mut().reset(until);
        }
        deadline.as_mut().poll(cx).map(|()| {
            metrics::counter!("millstream_http_connections_unread_total").increment(1);
            // Data in the socket's buffer is discarded with the connection.
            if let Err(error) = self.stream.set_zero_linger() {
                tracing::debug!(%error, "a connection could not be reset");
            }
            io::Error::new(io::ErrorKind::TimedOut, "the client does not read the response")
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        metrics::gauge!("millstream_http_connections").decrement(1.0);
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.or_deadline(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.or_deadline(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// Both ends of a connection.
    async fn pair(unread_max: Duration) -> (Connection, TcpStream) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (Connection::new(listener.accept().await.unwrap().0, unread_max), client)
    }

    #[actix_web::test]
    async fn connection_of_client_that_does_not_read_is_closed() {
        let (mut server, client) = pair(Duration::from_millis(50)).await;
        let answer = vec![0; 64 << 20];
        let error = server.write_all(&answer).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(client);
    }

    #[actix_web::test]
    async fn slow_reader_gets_the_complete_response() {
        let (mut server, mut client) = pair(Duration::from_secs(600)).await;
        let answer = vec![7; 16 << 20];
        let sent = async {
            server.write_all(&answer).await.unwrap();
            drop(server);
        };
        let mut read = Vec::new();
        let ((), received) = futures_util::join!(sent, client.read_to_end(&mut read));
        assert_eq!((received.unwrap(), read == answer), (16 << 20, true));
    }
}
