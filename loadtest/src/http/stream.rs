//! The bytes of a connection: TCP, or TLS over it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::HttpError;
use super::target::Target;
use super::tls_error::explain;

/// For each address, and for the handshake.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

fn timed_out() -> std::io::Error {
    std::io::ErrorKind::TimedOut.into()
}

/// Connects to the first address of a target that accepts it. The error is that of the last one.
async fn connect_to_one(target: &Target) -> std::io::Result<TcpStream> {
    let mut failure = timed_out();
    for address in target.addresses() {
        match tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                target.keep(*address);
                return Ok(stream);
            }
            Ok(Err(error)) => failure = error,
            Err(_) => failure = timed_out(),
        }
    }
    Err(failure)
}

/// An open connection to a target.
#[derive(Debug)]
pub enum Stream {
    Plain(TcpStream),
    Secure(Box<TlsStream<TcpStream>>),
}

impl Stream {
    /// Connects, with Nagle's algorithm disabled; for https including the handshake.
    pub async fn connect(target: &Target) -> Result<Self, HttpError> {
        let stream = connect_to_one(target).await?;
        stream.set_nodelay(true)?;
        let Some(tls) = &target.tls else { return Ok(Self::Plain(stream)) };
        let connector = TlsConnector::from(Arc::clone(&tls.config));
        let handshake = tokio::time::timeout(CONNECT_TIMEOUT, connector.connect(tls.name.clone(), stream));
        let secured = handshake.await.map_err(|_| timed_out())?.map_err(explain)?;
        Ok(Self::Secure(Box::new(secured)))
    }

    /// Writes all bytes.
    pub async fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Plain(stream) => stream.write_all(bytes).await,
            Self::Secure(stream) => {
                stream.write_all(bytes).await?;
                stream.flush().await
            }
        }
    }

    /// Reads what there is; 0 at the end.
    pub async fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer).await,
            Self::Secure(stream) => stream.read(buffer).await,
        }
    }

    /// Whether the server closed a connection on which no data is expected.
    pub async fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        match self {
            Self::Plain(stream) => {
                let read = stream.try_read(&mut byte);
                !matches!(read, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
            }
            // TLS has messages of its own between requests, so only its reader knows whether data arrived.
            Self::Secure(stream) => {
                std::future::poll_fn(|context| {
                    let mut buffer = ReadBuf::new(&mut byte);
                    Poll::Ready(Pin::new(stream.as_mut()).poll_read(context, &mut buffer).is_ready())
                })
                .await
            }
        }
    }
}
