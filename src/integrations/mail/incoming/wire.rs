//! The bytes of a connection with a mail server: plain at first, and with TLS after STARTTLS.

use crate::certificates::{Certificate, CertificateFiles, TlsProblem};
use std::io::{Error, ErrorKind};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// A connection with a mail server.
pub enum Wire {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    /// The change to TLS has failed.
    Closed,
}

impl Wire {
    /// Whether it is not encrypted.
    pub fn is_plain(&self) -> bool {
        matches!(self, Self::Plain(_))
    }

    /// Reads some bytes; 0 at the end.
    pub async fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Error> {
        match self {
            Self::Plain(stream) => stream.read(bytes).await,
            Self::Tls(stream) => stream.read(bytes).await,
            Self::Closed => Ok(0),
        }
    }

    /// Writes all bytes.
    pub async fn write_all(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match self {
            Self::Plain(stream) => stream.write_all(bytes).await,
            Self::Tls(stream) => {
                stream.write_all(bytes).await?;
                stream.flush().await
            }
            Self::Closed => Err(ErrorKind::NotConnected.into()),
        }
    }

    /// Changes to TLS. After an error the connection is closed.
    pub async fn encrypt(&mut self, acceptor: &TlsAcceptor) -> Result<(), Error> {
        match std::mem::replace(self, Self::Closed) {
            Self::Plain(stream) => {
                *self = Self::Tls(Box::new(acceptor.accept(stream).await?));
                Ok(())
            }
            Self::Tls(_) | Self::Closed => Err(ErrorKind::InvalidInput.into()),
        }
    }
}

/// What STARTTLS needs, from files in PEM form.
///
/// # Errors
/// When a file cannot be read, or the key is not that of the certificate.
pub fn acceptor(files: CertificateFiles) -> Result<TlsAcceptor, TlsProblem> {
    let option = files.key_option;
    let config = Certificate::open(files)?.server_config();
    let config = config.map_err(|error| TlsProblem { option, text: error.to_string() })?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
