//! The address of a server under test, with its TLS configuration. Other machines are refused unless they are allowed
//! explicitly: a load test of a machine that is not one's own is an attack.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};

use crate::error::LoadError;

/// Which servers may be tested, and which certificates are trusted.
#[derive(Debug, Clone, Default)]
pub struct TargetPolicy {
    /// Whether addresses that are not loopback are allowed.
    pub allow_remote: bool,
    /// The TLS configuration, if there is an https server or a file of authorities.
    tls: Option<Arc<ClientConfig>>,
}

impl TargetPolicy {
    /// For servers at these URLs. `ca` is a PEM file of certificate authorities that replaces the system's.
    pub fn new<'a>(
        mut urls: impl Iterator<Item = &'a str>,
        allow_remote: bool,
        ca: Option<&Path>,
    ) -> Result<Self, LoadError> {
        // A file of authorities is read in any case, so that a mistake in its name is never silent.
        let is_secure = urls.any(|url| url.starts_with("https://")) || ca.is_some();
        let tls = if is_secure { Some(Arc::new(client_config(ca)?)) } else { None };
        Ok(Self { allow_remote, tls })
    }
}

fn client_config(ca: Option<&Path>) -> Result<ClientConfig, LoadError> {
    let mut roots = RootCertStore::empty();
    match ca {
        Some(path) => {
            let failed = |reason: String| LoadError::Usage(format!("{}: {reason}", path.display()));
            let certificates =
                CertificateDer::pem_file_iter(path).map_err(|error| failed(error.to_string()))?;
            for certificate in certificates {
                let certificate = certificate.map_err(|error| failed(error.to_string()))?;
                roots.add(certificate).map_err(|error| failed(error.to_string()))?;
            }
            if roots.is_empty() {
                return Err(failed("no certificate in PEM format".to_owned()));
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let versions = versions.map_err(|error| LoadError::Usage(format!("TLS: {error}")))?;
    Ok(versions.with_root_certificates(roots).with_no_client_auth())
}

/// The client's side of TLS with one server.
#[derive(Debug, Clone)]
pub struct Tls {
    pub config: Arc<ClientConfig>,
    pub name: ServerName<'static>,
}

/// Addresses of a host name that are tried.
const ADDRESSES_MAX: usize = 8;

/// The target of requests: addresses, value of the `Host` header, and TLS for https.
#[derive(Debug, Clone)]
pub struct Target {
    /// Those of the host name, in the order of the system, all with the same port.
    addresses: Arc<[SocketAddr]>,
    /// The first one that accepted a connection, which all further ones use.
    answering: Arc<OnceLock<SocketAddr>>,
    pub host: String,
    pub tls: Option<Tls>,
}

impl Target {
    /// Parses `http://HOST[:PORT]` on the loopback interface.
    pub fn local(url: &str) -> Result<Self, LoadError> {
        Self::parse(url, &TargetPolicy::default())
    }

    /// Parses `http[s]://HOST[:PORT]`.
    pub fn parse(url: &str, policy: &TargetPolicy) -> Result<Self, LoadError> {
        let usage = |reason: &str| LoadError::Usage(format!("{url}: {reason}"));
        let (rest, is_secure) = match (url.strip_prefix("http://"), url.strip_prefix("https://")) {
            (Some(rest), _) => (rest, false),
            (None, Some(rest)) => (rest, true),
            (None, None) => {
                return Err(usage(
                    "the address must start with http:// or https://, as http://127.0.0.1:9991",
                ));
            }
        };
        let host = rest.trim_end_matches('/');
        if host.is_empty() || host.contains(['/', '@', '?', '#']) {
            return Err(usage(&only_origin(url, host)));
        }
        let given = host.rsplit_once(':').map(|(_, port)| port).filter(|_| !host.ends_with(']'));
        let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
        if given.is_some_and(|port| !is_port(port)) {
            return Err(usage("the port must be a number from 1 to 65535"));
        }
        let has_port = given.is_some();
        let port = if is_secure { 443 } else { 80 };
        let with_port = if has_port { host.to_owned() } else { format!("{host}:{port}") };
        let name = with_port.rsplit_once(':').map_or("", |(name, _)| name).trim_matches(['[', ']']);
        let is_local = name == "localhost"
            || name.ends_with(".localhost")
            || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        if !is_local && !policy.allow_remote {
            return Err(usage(
                "is not on this machine: loadtest sends only to loopback addresses (127.0.0.0/8, ::1, localhost) \
                 without --allow-remote",
            ));
        }
        let addresses: Arc<[SocketAddr]> = with_port
            .to_socket_addrs()
            .map_err(|error| usage(&error.to_string()))?
            .filter(|address| policy.allow_remote || address.ip().is_loopback())
            .take(ADDRESSES_MAX)
            .collect();
        if addresses.is_empty() {
            return Err(usage("not a loopback address"));
        }
        let tls = match (is_secure, &policy.tls) {
            (false, _) => None,
            (true, None) => {
                return Err(usage(&format!(
                    "`loadtest start` is for http: use `loadtest run start --url {url} --ca FILE`"
                )));
            }
            (true, Some(config)) => {
                let name = ServerName::try_from(name.to_owned()).map_err(|_| usage("not a host name"))?;
                Some(Tls { config: config.clone(), name })
            }
        };
        Ok(Self { addresses, answering: Arc::default(), host: host.to_owned(), tls })
    }

    /// The addresses to connect to, in turn: the one that has answered, or all.
    pub fn addresses(&self) -> &[SocketAddr] {
        self.answering.get().map_or(&self.addresses, std::slice::from_ref)
    }

    /// Keeps the address that accepted a connection.
    pub fn keep(&self, address: SocketAddr) {
        // The first one stays.
        let _ = self.answering.set(address);
    }

    /// The port of all addresses.
    pub fn port(&self) -> u16 {
        self.addresses.first().map_or(0, SocketAddr::port)
    }

    /// This server, asked for another organization by its host name.
    pub fn with_host(&self, host: &str) -> Self {
        Self { host: host.to_owned(), ..self.clone() }
    }
}

/// What to give instead of an address with more than host and port.
fn only_origin(url: &str, rest: &str) -> String {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    match (host, url.split_once("://")) {
        ("", _) | (_, None) => "give host and port, as http://127.0.0.1:9991".to_owned(),
        (host, Some((scheme, _))) => {
            format!("give host and port only, without a path or a user name: {scheme}://{host}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_are_accepted_by_default() {
        assert_eq!(Target::local("http://127.0.0.1:9991/").unwrap().host, "127.0.0.1:9991");
        assert_eq!(Target::local("http://localhost").unwrap().port(), 80);
        assert!(Target::local("http://[::1]:9991").unwrap().addresses()[0].ip().is_loopback());
        for url in [
            "ftp://127.0.0.1",
            "http://chat.example.org",
            "https://10.0.0.1",
            "http://10.0.0.1:80",
            "http://127.0.0.1@10.0.0.1",
        ] {
            let error = Target::local(url).unwrap_err();
            assert!(error.to_string().contains(url), "{error}");
        }
        for (url, only) in [
            ("http://127.0.0.1:9991/api/v1", "user name: http://127.0.0.1:9991"),
            ("http://a:b@localhost/x?y", "user name: http://localhost"),
            ("http:///x", "as http://127.0.0.1:9991"),
        ] {
            let error = Target::local(url).unwrap_err().to_string();
            assert!(error.ends_with(only), "{error}");
        }
        for port in ["99999", "0", "-1", "x", ""] {
            for host in ["127.0.0.1", "localhost", "[::1]", "chat.example.org"] {
                let error = Target::local(&format!("http://{host}:{port}")).unwrap_err().to_string();
                assert_eq!(error, format!("http://{host}:{port}: the port must be a number from 1 to 65535"));
            }
        }
        assert_eq!(Target::local("http://[::1]").unwrap().port(), 80);
        assert!(Target::local("http://10.0.0.1").unwrap_err().to_string().contains("--allow-remote"));
        let error = Target::local("https://localhost:9991").unwrap_err().to_string();
        assert!(
            error.ends_with("use `loadtest run start --url https://localhost:9991 --ca FILE`"),
            "{error}"
        );
    }

    #[test]
    fn other_machines_are_accepted_on_request() {
        let policy = TargetPolicy::new(["https://10.0.0.1"].into_iter(), true, None).unwrap();
        let target = Target::parse("https://10.0.0.1", &policy).unwrap();
        assert_eq!(target.addresses(), ["10.0.0.1:443".parse::<SocketAddr>().unwrap()]);
        assert!(target.tls.is_some());
        assert!(Target::parse("http://10.0.0.1", &policy).unwrap().tls.is_none());
        assert_eq!(target.with_host("a.example.org").host, "a.example.org");
    }

    #[tokio::test]
    async fn addresses_are_tried_until_one_answers() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let answering = listener.local_addr().unwrap();
        // Nothing listens there, as on ::1 where the server listens on 127.0.0.1 only.
        let closed = SocketAddr::new("127.0.0.2".parse().unwrap(), answering.port());
        let target = Target::local(&format!("http://{answering}")).unwrap();
        let target = Target { addresses: [closed, answering].into(), ..target };
        crate::http::Connection::open(&target).await.unwrap();
        assert_eq!(target.with_host("a.localhost").addresses(), [answering], "the one that answered");
        let target = Target { addresses: [closed].into(), answering: Arc::default(), ..target };
        assert!(crate::http::Connection::open(&target).await.is_err());
    }

    #[test]
    fn file_without_certificates_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        std::fs::write(&path, "none\n").unwrap();
        let urls = || ["https://127.0.0.1"].into_iter();
        assert!(TargetPolicy::new(urls(), false, Some(&path)).unwrap_err().to_string().contains("ca.pem"));
        let absent = folder.path().join("absent");
        assert!(TargetPolicy::new(urls(), false, Some(&absent)).is_err());
        let error = TargetPolicy::new(["http://127.0.0.1"].into_iter(), false, Some(&absent)).unwrap_err();
        assert!(error.to_string().contains("absent"), "an unused file must exist, too: {error}");
    }
}
