//! `millstream health`: whether the server answers, for health checks of containers.

use super::data::DataArgs;
use super::error::CliError;
use crate::admin::Answer;
use crate::config::TlsSettings;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// How long the server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;

/// Check whether the server answers and accepts changes
///
/// Asks the configured address for `/health`. The exit code is 0 if the server accepts changes, otherwise 1.
#[derive(Debug, clap::Args)]
pub struct HealthArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Address and port of the server, instead of the configured ones
    #[arg(long, value_name = "ADDRESS:PORT")]
    address: Option<SocketAddr>,
}

/// Asks, and prints the answer.
pub fn run(args: &HealthArgs) -> Result<(), CliError> {
    let config = args.data.load()?;
    let address = args.address.unwrap_or_else(|| reachable(config.listen));
    let refused = |reason: std::io::Error| {
        CliError::Refused(format!("the server on {address} does not answer: {reason}"))
    };
    let (status, body) = fetch(address, &config.tls).map_err(refused)?;
    let storage = body["storage"]["status"].as_str().unwrap_or("unknown").to_owned();
    if status != 200 {
        let code = body["code"].as_str().unwrap_or("unknown").to_owned();
        return Err(CliError::Refused(format!(
            "the server on {address} answers {status} {code}, storage: {storage}"
        )));
    }
    args.data.print(&Answer::of(format!("The server on {address} is healthy; storage: {storage}."), body));
    Ok(())
}

fn ask(mut stream: impl Read + Write) -> std::io::Result<Vec<u8>> {
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut bytes = Vec::new();
    match stream.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes) {
        // The server closes the connection after its answer, not always with a word of TLS.
        Err(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => Err(error),
        Ok(_) | Err(_) => Ok(bytes),
    }
}

/// A TLS connection to the server whose certificate is configured here. Its names and its end do not matter.
fn encrypted(
    stream: TcpStream,
    tls: &TlsSettings,
) -> std::io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let own = tls.files().certificates().map_err(std::io::Error::other)?;
    let verifier = Arc::new(OwnCertificate { own, provider: provider.clone() });
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(std::io::Error::other)?.dangerous();
    let config = config.with_custom_certificate_verifier(verifier).with_no_client_auth();
    let name = ServerName::try_from("localhost").map_err(std::io::Error::other)?;
    let client = ClientConnection::new(Arc::new(config), name).map_err(std::io::Error::other)?;
    Ok(StreamOwned::new(client, stream))
}

/// Accepts only the certificate of the configuration.
#[derive(Debug)]
struct OwnCertificate {
    own: Vec<CertificateDer<'static>>,
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
        match self.own.first() == Some(end_entity) {
            true => Ok(ServerCertVerified::assertion()),
            false => {
                Err(rustls::Error::General("the server has another certificate than tls.cert_file".into()))
            }
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

/// The address to connect to: a server that listens on all addresses is asked on the local one.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

fn fetch(address: SocketAddr, tls: &TlsSettings) -> std::io::Result<(u16, Value)> {
    let stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let bytes = match tls.is_on() {
        true => ask(encrypted(stream, tls)?)?,
        false => ask(stream)?,
    };
    let text = String::from_utf8_lossy(&bytes);
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| std::io::Error::other("the answer is not HTTP"))?;
    let body = text.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    Ok((status, serde_json::from_str(body).unwrap_or_default()))
}
