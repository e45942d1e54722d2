//! HTTPS without a proxy: handshakes, with bounds of time and number, in front of the connections of the HTTP library.

use super::address::Network;
use super::connection::Connection;
use crate::certificates::{Certificate, TlsProblem};
use crate::config::{CERT_OPTION, TlsSettings};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::Notify;
use tokio::time::error::Elapsed;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The first byte of a TLS connection.
const HANDSHAKE_BYTE: u8 = 22;
/// One address may have this part of all handshakes, and the /48 of an IPv6 address twice as much.
const SHARES: usize = 16;
/// Why handshakes fail, in the metrics: ended for a new one, a mistake of the client, and too slow.
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

/// Handshakes in progress. Each new one begins; if there are too many then, the oldest of its network, or of all, ends.
struct Handshakes {
    all_max: usize,
    next: u64,
    running: BTreeMap<u64, Running>,
}

/// A handshake in progress.
struct Running {
    network: Network,
    /// Notified when it ends for a new one.
    ended: Arc<Notify>,
}

/// A handshake in progress; it ends when this is dropped.
struct HandshakePermit<'t> {
    tls: &'t Tls,
    number: u64,
    ended: Arc<Notify>,
}

impl Handshakes {
    fn new(all_max: usize) -> Self {
        Self { all_max, next: 0, running: BTreeMap::new() }
    }

    /// Begins a handshake of a network.
    fn begin(&mut self, network: Network) -> (u64, Arc<Notify>) {
        while let Some(running) = self.superfluous(network).and_then(|oldest| self.running.remove(&oldest)) {
            running.ended.notify_one();
        }
        let ended = Arc::new(Notify::new());
        self.next += 1;
        self.running.insert(self.next, Running { network, ended: ended.clone() });
        (self.next, ended)
    }

    /// The handshake that ends for a new one of a network, if there are too many of them.
    fn superfluous(&self, network: Network) -> Option<u64> {
        let share_max = (self.all_max / SHARES).max(1);
        let (mut own, mut site) = (Count::default(), Count::default());
        for (number, running) in &self.running {
            if running.network == network {
                own.add(*number);
            }
            if running.network.site() == network.site() {
                site.add(*number);
            }
        }
        let all = || self.running.keys().next().copied().filter(|_| self.running.len() >= self.all_max);
        own.oldest_of(share_max).or_else(|| site.oldest_of(2 * share_max)).or_else(all)
    }
}

/// Counts handshakes, and remembers the oldest.
#[derive(Default)]
struct Count {
    count: usize,
    oldest: Option<u64>,
}

impl Count {
    fn add(&mut self, number: u64) {
        self.count += 1;
        self.oldest.get_or_insert(number);
    }

    /// The oldest, if there are `count_max` or more.
    fn oldest_of(&self, count_max: usize) -> Option<u64> {
        self.oldest.filter(|_| self.count >= count_max)
    }
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
            handshakes: Mutex::new(Handshakes::new(all_max)),
        })))
    }

    /// The certificate, which is read again when its files change.
    pub fn certificate(&self) -> &Arc<Certificate> {
        &self.certificate
    }

    /// Waits up to `silence_max` for a connection to send something, and then for its handshake.
    pub async fn accept(
        &self,
        connection: Connection,
        peer: Option<IpAddr>,
        silence_max: Duration,
    ) -> io::Result<Stream> {
        let accepted = self.accept_in_time(connection, peer, silence_max).await;
        accepted.map_err(|(reason, error)| {
            count_failures(reason, 1);
            tracing::debug!(%error, "a TLS handshake failed");
            error
        })
    }

    async fn accept_in_time(
        &self,
        connection: Connection,
        peer: Option<IpAddr>,
        silence_max: Duration,
    ) -> Result<Stream, (&'static str, io::Error)> {
        let late = |_: Elapsed| (TIME, io::Error::from(io::ErrorKind::TimedOut));
        let mut first = [0];
        // A silent connection costs no more than an idle one, and does not count.
        let peeked = timeout(silence_max, connection.peek(&mut first)).await.map_err(late)?;
        let has_begun = peeked.map_err(|error| (PROTOCOL, error))? == 1;
        let permit = self.begin(Network::from(peer));
        let handshake = timeout(self.time_max, self.handshake(connection, has_begun.then_some(first[0])));
        tokio::select! {
            accepted = handshake => accepted.map_err(late)?.map_err(|error| (PROTOCOL, error)),
            () = permit.ended.notified() => {
                Err((LIMIT, io::Error::other("too many TLS handshakes are in progress")))
            }
        }
    }

    /// The handshake of a connection whose first byte has come.
    async fn handshake(&self, mut connection: Connection, first: Option<u8>) -> io::Result<Stream> {
        if let Some(first) = first.filter(|first| *first != HANDSHAKE_BYTE) {
            if first.is_ascii_uppercase() {
                // What was not read would reset the connection before the client has the answer.
                let _ = connection.read(&mut [0; 4096]).await?;
                connection.write_all(HTTPS_REQUIRED).await?;
                connection.shutdown().await?;
            }
            return Err(io::Error::other("the client does not speak TLS"));
        }
        Ok(Stream::Tls(Box::new(self.acceptor.accept(connection).await?)))
    }

    fn begin(&self, network: Network) -> HandshakePermit<'_> {
        let (number, ended) = self.handshakes.lock().begin(network);
        HandshakePermit { tls: self, number, ended }
    }
}

impl Drop for HandshakePermit<'_> {
    fn drop(&mut self) {
        self.tls.handshakes.lock().running.remove(&self.number);
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

    fn network(address: &str) -> Network {
        Network::from(Some(address.parse::<IpAddr>().unwrap()))
    }

    /// Which of some handshakes are in progress.
    fn running(handshakes: &Handshakes, begun: &[u64]) -> Vec<usize> {
        (0..begun.len()).filter(|at| handshakes.running.contains_key(&begun[*at])).collect()
    }

    #[test]
    fn new_handshake_ends_the_oldest_of_its_address_or_of_all() {
        let mut handshakes = Handshakes::new(32);
        let own: Vec<_> = (0..3).map(|_| handshakes.begin(network("192.0.2.1")).0).collect();
        // Two are a sixteenth.
        assert_eq!(running(&handshakes, &own), [1, 2]);
        let others = (2..17).flat_map(|last| [last, last]);
        let others: Vec<_> =
            others.map(|last| handshakes.begin(network(&format!("192.0.2.{last}"))).0).collect();
        assert_eq!((running(&handshakes, &own).len(), running(&handshakes, &others).len()), (2, 30));
        handshakes.begin(network("192.0.2.99"));
        assert_eq!((running(&handshakes, &own), running(&handshakes, &others).len()), (vec![2], 30));
    }

    #[test]
    fn networks_of_one_site_share_handshakes() {
        let mut handshakes = Handshakes::new(32);
        let addresses = (0..5).map(|subnet| network(&format!("2001:db8:1:{subnet}::1")));
        let begun: Vec<_> = addresses.map(|address| handshakes.begin(address).0).collect();
        assert_eq!(running(&handshakes, &begun), [1, 2, 3, 4]);
        handshakes.begin(network("2001:db8:2:1::1"));
        assert_eq!(running(&handshakes, &begun), [1, 2, 3, 4]);
    }

    #[actix_web::test]
    async fn ended_handshake_stops_and_leaves_nothing_behind() {
        let tls = tls();
        let first = tls.begin(network("192.0.2.1"));
        let second = tls.begin(network("192.0.2.1"));
        first.ended.notified().await;
        assert_eq!(tls.handshakes.lock().running.len(), 1);
        drop((first, second));
        assert!(tls.handshakes.lock().running.is_empty());
    }

    /// With one handshake for each address.
    fn tls() -> Arc<Tls> {
        let made = rcgen::generate_simple_self_signed(vec!["chat.example".to_owned()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut settings = crate::config::Config::load(None, [], Default::default()).unwrap().tls;
        assert!(Tls::new(&settings).unwrap().is_none());
        settings.cert_file = folder.path().join("cert.pem");
        settings.key_file = folder.path().join("key.pem");
        settings.handshakes_max = 16.try_into().unwrap();
        std::fs::write(&settings.cert_file, made.cert.pem()).unwrap();
        std::fs::write(&settings.key_file, made.signing_key.serialize_pem()).unwrap();
        Tls::new(&settings).unwrap().unwrap()
    }
}
