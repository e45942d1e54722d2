//! Which organization a request is for: from the name it was sent to, in the `Host` header.
//!
//! The bare name of the server is the organization without a subdomain; `acme.` before it is the one with
//! the subdomain `acme`.

use super::app::App;
use super::call::{Call, FromCall};
use super::error::{ApiError, Code};
use crate::config::Config;
use actors::{RealmHandle, Server};
use parking_lot::RwLock;
use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

/// Names of this machine, for those who sit at it.
const LOCAL_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// What the server is called.
pub struct Hosts {
    /// How people reach it, when that was configured.
    external: Option<url::Url>,
    /// The address for everybody else.
    listening: RwLock<SocketAddr>,
    /// In lower case, without ports.
    names: Vec<String>,
    /// Whether a host with a name of its own (another address of this machine, a name in a test network)
    /// is taken for the only organization there is.
    is_lenient: bool,
}

impl Hosts {
    /// The names by configuration. A server that was told no external address, or that is for development,
    /// cannot know all of its names, and is lenient.
    pub fn new(config: &Config, is_development: bool) -> Self {
        let mut names: Vec<String> = LOCAL_NAMES.map(str::to_owned).into();
        let external = url::Url::parse(&config.external_url).ok();
        // Nothing but http has subdomains that lead to organizations.
        let external = external.filter(|url| url.has_host());
        names.extend(external.as_ref().and_then(|url| url.host_str()).map(str::to_lowercase));
        let listening = config.listen.ip();
        if !listening.is_unspecified() {
            names.push(match listening {
                IpAddr::V4(address) => address.to_string(),
                IpAddr::V6(address) => format!("[{address}]"),
            });
        }
        let is_lenient = is_development || external.is_none();
        Self { external, listening: RwLock::new(config.listen), names, is_lenient }
    }

    /// Says where the server really listens, when the system chose the port.
    pub fn listens_on(&self, address: SocketAddr) {
        *self.listening.write() = address;
    }

    /// Where an organization is found, without a slash at the end.
    ///
    /// By the configured external address; without one by the name that the request was sent to, if there
    /// is one, and last by the listening address.
    pub fn url(&self, realm: &RealmHandle, host: Option<&str>) -> String {
        if self.external.is_none()
            && let Some(host) = host.filter(|host| is_plain(host))
        {
            return ["http://", host].concat();
        }
        let subdomain = realm.read(|view| view.directory.realm().subdomain.clone());
        let dot = if subdomain.is_empty() { "" } else { "." };
        if let Some(url) = &self.external {
            let name = url.host_str().unwrap_or_default();
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            return format!("{}://{subdomain}{dot}{name}{port}", url.scheme());
        }
        let listening = *self.listening.read();
        match subdomain.as_str() {
            "" => format!("http://{listening}"),
            _ => format!("http://{subdomain}.localhost:{}", listening.port()),
        }
    }

    /// The subdomain in a host name; empty for the bare name, `None` for a name that is not ours.
    fn subdomain<'h>(&self, host: &'h str) -> Option<&'h str> {
        self.names.iter().find_map(|name| match host.strip_suffix(name.as_str())? {
            "" => Some(""),
            before => before.strip_suffix('.'),
        })
    }

    /// The organization of a `Host` header; without one, the one at the root.
    pub fn realm(&self, server: &Server, host: Option<&str>) -> Option<RealmHandle> {
        let host = lower_case(without_port(host.unwrap_or(LOCAL_NAMES[0])));
        if let Some(subdomain) = self.subdomain(&host) {
            return server.realm_by_subdomain(subdomain);
        }
        if self.is_lenient { server.only_realm() } else { None }
    }
}

/// Whether a `Host` header is only a name and a port, so that it can stand in an address.
fn is_plain(host: &str) -> bool {
    let is_plain_byte =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']' | b'_');
    !host.is_empty() && host.bytes().all(is_plain_byte)
}

/// A name in lower case, which nearly every client sends it in already.
fn lower_case(host: &str) -> Cow<'_, str> {
    if host.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(host);
    }
    Cow::Owned(host.to_lowercase())
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// The organization that a request without login is for, or the caller's. A handler's argument.
///
/// Error: NONEXISTENT_SUBDOMAIN where there is none.
#[derive(Clone)]
pub struct Realm(pub RealmHandle);

impl FromCall for Realm {
    fn from_call(call: &mut Call) -> Result<Self, ApiError> {
        if let Some(caller) = &call.caller {
            return Ok(Self(caller.realm.clone()));
        }
        let found = realm_of(&call.app, call.header(actix_web::http::header::HOST));
        found.map(Self).ok_or_else(|| ApiError::new(Code::NONEXISTENT_SUBDOMAIN, "Invalid subdomain"))
    }
}

/// For answers that tell less where there is no organization.
impl FromCall for Option<Realm> {
    fn from_call(call: &mut Call) -> Result<Self, ApiError> {
        Ok(Realm::from_call(call).ok())
    }
}

/// Where the organization of [`Realm`] is found, without a slash at the end. A handler's argument.
///
/// Error: as for [`Realm`].
#[derive(Clone, Debug)]
pub struct RealmUrl(pub String);

impl FromCall for RealmUrl {
    fn from_call(call: &mut Call) -> Result<Self, ApiError> {
        let Realm(realm) = Realm::from_call(call)?;
        Ok(Self(call.app.hosts.url(&realm, call.header(actix_web::http::header::HOST))))
    }
}

impl FromCall for Option<RealmUrl> {
    fn from_call(call: &mut Call) -> Result<Self, ApiError> {
        Ok(RealmUrl::from_call(call).ok())
    }
}

/// The organization of a `Host` header, if there is one.
pub(super) fn realm_of(app: &App, host: Option<&str>) -> Option<RealmHandle> {
    app.hosts.realm(&app.server, host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Overrides;

    fn hosts(external_url: &str, listen: &str) -> Hosts {
        let flags = Overrides::default().set("external_url", "test", Some(external_url)).set(
            "listen",
            "test",
            Some(listen),
        );
        Hosts::new(&Config::load(None, [], flags).unwrap(), false)
    }

    #[test]
    fn names_and_subdomains() {
        let hosts = hosts("https://Chat.Example.org:8443/", "10.0.0.7:80");
        let cases = [
            ("chat.example.org", Some("")),
            ("acme.chat.example.org", Some("acme")),
            ("a.b.chat.example.org", Some("a.b")),
            ("10.0.0.7", Some("")),
            ("localhost", Some("")),
            ("acme.localhost", Some("acme")),
            ("[::1]", Some("")),
            ("127.0.0.1", Some("")),
            ("evilchat.example.org", None),
            ("example.org", None),
            ("", None),
        ];
        for (host, subdomain) in cases {
            assert_eq!(hosts.subdomain(host), subdomain, "{host}");
        }
        assert!(!hosts.is_lenient);
    }

    #[test]
    fn ports_are_no_part_of_a_name() {
        let cases = [
            ("localhost:9991", "localhost"),
            ("[::1]:9991", "[::1]"),
            ("[::1]", "[::1]"),
            ("localhost", "localhost"),
        ];
        for (host, name) in cases {
            assert_eq!(without_port(host), name);
        }
    }

    #[test]
    fn a_server_that_does_not_know_its_name_is_lenient() {
        assert!(hosts("", "0.0.0.0:80").is_lenient);
    }
}
