//! A connection with the SMTP server. The SMTP client reads lines of any length, so what the server may send is bounded below
//! it, and below its encryption.

use crate::integrations::bounded_stream::BoundedStream;
use futures_util::io::{AsyncRead as FuturesRead, AsyncWrite as FuturesWrite};
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
#[expect(
    deprecated,
    reason = "only it encrypts before the greeting, with the parameters that STARTTLS has"
)]
use lettre::transport::smtp::client::AsyncNetworkStream;
use lettre::transport::smtp::client::{AsyncSmtpConnection, AsyncTokioStream, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, lookup_host};

/// What the server may send in one session, in KiB: about ten answers, none of which the client accepts above 100 KB, and the
/// certificates.
const SESSION_KIB_MAX: usize = 1024;

/// Why a session failed.
#[derive(Debug, Error)]
pub enum SmtpError {
    #[error("Connection error")]
    Connect(#[source] io::Error),
    #[error(transparent)]
    Session(#[from] lettre::transport::smtp::Error),
}

/// When a session is encrypted.
pub enum Encryption {
    None,
    Starttls(TlsParameters),
    Tls(TlsParameters),
}

/// Where sessions begin, and how.
pub struct SmtpServer {
    pub host: String,
    pub port: u16,
    pub encryption: Encryption,
    pub credentials: Option<Credentials>,
    /// For each address of the host.
    pub connect_time_max: Duration,
}

impl SmtpServer {
    /// A session after the greeting, encryption and login.
    pub async fn connect(&self) -> Result<AsyncSmtpConnection, SmtpError> {
        let stream = BoundedStream::new(self.open().await?, "the mail server", SESSION_KIB_MAX);
        let name = ClientId::default();
        let mut connection = match &self.encryption {
            Encryption::None => AsyncSmtpConnection::connect_with_transport(Box::new(stream), &name).await?,
            Encryption::Tls(parameters) => {
                let stream = Encrypted::begin(stream, parameters.clone()).await?;
                AsyncSmtpConnection::connect_with_transport(Box::new(stream), &name).await?
            }
            Encryption::Starttls(parameters) => {
                let mut connection =
                    AsyncSmtpConnection::connect_with_transport(Box::new(stream), &name).await?;
                connection.starttls(parameters.clone(), &name).await?;
                connection
            }
        };
        if let Some(credentials) = &self.credentials {
            connection.auth(DEFAULT_MECHANISMS, credentials).await?;
        }
        Ok(connection)
    }

    /// A connection with the first address of the host that accepts one.
    async fn open(&self) -> Result<TcpStream, SmtpError> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in lookup_host((self.host.as_str(), self.port)).await.map_err(SmtpError::Connect)? {
            match tokio::time::timeout(self.connect_time_max, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => last = error,
                Err(_) => last = io::Error::new(io::ErrorKind::TimedOut, "connection timed out"),
            }
        }
        Err(SmtpError::Connect(last))
    }
}

impl AsyncTokioStream for BoundedStream<TcpStream> {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.get_ref().peer_addr()
    }
}

/// A connection that is encrypted from the first byte.
#[derive(Debug)]
#[expect(deprecated, reason = "see its import")]
struct Encrypted(AsyncNetworkStream);

#[expect(deprecated, reason = "see its import")]
impl Encrypted {
    async fn begin(stream: BoundedStream<TcpStream>, parameters: TlsParameters) -> Result<Self, SmtpError> {
        let mut stream = AsyncNetworkStream::use_existing_tokio1(Box::new(stream));
        stream.upgrade_tls(parameters).await?;
        Ok(Self(stream))
    }
}

impl AsyncTokioStream for Encrypted {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.peer_addr()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let free = buffer.initialize_unfilled();
        let count = ready!(FuturesRead::poll_read(Pin::new(&mut self.0), context, free))?;
        buffer.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        FuturesWrite::poll_write(Pin::new(&mut self.0), context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        FuturesWrite::poll_flush(Pin::new(&mut self.0), context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        FuturesWrite::poll_close(Pin::new(&mut self.0), context)
    }
}
