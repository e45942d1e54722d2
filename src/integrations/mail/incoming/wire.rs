//! The bytes of a connection with a mail server: plain at first, and with TLS after STARTTLS.

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::io::{Error, ErrorKind};
use std::path::Path;
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
pub fn acceptor(cert_file: &Path, key_file: &Path) -> Result<TlsAcceptor, TlsProblem> {
    let certificates = read(cert_file, "mail.incoming.tls_cert_file")?;
    let key = read(key_file, "mail.incoming.tls_key_file")?;
    let certificates: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(&certificates).filter_map(Result::ok).collect();
    if certificates.is_empty() {
        return Err(TlsProblem::new(
            "mail.incoming.tls_cert_file",
            "must be a file with certificates in PEM form",
        ));
    }
    let refused = |text: String| TlsProblem { option: "mail.incoming.tls_key_file", text };
    let key = PrivateKeyDer::from_pem_slice(&key)
        .map_err(|_| refused("must be a file with a private key in PEM form".to_owned()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| refused(error.to_string()))?.with_no_client_auth();
    let config = config.with_single_cert(certificates, key);
    let config = config.map_err(|_| refused("must be the key of the certificate".to_owned()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Why STARTTLS cannot be offered: the wrong option, and what is wrong with it.
#[derive(Debug)]
pub struct TlsProblem {
    pub option: &'static str,
    pub text: String,
}

impl TlsProblem {
    fn new(option: &'static str, text: &str) -> Self {
        Self { option, text: text.to_owned() }
    }
}

fn read(path: &Path, option: &'static str) -> Result<Vec<u8>, TlsProblem> {
    std::fs::read(path).map_err(|reason| TlsProblem { option, text: format!("cannot be read: {reason}") })
}
