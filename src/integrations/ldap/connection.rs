//! A connection with the directory. The LDAP library is behind a local pair of sockets, and gets only messages of a permitted
//! size and form: it would buffer whatever a length announces.

use super::ber::{self, Malformed};
use super::failure::{LdapFailure, failure_text};
use crate::config::Ldap;
use crate::integrations::bounded_stream::BoundedStream;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use url::{Host, Url};

/// What the directory may send for one query, in KiB.
const QUERY_KIB_MAX: usize = 256;
const PORT: u16 = 389;
const TLS_PORT: u16 = 636;
/// The request that begins TLS (RFC 4511, section 4.14): message 1, operation 23, and its name.
const STARTTLS: &[u8] = b"\x30\x1d\x02\x01\x01\x77\x18\x80\x161.3.6.1.4.1.1466.20037";
/// The tag of its answer.
const EXTENDED_RESPONSE: u8 = 0x78;

/// A connection, encrypted or not.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Makes TLS connections that trust the system's authorities. Reads files.
pub fn connector() -> Result<TlsConnector, rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(TlsConnector::from(Arc::new(config.with_root_certificates(roots).with_no_client_auth())))
}

/// Whether the configured connection is encrypted.
pub fn is_encrypted(settings: &Ldap) -> bool {
    settings.starttls || settings.url.starts_with("ldaps:")
}

/// Connects to the configured directory, encrypted with the connector if there is one.
pub async fn connect(
    settings: &Ldap,
    connector: Option<TlsConnector>,
) -> Result<Box<dyn Stream>, LdapFailure> {
    let url = Url::parse(&settings.url).map_err(io::Error::other)?;
    let is_tls_at_once = url.scheme() == "ldaps";
    let host = host_of(&url);
    let port = url.port().unwrap_or(if is_tls_at_once { TLS_PORT } else { PORT });
    let stream = TcpStream::connect((host.as_str(), port)).await?;
    let mut stream = BoundedStream::new(stream, "the directory", QUERY_KIB_MAX);
    let Some(connector) = connector else { return Ok(Box::new(stream)) };
    if !is_tls_at_once {
        begin_tls(&mut stream).await?;
    }
    let name = ServerName::try_from(host).map_err(io::Error::other)?;
    Ok(Box::new(connector.connect(name, stream).await?))
}

/// The host without the brackets of IPv6.
fn host_of(url: &Url) -> String {
    match url.host() {
        Some(Host::Ipv6(address)) => address.to_string(),
        Some(Host::Ipv4(address)) => address.to_string(),
        Some(Host::Domain(name)) => name.to_owned(),
        None => "localhost".to_owned(),
    }
}

/// Asks for TLS, and waits until the directory agrees. Nothing that it sends after that is read here.
async fn begin_tls(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> Result<(), LdapFailure> {
    stream.write_all(STARTTLS).await?;
    stream.flush().await?;
    let message =
        ber::read_message(stream).await?.ok_or(io::ErrorKind::UnexpectedEof).map_err(io::Error::from)?;
    match starttls_result(&message).map_err(io::Error::from)? {
        (0, _) => Ok(()),
        (code, text) => Err(LdapFailure::Refused(failure_text("cannot begin STARTTLS", code, &text))),
    }
}

/// The result code of an extended response, and what the directory says about it.
fn starttls_result(message: &[u8]) -> Result<(u32, String), Malformed> {
    let whole = ber::values(message)?;
    let parts = ber::values(whole.first().ok_or(Malformed::NotLdap)?.content)?;
    let response = parts.get(1).filter(|part| part.tag == EXTENDED_RESPONSE).ok_or(Malformed::NotLdap)?;
    let fields = ber::values(response.content)?;
    let [code, _, text, ..] = fields.as_slice() else { return Err(Malformed::NotLdap) };
    let code = code.content.iter().fold(0_u32, |code, byte| (code << 8) | u32::from(*byte));
    Ok((code, String::from_utf8_lossy(text.content).into_owned()))
}

/// Passes on the requests of the LDAP library, and the directory's answers to it, message by message. Ends when the library has
/// closed its side; fails when the connection fails, or an answer may not be passed on.
pub async fn relay(directory: Box<dyn Stream>, library: UnixStream) -> io::Result<()> {
    let (answers, mut requests) = tokio::io::split(directory);
    let (mut from_library, mut to_library) = library.into_split();
    let sending = async {
        let sent = tokio::io::copy(&mut from_library, &mut requests).await;
        if sent.is_err() {
            // What the directory answered before it closed the connection may not be read yet.
            std::future::pending::<()>().await;
        }
        requests.shutdown().await
    };
    let receiving = async {
        let mut answers = BufReader::new(answers);
        while let Some(message) = ber::read_message(&mut answers).await? {
            to_library.write_all(&message).await?;
        }
        to_library.shutdown().await?;
        std::future::pending::<io::Result<Infallible>>().await
    };
    tokio::select! {
        sent = sending => sent,
        Err(error) = receiving => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starttls_answers_are_decoded() {
        let accepted = b"\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x00\x04\x00\x04\x00";
        assert_eq!(starttls_result(accepted), Ok((0, String::new())));
        let refused = b"\x30\x0e\x02\x01\x01\x78\x09\x0a\x01\x02\x04\x00\x04\x02no";
        assert_eq!(starttls_result(refused), Ok((2, "no".to_owned())));
        let other = b"\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x00\x04\x00\x04\x00";
        assert_eq!(starttls_result(other), Err(Malformed::NotLdap));
    }

    #[test]
    fn hosts_have_no_brackets() {
        for (url, host) in [
            ("ldap://[::1]:99", "::1"),
            ("ldaps://10.0.0.1", "10.0.0.1"),
            ("ldap://dir.example", "dir.example"),
        ] {
            assert_eq!(host_of(&Url::parse(url).unwrap()), host);
        }
    }
}
