//! Asks a server on this machine for its health at the address where it listens, over HTTP or HTTPS. It costs one connection, and
//! no proxy, name or certificate authority is used: health checks of containers run it every few seconds.

use crate::config::TlsSettings;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;

/// How the connection is made.
#[derive(Debug)]
pub enum Security {
    /// HTTP without encryption.
    Plain,
    /// HTTPS with any certificate: the server itself has said over its control socket that it listens there.
    AnyCertificate,
    /// HTTPS with the certificate of the configuration.
    OwnCertificate(Box<TlsSettings>),
}

impl Security {
    /// For a server that has said itself where it listens.
    pub fn of_listener(is_encrypted: bool) -> Self {
        if is_encrypted { Self::AnyCertificate } else { Self::Plain }
    }
}

/// Status and body of the answer to `GET /health`, which is complete after `time_max`. Blocks.
///
/// # Errors
/// Those of the connection and of TLS, `TimedOut`, and an answer that is not HTTP.
pub fn fetch(address: SocketAddr, security: &Security, time_max: Duration) -> io::Result<(u16, String)> {
    let stream = Bounded::connect(address, time_max)?;
    let bytes = match security {
        Security::Plain => exchange(stream)?,
        Security::AnyCertificate => exchange(encrypted(stream, None)?)?,
        Security::OwnCertificate(tls) => {
            let own = tls.files().certificates().map_err(io::Error::other)?;
            exchange(encrypted(stream, Some(own))?)?
        }
    };
    let text = String::from_utf8_lossy(&bytes);
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other("the answer is not HTTP"))?;
    let body = text.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    Ok((status, body.to_owned()))
}

fn exchange(mut stream: impl Read + Write) -> io::Result<Vec<u8>> {
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut bytes = Vec::new();
    match stream.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes) {
        // The server closes the connection after its answer, not always with a word of TLS.
        Err(error) if error.kind() != ErrorKind::UnexpectedEof => Err(error),
        Ok(_) | Err(_) => Ok(bytes),
    }
}

/// A connection that ends at a time, however much was read until then.
struct Bounded {
    stream: TcpStream,
    end: Instant,
    time_max: Duration,
}

impl Bounded {
    fn connect(address: SocketAddr, time_max: Duration) -> io::Result<Self> {
        let end = Instant::now() + time_max;
        let stream = TcpStream::connect_timeout(&address, time_max)?;
        Ok(Self { stream, end, time_max })
    }

    /// The time that is left.
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(self.too_late()) } else { Ok(Some(left)) }
    }

    fn too_late(&self) -> io::Error {
        io::Error::new(ErrorKind::TimedOut, format!("no answer within {} s", self.time_max.as_secs_f64()))
    }

    /// Says what a wait that ended means; the system calls it an operation that would block.
    fn named<T>(&self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => self.too_late(),
            _ => error,
        })
    }
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        let read = self.stream.read(buffer);
        self.named(read)
    }
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        let written = self.stream.write(bytes);
        self.named(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// A TLS connection to the server, which must have the certificate `own` if there is one. Its names and its end do not
/// matter.
fn encrypted(
    stream: Bounded,
    own: Option<Vec<CertificateDer<'static>>>,
) -> io::Result<StreamOwned<ClientConnection, Bounded>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = Arc::new(OwnCertificate { own, provider: provider.clone() });
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(io::Error::other)?.dangerous();
    let config = config.with_custom_certificate_verifier(verifier).with_no_client_auth();
    let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
    let client = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    Ok(StreamOwned::new(client, stream))
}

/// Accepts only the certificate of the configuration; without one, any.
#[derive(Debug)]
struct OwnCertificate {
    own: Option<Vec<CertificateDer<'static>>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for OwnCertificate {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match &self.own {
            Some(own) if own.first() != Some(end_entity) => {
                Err(rustls::Error::General("the server has another certificate than tls.cert_file".into()))
            }
            Some(_) | None => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// What a server gets that answers so to one request.
    fn ask(answer: &'static str) -> io::Result<(u16, String)> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 512];
            let read = stream.read(&mut request).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8_lossy(&request[..read]).into_owned()
        });
        let fetched = fetch(address, &Security::Plain, Duration::from_secs(60));
        assert!(server.join().unwrap().starts_with("GET /health HTTP/1.1\r\n"));
        fetched
    }

    #[test]
    fn status_and_body_are_read() {
        let found = ask("HTTP/1.1 503 Service Unavailable\r\nA: b\r\n\r\n{\"code\":\"X\"}").unwrap();
        assert_eq!(found, (503, "{\"code\":\"X\"}".to_owned()));
        assert_eq!(ask("nothing").unwrap_err().to_string(), "the answer is not HTTP");
    }

    #[test]
    fn silent_server_is_left_after_a_bounded_time() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = silent.local_addr().unwrap();
        for security in [Security::Plain, Security::AnyCertificate] {
            let failed = fetch(address, &security, Duration::from_millis(50)).unwrap_err();
            assert_eq!(failed.to_string(), "no answer within 0.05 s");
        }
    }
}
