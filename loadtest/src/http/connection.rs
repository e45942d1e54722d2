//! A persistent connection. It owns its read buffer and replies borrow from it, so that a request in the steady state
//! costs one write, one read and no allocation.

use std::time::Duration;

use super::HttpError;
use super::parse::{Framing, Head, find_chunks_end, join_chunks, parse_head};
use super::stream::Stream;
use super::target::Target;

/// Initial size of a read buffer, small because thousands of idle connections each have one.
const BUFFER_BYTES_START: usize = 2 * 1024;
/// Maximum size of a reply. A page of 5,000 messages is about 5 MB, the largest reply of all scenarios.
const REPLY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A reply, borrowed from the connection's buffer until the next exchange.
#[derive(Debug)]
pub struct Reply<'a> {
    pub status: u16,
    /// How long the server asks to wait before the next request, by its header; with status 429.
    pub retry_after: Option<Duration>,
    /// Where the reply leads, if it is a redirect that says so.
    pub location: Option<String>,
    pub body: &'a [u8],
}

/// A connection and its read buffer.
#[derive(Debug)]
pub struct Connection {
    target: Target,
    stream: Stream,
    buffer: Vec<u8>,
    filled: usize,
    closing: bool,
}

impl Connection {
    /// Connects to a target.
    pub async fn open(target: &Target) -> Result<Self, HttpError> {
        let stream = Stream::connect(target).await?;
        Ok(Self {
            target: target.clone(),
            stream,
            buffer: vec![0; BUFFER_BYTES_START],
            filled: 0,
            closing: false,
        })
    }

    /// Sends one whole request and reads its whole reply.
    pub async fn exchange(&mut self, request: &[u8]) -> Result<Reply<'_>, HttpError> {
        if self.closing {
            self.reopen().await?;
        }
        // If this is interrupted before the reply is complete, the connection cannot be used again.
        self.closing = true;
        self.filled = 0;
        self.stream.write_all(request).await?;
        let (head, body) = self.read_reply().await?;
        let Head { status, retry_after, location, .. } = head;
        Ok(Reply { status, retry_after, location, body: &self.buffer[body] })
    }

    /// Like `exchange`, for connections with idle time between requests: the server may have closed them.
    pub async fn exchange_rested(&mut self, request: &[u8]) -> Result<Reply<'_>, HttpError> {
        if self.stream.is_closed().await {
            self.reopen().await?;
        }
        self.exchange(request).await
    }

    /// Sends a request whose reply is never read.
    pub async fn send_only(&mut self, request: &[u8]) -> Result<(), HttpError> {
        self.closing = true;
        Ok(self.stream.write_all(request).await?)
    }

    /// Replaces this connection by a new one.
    pub async fn reopen(&mut self) -> Result<(), HttpError> {
        self.stream = Stream::connect(&self.target).await?;
        self.filled = 0;
        self.closing = false;
        Ok(())
    }

    async fn read_reply(&mut self) -> Result<(Head, std::ops::Range<usize>), HttpError> {
        let head = self.read_head().await?;
        let start = head.length;
        let length = match &head.framing {
            Framing::Length(length) => {
                self.read_until(start.saturating_add(*length)).await?;
                *length
            }
            Framing::Chunked => {
                let end = self.read_chunks(start).await?;
                join_chunks(&mut self.buffer[..end], start)?
            }
        };
        self.closing = head.closes;
        Ok((head, start..start + length))
    }

    async fn read_head(&mut self) -> Result<Head, HttpError> {
        loop {
            self.read_some().await?;
            while let Some(head) = parse_head(&self.buffer[..self.filled])? {
                if !head.is_interim() {
                    return Ok(head);
                }
                self.buffer.copy_within(head.length..self.filled, 0);
                self.filled -= head.length;
            }
        }
    }

    async fn read_until(&mut self, end: usize) -> Result<(), HttpError> {
        if end > REPLY_BYTES_MAX {
            return Err(HttpError::TooLarge(REPLY_BYTES_MAX));
        }
        if self.buffer.len() < end {
            self.buffer.resize(end, 0);
        }
        while self.filled < end {
            self.read_some().await?;
        }
        Ok(())
    }

    async fn read_chunks(&mut self, start: usize) -> Result<usize, HttpError> {
        loop {
            if let Some(end) = find_chunks_end(&self.buffer[..self.filled], start)? {
                return Ok(end);
            }
            self.read_some().await?;
        }
    }

    async fn read_some(&mut self) -> Result<(), HttpError> {
        if self.filled == self.buffer.len() {
            if self.filled >= REPLY_BYTES_MAX {
                return Err(HttpError::TooLarge(REPLY_BYTES_MAX));
            }
            self.buffer.resize(self.filled * 2, 0);
        }
        let count = self.stream.read(&mut self.buffer[self.filled..]).await?;
        if count == 0 {
            return Err(HttpError::Closed);
        }
        self.filled += count;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// A server that answers each request with the next of `replies`, written in pieces, then closes the connection.
    async fn start_fake(replies: Vec<Vec<&'static [u8]>>) -> Target {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = Target::local(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                for pieces in &replies {
                    let mut request = [0; 1024];
                    if stream.read(&mut request).await.unwrap() == 0 {
                        break;
                    }
                    for piece in pieces {
                        stream.write_all(piece).await.unwrap();
                        stream.flush().await.unwrap();
                        tokio::time::sleep(Duration::from_millis(2)).await;
                    }
                }
            }
        });
        target
    }

    #[tokio::test]
    async fn replies_in_pieces_are_put_together() {
        let target = start_fake(vec![
            vec![b"HTTP/1.1 200 OK\r\nConten", b"t-Length: 5\r\n\r\nhe", b"llo"],
            vec![
                b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n",
                b"\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            ],
            vec![b"HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nno", b"t\r\n0\r\n\r\n"],
        ])
        .await;
        let mut connection = Connection::open(&target).await.unwrap();
        let reply = connection.exchange(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        assert_eq!((reply.status, reply.body), (200, &b"hello"[..]));
        let reply = connection.exchange(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        assert_eq!((reply.status, reply.body), (200, &b"ok"[..]), "after interim answers");
        let reply = connection.exchange(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        assert_eq!((reply.status, reply.body), (404, &b"not"[..]));
    }

    #[tokio::test]
    async fn idle_connection_closed_by_server_is_reopened() {
        let target = start_fake(vec![vec![b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]]).await;
        let mut connection = Connection::open(&target).await.unwrap();
        for _ in 0..3 {
            let reply = connection.exchange_rested(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
            assert_eq!(reply.body, b"ok");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    #[tokio::test]
    async fn truncated_reply_is_an_error() {
        let target = start_fake(vec![vec![b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok"]]).await;
        let mut connection = Connection::open(&target).await.unwrap();
        let outcome = connection.exchange(b"GET / HTTP/1.1\r\n\r\n").await;
        assert!(matches!(outcome, Err(HttpError::Closed)));
    }
}
