//! The names of the server: which organization a `Host` header is for, and the URLs of organizations.
//!
//! The server's own name is the organization without a subdomain; `acme.` before it is the one with the subdomain
//! `acme`.

use crate::config::Config;
use crate::integrations::mail::incoming::address::AddressPattern;
use actors::{RealmHandle, Server};
use model::InvitationId;
use parking_lot::RwLock;
use std::borrow::Cow;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::OnceLock;

/// Names of this machine for local clients.
const LOCAL_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The names of the server.
pub struct Hosts {
    external: Option<url::Url>,
    /// The listening address, for URLs without a public one.
    listening: RwLock<SocketAddr>,
    /// `http` or `https`, for URLs without a public one.
    scheme: &'static str,
    names: Vec<String>,
    /// Whether unknown host names (another address of this machine, a name in a test network) are names of the server.
    is_lenient: bool,
    /// Whether other machines may have organizations that this one does not know.
    is_node: bool,
    /// The addresses of channels and replies, if mail is received.
    mail_addresses: Option<AddressPattern>,
    /// By subdomain the URLs that the creators of organizations of a development server got, which may have a mapped port.
    given: RwLock<HashMap<String, String>>,
    /// The host by which clients of a development server reach it at another port than that of the listening address, such as one that
    /// a container maps: the first one, so that mails do not differ.
    mapped: OnceLock<String>,
}

impl Hosts {
    /// The names of a configuration. A server without a public URL, or for development, cannot know all of its names,
    /// and accepts others.
    pub fn new(config: &Config, is_development: bool) -> Self {
        let mut names: Vec<String> = LOCAL_NAMES.map(str::to_owned).into();
        let external = url::Url::parse(&config.external_url).ok();
        // URLs without a host have no subdomains.
        let external = external.filter(|url| url.has_host()).map(without_final_dot);
        names.extend(external.as_ref().and_then(|url| url.host_str()).map(str::to_lowercase));
        let listening = config.listen.ip();
        if !listening.is_unspecified() {
            names.push(match listening {
                IpAddr::V4(address) => address.to_string(),
                IpAddr::V6(address) => format!("[{address}]"),
            });
        }
        let (is_lenient, is_node) = (is_development || external.is_none(), config.cluster.is_on());
        let mail_addresses = config.mail.incoming.pattern();
        let scheme = if config.tls.is_on() { "https" } else { "http" };
        let (listening, given) = (RwLock::new(config.listen), RwLock::default());
        let mapped = OnceLock::new();
        Self { external, listening, scheme, names, is_lenient, is_node, mail_addresses, given, mapped }
    }

    /// The addresses of channels and replies, if mail is received.
    pub fn mail_addresses(&self) -> Option<&AddressPattern> {
        self.mail_addresses.as_ref()
    }

    /// The server's own name, below which organizations have theirs.
    pub fn name(&self) -> String {
        let external = self.external.as_ref().and_then(|url| url.host_str());
        external.unwrap_or(LOCAL_NAMES[0]).to_owned()
    }

    /// Whether clients reach the server through HTTPS: by its public URL, or because it speaks nothing else.
    pub fn is_https(&self) -> bool {
        self.external.as_ref().map_or(self.scheme, |url| url.scheme()) == "https"
    }

    /// Sets the address that the server listens on, when the system chose the port.
    pub fn listens_on(&self, address: SocketAddr) {
        *self.listening.write() = address;
    }

    /// Notes the `Host` header of a request to a development server. Its port counts if a client on this machine has sent another one
    /// than the server listens on, and there is no public URL.
    pub fn note_host(&self, host: Option<&str>) {
        let Some(host) = host.filter(|_| self.external.is_none() && self.mapped.get().is_none()) else {
            return;
        };
        let name = without_port(host);
        let port = host.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
        let is_mapped = port.is_some_and(|port| port != 0 && port != self.listening.read().port());
        let is_own_name = LOCAL_NAMES.iter().any(|own| name.eq_ignore_ascii_case(own));
        if is_mapped && is_own_name {
            // Another call may be first.
            let _ = self.mapped.set(host.to_lowercase());
        }
    }

    /// The URL of an organization, without a slash at its end.
    ///
    /// Based on the configured public URL; without one on the `Host` header of the request, if there is one, and
    /// otherwise on the one that its creator got, or the listening address.
    pub fn url(&self, realm: &RealmHandle, host: Option<&str>) -> String {
        if self.external.is_none()
            && let Some(host) = host.filter(|host| is_plain(host))
        {
            return [self.scheme, "://", host].concat();
        }
        let directory = realm.directory();
        let subdomain = &directory.realm().subdomain;
        let given = self.given.read().get(subdomain).cloned();
        given.unwrap_or_else(|| self.url_of(subdomain))
    }

    /// The URL of a new organization of a development server, as [`Self::url_for_sender`], which its mails have from now on, too.
    pub fn give_url(&self, subdomain: &str, host: Option<&str>) -> String {
        let url = self.url_for_sender(subdomain, host);
        self.given.write().insert(subdomain.to_owned(), url.clone());
        url
    }

    /// The URL of the organization with a subdomain.
    pub fn url_of(&self, subdomain: &str) -> String {
        let dot = if subdomain.is_empty() { "" } else { "." };
        if let Some(url) = &self.external {
            let name = url.host_str().unwrap_or_default();
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            return format!("{}://{subdomain}{dot}{name}{port}", url.scheme());
        }
        if let Some((host, (_, port))) =
            self.mapped.get().and_then(|host| Some((host, host.rsplit_once(':')?)))
        {
            return match subdomain {
                "" => format!("{}://{host}", self.scheme),
                _ => format!("{}://{subdomain}.localhost:{port}", self.scheme),
            };
        }
        let listening = *self.listening.read();
        match subdomain {
            "" => format!("{}://{listening}", self.scheme),
            _ => format!("{}://{subdomain}.localhost:{}", self.scheme, listening.port()),
        }
    }

    /// The URL of the organization with a subdomain, without a slash at its end, for the sender of a request.
    ///
    /// Based on the configured public URL; without one it has the port of the request's `Host` header, which a container or a
    /// proxy may have mapped to that of the listening address.
    pub fn url_for_sender(&self, subdomain: &str, host: Option<&str>) -> String {
        let host = host.filter(|host| self.external.is_none() && !subdomain.is_empty() && is_plain(host));
        match host.and_then(|host| host.strip_prefix(without_port(host))) {
            Some(port) => {
                let port = port.strip_prefix('.').unwrap_or(port);
                format!("{}://{subdomain}.localhost{port}", self.scheme)
            }
            None => self.url_of(subdomain),
        }
    }

    /// The subdomain of a host name; empty for the server's own name, `None` for unknown names.
    fn subdomain<'h>(&self, host: &'h str) -> Option<&'h str> {
        self.names.iter().find_map(|name| match host.strip_suffix(name.as_str())? {
            "" => Some(""),
            before => before.strip_suffix('.'),
        })
    }

    /// Whether a `Host` header names this machine in a way that an attacker cannot control: a name of ours, an
    /// address of a private network, or the listening address. If the server listens on all interfaces, also any
    /// address and any name without a dot.
    pub fn is_ours(&self, host: &str) -> bool {
        let host = without_port(host).to_lowercase();
        if self.subdomain(&host).is_some() {
            return true;
        }
        let listening = self.listening.read().ip().to_canonical();
        match parse_address(&host) {
            Some(address) => listening.is_unspecified() || address == listening || is_internal(address),
            None => {
                let is_word_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
                !listening.is_loopback() && !host.is_empty() && host.bytes().all(is_word_byte)
            }
        }
    }

    /// Whether an `Origin` header is the configured public URL.
    pub fn is_external_origin(&self, origin: &str) -> bool {
        let external = self.external.as_ref().map(|url| url.origin().ascii_serialization());
        external.is_some_and(|external| external.eq_ignore_ascii_case(origin))
    }

    /// The subdomain that a host name stands for. An unknown name is one of the server's own if it may have such names, unless its
    /// first label is the subdomain of an organization: it is meant for that one, but nothing says that it belongs to this server.
    fn named<'h>(&self, host: &'h str, exists: impl Fn(&str) -> bool) -> Option<&'h str> {
        self.subdomain(host).or_else(|| {
            let first =
                host.split_once('.').filter(|_| parse_address(host).is_none()).map(|(first, _)| first);
            (self.is_lenient && !first.is_some_and(exists)).then_some("")
        })
    }

    /// The subdomain of a `Host` header, in lower case; without one, that of the organization at the root. `exists` knows the
    /// subdomains of organizations.
    pub fn subdomain_of(&self, host: Option<&str>, exists: impl Fn(&str) -> bool) -> Option<String> {
        let host = without_port(host.unwrap_or(LOCAL_NAMES[0])).to_lowercase();
        self.named(&host, exists).map(str::to_owned)
    }

    /// The organization of a `Host` header; without one, the organization at the root. `is_elsewhere` knows the subdomains of
    /// organizations on other machines.
    pub fn realm(
        &self,
        server: &Server,
        host: Option<&str>,
        is_elsewhere: impl Fn(&str) -> bool,
    ) -> Option<RealmHandle> {
        let host = without_port(host.unwrap_or(LOCAL_NAMES[0]));
        // Most clients send it in lower case.
        let host = match host.bytes().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii()) {
            true => Cow::Owned(host.to_lowercase()),
            false => Cow::Borrowed(host),
        };
        let exists =
            |subdomain: &str| server.realm_by_subdomain(subdomain).is_some() || is_elsewhere(subdomain);
        let found = self.named(&host, exists).and_then(|subdomain| server.realm_by_subdomain(subdomain));
        // Without one at the root, the only organization has the unknown names.
        found.or_else(|| match self.is_lenient && !self.is_node && self.subdomain(&host).is_none() {
            true => server.only_realm(),
            false => None,
        })
    }
}

/// Whether an address belongs to this machine or to a private network.
fn is_internal(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback() || address.is_private() || address.is_link_local(),
        IpAddr::V6(address) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
    }
}

/// Whether a `Host` header is only a name and a port, so that it can be part of a URL.
fn is_plain(host: &str) -> bool {
    let is_plain_byte =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']' | b'_');
    !host.is_empty() && host.bytes().all(is_plain_byte)
}

/// The IP address that a host name is, IPv6 in brackets.
fn parse_address(host: &str) -> Option<IpAddr> {
    let literal = host.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(host);
    literal.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

/// Whether a host, with or without a port, is the loopback interface.
pub fn is_loopback(host: &str) -> bool {
    let name = without_port(host).to_ascii_lowercase();
    name == "localhost"
        || name.ends_with(".localhost")
        || parse_address(&name).is_some_and(|address| address.is_loopback())
}

/// The name of a host without its port, and without the dot at the end of a full name.
fn without_port(host: &str) -> &str {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name.strip_suffix('.').unwrap_or(name)
}

/// A URL with its name as clients send it. A full name may end in a dot, which says no more.
fn without_final_dot(mut url: url::Url) -> url::Url {
    let name = url.host_str().and_then(|name| name.strip_suffix('.')).map(str::to_owned);
    // What is left of a name is one; otherwise the URL stays as it is.
    let _ = name.map(|name| url.set_host(Some(&name)));
    url
}

/// The URL for accepting an invitation; `url` is the organization's, without a slash at its end.
pub fn invitation_link(realm: &RealmHandle, url: &str, invitation: InvitationId) -> String {
    format!("{url}/join/{}/", realm.invitation_key(invitation))
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
        // Full names, as they are typed, may have a dot at their end.
        for (host, subdomain) in [
            ("chat.example.org.", Some("")),
            ("Acme.chat.example.org.:8443", Some("acme")),
            ("chat.example.org..", None),
            (".", None),
        ] {
            assert_eq!(hosts.subdomain_of(Some(host), |_| false).as_deref(), subdomain, "{host}");
        }
    }

    #[test]
    fn final_dot_of_the_public_url_is_no_part_of_the_name() {
        let hosts = hosts("https://chat.example.org.:8443", "127.0.0.1:80");
        for (host, subdomain) in
            [("chat.example.org", ""), ("chat.example.org.", ""), ("acme.chat.example.org.:8443", "acme")]
        {
            assert_eq!(hosts.subdomain_of(Some(host), |_| false).as_deref(), Some(subdomain), "{host}");
        }
        assert_eq!(hosts.url_of("acme"), "https://acme.chat.example.org:8443");
        assert_eq!(hosts.name(), "chat.example.org");
    }

    #[test]
    fn url_for_the_sender_of_a_request_has_the_port_of_its_host() {
        let local = hosts("", "127.0.0.1:9991");
        let cases = [
            (Some("127.0.0.1:49153"), "http://acme.localhost:49153"),
            (Some("[::1]:49153"), "http://acme.localhost:49153"),
            (Some("millstream:49153"), "http://acme.localhost:49153"),
            (Some("localhost"), "http://acme.localhost"),
            (Some("localhost.:49153"), "http://acme.localhost:49153"),
            (Some("a b:1"), "http://acme.localhost:9991"),
            (None, "http://acme.localhost:9991"),
        ];
        for (host, url) in cases {
            assert_eq!(local.url_for_sender("acme", host), url, "{host:?}");
        }
        assert_eq!(local.url_for_sender("", Some("localhost:1")), "http://127.0.0.1:9991");
        let public = hosts("http://millstream:9991", "0.0.0.0:9991");
        assert_eq!(public.url_for_sender("acme", Some("127.0.0.1:49153")), "http://acme.millstream:9991");
    }

    #[test]
    fn first_mapped_port_is_that_of_links() {
        let local = hosts("", "127.0.0.1:9991");
        for host in [
            None,
            Some("localhost"),
            Some("127.0.0.1:9991"),
            Some("evil.example:1"),
            Some("localhost:x"),
            Some("a.localhost:70"),
        ] {
            local.note_host(host);
            assert_eq!(local.url_of(""), "http://127.0.0.1:9991", "{host:?}");
        }
        for host in ["127.0.0.1:49153", "localhost:49154"] {
            local.note_host(Some(host));
            assert_eq!(local.url_of(""), "http://127.0.0.1:49153");
            assert_eq!(local.url_of("acme"), "http://acme.localhost:49153");
        }
        let public = hosts("http://millstream:9991", "0.0.0.0:9991");
        public.note_host(Some("127.0.0.1:49153"));
        assert_eq!(public.url_of(""), "http://millstream:9991");
    }

    #[test]
    fn ports_are_ignored() {
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
    fn unknown_names_are_names_of_a_server_without_external_url() {
        let open = hosts("", "0.0.0.0:80");
        let exists = |subdomain: &str| matches!(subdomain, "beta" | "192");
        let cases = [
            ("192.168.1.5:80", Some("")),
            ("0.0.0.0", Some("")),
            ("[2001:db8::1]:80", Some("")),
            ("server", Some("")),
            ("Chat.lan.", Some("")),
            ("other.chat.lan", Some("")),
            ("beta.localhost", Some("beta")),
            ("other.localhost", Some("other")),
            // What follows the subdomain is not known.
            ("beta.chat.lan", None),
            ("BETA.chat.lan:80", None),
        ];
        for (host, subdomain) in cases {
            assert_eq!(open.subdomain_of(Some(host), exists).as_deref(), subdomain, "{host}");
        }
        let public = hosts("https://chat.example.org", "0.0.0.0:80");
        for host in ["192.168.1.5", "server", "example.org"] {
            assert_eq!(public.subdomain_of(Some(host), exists), None, "{host}");
        }
    }
}
