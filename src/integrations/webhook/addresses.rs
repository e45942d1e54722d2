//! The addresses of services: a URL entered by a user must not lead into the internal network of this server.

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use url::{Host, Url};

/// A resolver that omits non-public addresses.
pub(super) struct Resolver {
    pub allows_private: bool,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allows_private = self.allows_private;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed = found.filter(|address| allows_private || is_public(address.ip()));
            let allowed: Vec<SocketAddr> = allowed.collect();
            if allowed.is_empty() {
                return Err(
                    "it has only private addresses, which webhooks.private_addresses can allow".into()
                );
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// Why a service with this URL is not called; none if it may be. Host names are resolved later.
pub(super) fn refused_address(url: &str, allows_private: bool) -> Option<&'static str> {
    if url.is_empty() {
        return Some("The bot has no payload URL.");
    }
    let Ok(url) = Url::parse(url) else { return Some("The payload URL is not a URL.") };
    let literal = match url.host()? {
        Host::Ipv4(address) => IpAddr::V4(address),
        Host::Ipv6(address) => IpAddr::V6(address),
        Host::Domain(_) => return None,
    };
    let is_refused = !allows_private && !is_public(literal);
    is_refused.then_some(
        "The payload URL is an address that this server does not connect to, unless webhooks.private_addresses of its configuration allows it.",
    )
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        // This network; carrier-grade NAT; protocol assignments; benchmarks; reserved and broadcast.
        || a == 0
        || (a == 100 && (64..128).contains(&b))
        || (a, b, c) == (192, 0, 0)
        || (a == 198 && (b == 18 || b == 19))
        || a >= 240;
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let [.., high, low] = segments;
    let [a, b] = high.to_be_bytes();
    let [c, d] = low.to_be_bytes();
    let inside = Ipv4Addr::new(a, b, c, d);
    // IPv4-mapped and translated addresses.
    if segments[..5] == [0; 5] || segments[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        return segments[..6] != [0; 6] && is_public_v4(inside);
    }
    // Global unicast, except documentation, tunnels and IPv4 transition.
    let is_global = segments[0] & 0xe000 == 0x2000;
    is_global
        && segments[0] != 0x2002
        && !(segments[0] == 0x2001 && (segments[1] == 0x0db8 || segments[1] == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_refused() {
        for inside in [
            "127.0.0.1",
            "10.1.2.3",
            "192.168.1.1",
            "172.16.0.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "255.255.255.255",
            "224.0.0.1",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "::ffff:127.0.0.1",
            "64:ff9b::10.0.0.1",
            "2002:7f00:1::",
            "::127.0.0.1",
        ] {
            assert!(!is_public(inside.parse().unwrap()), "{inside}");
        }
        for outside in ["93.184.216.34", "1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1"] {
            assert!(is_public(outside.parse().unwrap()), "{outside}");
        }
        for (url, allows_private, is_refused) in [
            ("http://127.0.0.1:80/x", false, true),
            ("http://127.0.0.1:80/x", true, false),
            ("http://[::1]/", false, true),
            ("http://example.com/", false, false),
            ("", true, true),
        ] {
            assert_eq!(refused_address(url, allows_private).is_some(), is_refused, "{url} {allows_private}");
        }
    }

    #[tokio::test]
    async fn names_with_private_addresses_do_not_resolve() {
        let name = || "localhost".parse().unwrap();
        assert!(Resolver { allows_private: false }.resolve(name()).await.is_err());
        assert!(Resolver { allows_private: true }.resolve(name()).await.unwrap().count() > 0);
    }
}
