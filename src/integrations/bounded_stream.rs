//! Connections to other servers that may send a bounded number of bytes: the clients of some protocols read a line or a value of
//! any length into memory.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A connection whose reads fail after a number of bytes. The bytes are those on the wire, so encryption comes above it.
#[derive(Debug)]
pub struct BoundedStream<S> {
    inner: S,
    /// The other server in the error's text, such as "the mail server".
    peer: &'static str,
    kib_max: usize,
    /// Bytes that may still be read.
    left: usize,
}

impl<S> BoundedStream<S> {
    /// A connection with a server that may send `kib_max` KiB.
    pub fn new(inner: S, peer: &'static str, kib_max: usize) -> Self {
        Self { inner, peer, kib_max, left: kib_max * 1024 }
    }

    /// The connection itself.
    pub fn get_ref(&self) -> &S {
        &self.inner
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for BoundedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        match self.left.checked_sub(buffer.filled().len() - before) {
            Some(left) => {
                self.left = left;
                Poll::Ready(Ok(()))
            }
            None => {
                // A read that fails has read nothing.
                buffer.set_filled(before);
                let text = format!("{} has sent more than {} KiB", self.peer, self.kib_max);
                Poll::Ready(Err(io::Error::other(text)))
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for BoundedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn reads_fail_after_the_bound() {
        let bytes = vec![b'a'; 3000];
        let mut exact = BoundedStream::new(&bytes[..2048], "the mail server", 2);
        assert_eq!(exact.read_to_end(&mut Vec::new()).await.unwrap(), 2048);
        let mut longer = BoundedStream::new(&bytes[..], "the mail server", 2);
        let error = longer.read_to_end(&mut Vec::new()).await.unwrap_err();
        assert_eq!(error.to_string(), "the mail server has sent more than 2 KiB");
    }
}
