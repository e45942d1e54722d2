//! `millstream health`: whether the server answers, for health checks of containers.

use super::data::DataArgs;
use super::error::CliError;
use super::offline::no_answer;
use crate::admin::{Answer, ServerAddress, ask_address, reachable};
use crate::config::{Config, TlsSettings};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};
use serde_json::Value;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::SocketAddr as SocketPath;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long the server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;
/// Characters that are shown of an answer of another program.
const SHOWN_CHARS_MAX: usize = 100;

/// Check whether the server answers and accepts changes
///
/// Requests `/health` from the server that runs on the data folder or, if there is none and --data is not given, from the
/// configured address. The exit code is 0 if the server accepts changes, otherwise 1.
#[derive(Debug, clap::Args)]
pub struct HealthArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Address and port of the server, instead of those found in the data folder or the configuration
    #[arg(long, value_name = "ADDRESS:PORT")]
    address: Option<SocketAddr>,
}

/// Asks, and prints the answer.
pub fn run(args: &HealthArgs) -> Result<(), CliError> {
    let config = args.data.load()?;
    let Target { address, security } = find(args, &config)?;
    let refused = |reason: std::io::Error| {
        CliError::Refused(format!("the server on {address} does not answer: {reason}"))
    };
    let (status, text) = fetch(address, &security).map_err(refused)?;
    let Ok(body) = serde_json::from_str::<Value>(&text) else {
        return Err(CliError::Refused(foreign(address, status, &text, &security)));
    };
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

/// What is said of an answer that is not JSON, such as that of a port with HTTPS.
fn foreign(address: SocketAddr, status: u16, text: &str, security: &Security) -> String {
    let line: String = text.lines().next().unwrap_or_default().chars().take(SHOWN_CHARS_MAX).collect();
    let hint = match security {
        Security::Plain if line.contains("HTTPS") => "; name the configuration of the server with --config",
        Security::Plain | Security::Tls | Security::OwnCertificate(_) => "",
    };
    format!("the server on {address} answers {status}, and not as Millstream does: {line:?}{hint}")
}

/// Refuses a data folder whose server has no socket, because its path is too long for one.
fn check_socket_path(data: &Path) -> Result<(), CliError> {
    // As it is called until it can be used.
    let path = data.join(format!("{}.new", crate::admin::SOCKET_NAME));
    SocketPath::from_pathname(path).map(drop).map_err(|_| {
        CliError::Refused(format!(
            "the path {} is too long for the socket of a server, so one that runs on it cannot be found; name its address \
             with --address, or use a shorter path to the folder",
            data.display()
        ))
    })
}

/// Where to ask, and how.
struct Target {
    address: SocketAddr,
    security: Security,
}

/// How the connection is made.
enum Security {
    Plain,
    /// TLS, with any certificate: the server itself has said over its control socket that it listens there.
    Tls,
    /// TLS, with the certificate of the configuration.
    OwnCertificate(Box<TlsSettings>),
}

/// The address that was given, that of the server that runs on the data folder, or the configured one.
fn find(args: &HealthArgs, config: &Config) -> Result<Target, CliError> {
    let configured = |address| Target {
        address,
        security: match config.tls.is_on() {
            true => Security::OwnCertificate(Box::new(config.tls.clone())),
            false => Security::Plain,
        },
    };
    if let Some(address) = args.address {
        return Ok(configured(address));
    }
    if args.data.names_folder() {
        check_socket_path(&config.data)?;
    }
    let data = config.data.display();
    match ask_address(&config.data, TIMEOUT) {
        Ok(Some(Ok(ServerAddress { address, is_encrypted }))) => {
            let security = if is_encrypted { Security::Tls } else { Security::Plain };
            Ok(Target { address: reachable(address), security })
        }
        Ok(None) if args.data.names_folder() => {
            let why = format!(
                "no server runs on the data folder {data}; start it, or name another folder with --data"
            );
            Err(CliError::Refused(why))
        }
        Err(reason)
            if args.data.names_folder()
                || matches!(reason.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
        {
            Err(no_answer(&config.data, reason))
        }
        // None runs, it is another version, or this user may not ask it.
        Ok(Some(Err(_)) | None) | Err(_) => Ok(configured(reachable(config.listen))),
    }
}

fn exchange(mut stream: impl Read + Write) -> std::io::Result<Vec<u8>> {
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut bytes = Vec::new();
    match stream.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes) {
        // The server closes the connection after its answer, not always with a word of TLS.
        Err(error) if error.kind() != ErrorKind::UnexpectedEof => Err(error),
        Ok(_) | Err(_) => Ok(bytes),
    }
}

/// A TLS connection to the server, which must have the certificate `own` if there is one. Its names and its end do not
/// matter.
fn encrypted(
    stream: TcpStream,
    own: Option<Vec<CertificateDer<'static>>>,
) -> std::io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = Arc::new(OwnCertificate { own, provider: provider.clone() });
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(std::io::Error::other)?.dangerous();
    let config = config.with_custom_certificate_verifier(verifier).with_no_client_auth();
    let name = ServerName::try_from("localhost").map_err(std::io::Error::other)?;
    let client = ClientConnection::new(Arc::new(config), name).map_err(std::io::Error::other)?;
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

/// Status and body of the answer.
fn fetch(address: SocketAddr, security: &Security) -> std::io::Result<(u16, String)> {
    let stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let bytes = match security {
        Security::Plain => exchange(stream)?,
        Security::Tls => exchange(encrypted(stream, None)?)?,
        Security::OwnCertificate(tls) => {
            let own = tls.files().certificates().map_err(std::io::Error::other)?;
            exchange(encrypted(stream, Some(own))?)?
        }
    };
    let text = String::from_utf8_lossy(&bytes);
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| std::io::Error::other("the answer is not HTTP"))?;
    let body = text.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    Ok((status, body.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_with_https_is_named_as_one() {
        let address = SocketAddr::from(([127, 0, 0, 1], 443));
        let text = "This port speaks HTTPS: use https:// instead of http://.\r\n";
        let said = foreign(address, 400, text, &Security::Plain);
        assert!(said.contains("answers 400") && said.contains("This port speaks HTTPS"), "{said}");
        assert!(said.ends_with("; name the configuration of the server with --config"), "{said}");
        let said = foreign(address, 200, "<html>\nHTTPS", &Security::Plain);
        assert_eq!(said, "the server on 127.0.0.1:443 answers 200, and not as Millstream does: \"<html>\"");
    }

    #[test]
    fn path_that_is_too_long_for_a_socket_is_named() {
        assert!(check_socket_path(Path::new("/srv/chat")).is_ok());
        let long = format!("/srv/{}", "x".repeat(200));
        let said = check_socket_path(Path::new(&long)).unwrap_err().to_string();
        assert!(said.contains("too long for the socket") && said.contains("--address"), "{said}");
    }
}
