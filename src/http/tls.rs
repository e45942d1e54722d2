//! HTTPS without a proxy: handshakes, with bounds of time and number, in front of the connections of the HTTP library.

use super::address::Network;
use super::connection::Connection;
use crate::certificates::{Certificate, TlsProblem};
use crate::config::{CERT_OPTION, TlsSettings};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The first byte of a TLS connection.
const HANDSHAKE_BYTE: u8 = 22;
/// One address may have this part of all handshakes.
const SHARES: usize = 16;
/// Why handshakes fail, in the metrics: too many at a time, a mistake of the client, and too slow.
const FAILURES: [&str; 3] = [LIMIT, PROTOCOL, TIME];
const LIMIT: &str = "limit";
const PROTOCOL: &str = "protocol";
const TIME: &str = "time";
/// What a client gets that speaks plain HTTP.
const HTTPS_REQUIRED: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\
    Content-Length: 58\r\n\r\nThis port speaks HTTPS: use https:// instead of http://.\r\n";

/// What HTTPS needs, shared by all HTTP threads.
pub struct Tls {
    certificate: Arc<Certificate>,
    acceptor: TlsAcceptor,
    time_max: Duration,
    handshakes: Mutex<Handshakes>,
}

/// Counts failed handshakes; the metric exists from the first call on.
fn count_failures(reason: &'static str, more: u64) {
    metrics::counter!("millstream_tls_handshakes_failed_total", "reason" => reason).increment(more);
}

/// Handshakes in progress.
struct Handshakes {
    all: usize,
    all_max: usize,
    by_network: HashMap<Network, usize>,
}

/// A handshake in progress; it ends when this is dropped.
struct HandshakePermit<'t> {
    tls: &'t Tls,
    network: Network,
}

impl Tls {
    /// HTTPS as it is configured; none without a certificate.
    ///
    /// # Errors
    /// When the certificate cannot be used.
    pub fn new(settings: &TlsSettings) -> Result<Option<Arc<Self>>, TlsProblem> {
        if !settings.is_on() {
            return Ok(None);
        }
        let certificate = Certificate::open(settings.files())?;
        certificate.note_end();
        FAILURES.iter().for_each(|reason| count_failures(reason, 0));
        let config = certificate.server_config();
        let mut config =
            config.map_err(|error| TlsProblem { option: CERT_OPTION, text: error.to_string() })?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let all_max = settings.handshakes_max.get();
        Ok(Some(Arc::new(Self {
            certificate,
            acceptor: TlsAcceptor::from(Arc::new(config)),
            time_max: Duration::from_secs(settings.handshake_secs_max.get()),
            handshakes: Mutex::new(Handshakes { all: 0, all_max, by_network: HashMap::new() }),
        })))
    }

    /// The certificate, which is read again when its files change.
    pub fn certificate(&self) -> &Arc<Certificate> {
        &self.certificate
    }

    /// Waits for the handshake of a connection.
    pub async fn accept(&self, connection: Connection, peer: Option<IpAddr>) -> io::Result<Stream> {
        let Some(place) = self.begin(Network::from(peer)) else {
            count_failures(LIMIT, 1);
            return Err(io::Error::other("too many TLS handshakes are in progress"));
        };
        let accepted = tokio::time::timeout(self.time_max, self.handshake(connection)).await;
        drop(place);
        let (reason, error) = match accepted {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => (PROTOCOL, error),
            Err(_) => (TIME, io::ErrorKind::TimedOut.into()),
        };
        count_failures(reason, 1);
        tracing::debug!(%error, "a TLS handshake failed");
        Err(error)
    }

    async fn handshake(&self, mut connection: Connection) -> io::Result<Stream> {
        let mut first = [0];
        if connection.peek(&mut first).await? == 1 && first[0] != HANDSHAKE_BYTE {
            if first[0].is_ascii_uppercase() {
                // What was not read would reset the connection before the client has the answer.
                let _ = connection.read(&mut [0; 4096]).await?;
                connection.write_all(HTTPS_REQUIRED).await?;
                connection.shutdown().await?;
            }
            return Err(io::Error::other("the client does not speak TLS"));
        }
        Ok(Stream::Tls(Box::new(self.acceptor.accept(connection).await?)))
    }

    fn begin(&self, network: Network) -> Option<HandshakePermit<'_>> {
        let mut handshakes = self.handshakes.lock();
        let share_max = (handshakes.all_max / SHARES).max(1);
        let own = handshakes.by_network.get(&network).copied().unwrap_or(0);
        if handshakes.all >= handshakes.all_max || own >= share_max {
            return None;
        }
        handshakes.all += 1;
        handshakes.by_network.insert(network, own + 1);
        Some(HandshakePermit { tls: self, network })
    }
}

impl Drop for HandshakePermit<'_> {
    fn drop(&mut self) {
        let mut handshakes = self.tls.handshakes.lock();
        handshakes.all -= 1;
        match handshakes.by_network.get_mut(&self.network) {
            Some(own) if *own > 1 => *own -= 1,
            Some(_) | None => drop(handshakes.by_network.remove(&self.network)),
        }
    }
}

/// A connection with or without TLS. The limit on writes without progress is below TLS, where the client reads.
pub enum Stream {
    Plain(Connection),
    Tls(Box<TlsStream<Connection>>),
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(connection) => Pin::new(connection).poll_read(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(connection) => Pin::new(connection).poll_write(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(connection) => Pin::new(connection).poll_write_vectored(cx, bufs),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(connection) => connection.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(connection) => Pin::new(connection).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(connection) => Pin::new(connection).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hint_has_its_length() {
        let text = std::str::from_utf8(HTTPS_REQUIRED).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(format!("Content-Length: {}\r\n", body.len()).trim_end()), "{}", body.len());
    }

    #[test]
    fn one_address_cannot_take_all_handshakes() {
        let made = rcgen::generate_simple_self_signed(vec!["chat.example".to_owned()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut settings = crate::config::Config::load(None, [], Default::default()).unwrap().tls;
        assert!(Tls::new(&settings).unwrap().is_none());
        settings.cert_file = folder.path().join("cert.pem");
        settings.key_file = folder.path().join("key.pem");
        settings.handshakes_max = 32.try_into().unwrap();
        std::fs::write(&settings.cert_file, made.cert.pem()).unwrap();
        std::fs::write(&settings.key_file, made.signing_key.serialize_pem()).unwrap();
        let tls = Tls::new(&settings).unwrap().unwrap();
        let network = |last| Network::from(Some(IpAddr::from([192, 0, 2, last])));
        let first: Vec<_> = (0..2).map_while(|_| tls.begin(network(1))).collect();
        assert!(first.len() == 2 && tls.begin(network(1)).is_none());
        let others: Vec<_> =
            (2..=16).flat_map(|last| [last, last]).map_while(|last| tls.begin(network(last))).collect();
        assert!(others.len() == 30 && tls.begin(network(99)).is_none());
        drop((first, others));
        assert!(tls.begin(network(1)).is_some() && tls.handshakes.lock().by_network.is_empty());
    }
}
