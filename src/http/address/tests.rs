//! What is believed of forwarded addresses, and what is not.

use super::*;
use actix_web::http::header::HeaderValue;
use proptest::prelude::*;

const PROXY: &str = "10.0.0.1";

fn trusted() -> Vec<ProxyNetwork> {
    let networks = ["10.0.0.0/8", "2001:db8:ffff::/48", "192.0.2.7"];
    networks.map(|text| ProxyNetwork::try_from(text.to_owned()).unwrap()).into()
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn headers(lines: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, line) in lines {
        headers.append(name.parse().unwrap(), HeaderValue::from_str(line).unwrap());
    }
    headers
}

/// The address behind a trusted proxy.
fn behind(lines: &[(&str, &str)]) -> IpAddr {
    client_address(&trusted(), ip(PROXY), &headers(lines))
}

#[test]
fn forwarding_headers_of_untrusted_peers_are_ignored() {
    let said = headers(&[("X-Forwarded-For", "203.0.113.9"), ("Forwarded", "for=203.0.113.9")]);
    for peer in ["198.51.100.4", "2001:db8:1::1", "192.0.2.8"] {
        assert_eq!(client_address(&trusted(), ip(peer), &said), ip(peer));
        assert_eq!(client_address(&[], ip(peer), &said), ip(peer));
    }
    for peer in [PROXY, "::ffff:10.9.9.9", "2001:db8:ffff::1", "192.0.2.7"] {
        assert_eq!(client_address(&trusted(), ip(peer), &said), ip("203.0.113.9"), "{peer}");
    }
    assert_eq!(client_address(&trusted(), ip("::ffff:198.51.100.4"), &said), ip("198.51.100.4"));
}

#[test]
fn lists_are_read_from_the_right() {
    let cases: &[(&[&str], &str)] = &[
        (&["203.0.113.9"], "203.0.113.9"),
        (&["1.1.1.1, 203.0.113.9"], "203.0.113.9"),
        (&["1.1.1.1, 203.0.113.9, 10.1.1.1, 192.0.2.7"], "203.0.113.9"),
        (&["1.1.1.1", "203.0.113.9"], "203.0.113.9"),
        (&["203.0.113.9", "10.1.1.1", "10.2.2.2"], "203.0.113.9"),
        (&["203.0.113.9:4711"], "203.0.113.9"),
        (&["2001:db8::9"], "2001:db8::9"),
        (&["[2001:db8::9]"], "2001:db8::9"),
        (&["[2001:db8::9]:4711"], "2001:db8::9"),
        (&["\"[2001:db8::9]:4711\""], "2001:db8::9"),
        (&["::ffff:203.0.113.9"], "203.0.113.9"),
        (&["1.1.1.1 ,\t203.0.113.9 , "], "203.0.113.9"),
        // All hops are trusted: the first one.
        (&["10.3.3.3, 10.2.2.2"], "10.3.3.3"),
        // An obfuscated hop ends the search.
        (&["203.0.113.9, unknown"], PROXY),
        (&["203.0.113.9, unknown, 10.2.2.2"], "10.2.2.2"),
        (&["203.0.113.9, _hidden, 10.2.2.2"], "10.2.2.2"),
        (&["203.0.113.9, 999.1.1.1"], PROXY),
        (&["203.0.113.9, 10.2.2.2:123456"], PROXY),
        (&["203.0.113.9, fe80::1%eth0"], PROXY),
        (&["", ""], PROXY),
    ];
    for (lines, address) in cases {
        let lines: Vec<_> = lines.iter().map(|line| ("X-Forwarded-For", *line)).collect();
        assert_eq!(behind(&lines), ip(address), "{lines:?}");
    }
}

#[test]
fn elements_are_read_from_the_right() {
    let cases: &[(&[&str], &str)] = &[
        (&["for=203.0.113.9"], "203.0.113.9"),
        (&["For=\"203.0.113.9:4711\";proto=https;by=10.0.0.1"], "203.0.113.9"),
        (&["proto=http; for=203.0.113.9 ; by=_secret"], "203.0.113.9"),
        (&["for=1.1.1.1, for=203.0.113.9"], "203.0.113.9"),
        (&["for=1.1.1.1,for=203.0.113.9,for=10.2.2.2"], "203.0.113.9"),
        (&["for=1.1.1.1", "for=203.0.113.9", "for=10.2.2.2"], "203.0.113.9"),
        (&["for=\"[2001:db8::9]:_x1\""], "2001:db8::9"),
        (&["for=[2001:db8::9]:80"], "2001:db8::9"),
        (&["for=\"\\203.0.113.9\""], "203.0.113.9"),
        (&["for=1.1.1.1;host=\"a,b;c=\\\"\", for=203.0.113.9"], "203.0.113.9"),
        (&["for=203.0.113.9, for=unknown"], PROXY),
        (&["for=203.0.113.9, for=_hidden, for=10.2.2.2"], "10.2.2.2"),
        // An element without `for`.
        (&["for=203.0.113.9, proto=https"], PROXY),
        // Malformed, also by quotes that a client left open for what is appended.
        (&["for=203.0.113.9, nonsense"], PROXY),
        (&["for=1.1.1.1;for=203.0.113.9"], PROXY),
        (&["for=\"1.1.1.1, for=203.0.113.9"], PROXY),
        (&["for=1.1.1.1;by=\", for=\"[2001:db8::9]\""], PROXY),
        (&["for=1.1.1.1;by=\"", "for=203.0.113.9"], "203.0.113.9"),
        (&[""], PROXY),
    ];
    for (lines, address) in cases {
        let lines: Vec<_> = lines.iter().map(|line| ("Forwarded", *line)).collect();
        assert_eq!(behind(&lines), ip(address), "{lines:?}");
    }
}

#[test]
fn disagreeing_headers_are_ignored() {
    let (list, element) = (("X-Forwarded-For", "203.0.113.9"), ("Forwarded", "for=203.0.113.9"));
    assert_eq!(behind(&[list, element]), ip("203.0.113.9"));
    // The proxy writes one of them, and the client sent the other.
    assert_eq!(behind(&[list, ("Forwarded", "for=1.1.1.1")]), ip(PROXY));
    assert_eq!(behind(&[("X-Forwarded-For", "1.1.1.1"), element]), ip(PROXY));
}

#[test]
fn networks_are_addresses_with_or_without_a_length() {
    let parse = |text: &str| ProxyNetwork::try_from(text.to_owned());
    for text in ["10.0.0.1", "10.0.0.0/8", "::1", "fd00::/8", "::ffff:10.0.0.1"] {
        assert!(parse(text).is_ok(), "{text}");
    }
    for text in ["", "localhost", "10.0.0.0/33", "10.0.0", "10.0.0.1:80", "*"] {
        assert!(parse(text).unwrap_err().contains("neither an IP address nor a network"), "{text}");
    }
}

#[test]
fn ipv6_addresses_count_by_network() {
    let network = |text: &str| Network::from(Some(ip(text)));
    assert_eq!(network("2001:db8::1"), network("2001:db8::ffff:1"));
    assert_ne!(network("2001:db8::1"), network("2001:db8:0:1::1"));
    assert_eq!(network("::ffff:10.0.0.1"), network("10.0.0.1"));
    assert_ne!(network("10.0.0.1"), network("10.0.0.2"));
    assert_ne!(network("10.0.0.1"), Network::from(None));
}

/// An address that is none of the trusted ones.
fn stranger() -> impl Strategy<Value = IpAddr> {
    let any = prop_oneof![any::<[u8; 4]>().prop_map(IpAddr::from), any::<[u16; 8]>().prop_map(IpAddr::from),];
    any.prop_map(|address| address.to_canonical())
        .prop_filter("trusted", |address| !is_trusted(&trusted(), *address))
}

/// An address as some proxy would write it.
fn written(address: IpAddr, port: Option<u16>, is_quoted: bool) -> String {
    let node = match (address, port) {
        (IpAddr::V4(address), None) => address.to_string(),
        (IpAddr::V4(address), Some(port)) => format!("{address}:{port}"),
        (IpAddr::V6(address), None) => format!("[{address}]"),
        (IpAddr::V6(address), Some(port)) => format!("[{address}]:{port}"),
    };
    if is_quoted { format!("\"{node}\"") } else { node }
}

/// What a client may write itself, with what parsers trip over.
const WRITTEN: &str = r#"([ -~]|for=|"|,|;|\\|10\.0\.0\.1){0,40}"#;

proptest! {
    #[test]
    fn what_a_client_writes_changes_nothing(
        own in WRITTEN,
        address in stranger(),
        port in proptest::option::of(any::<u16>()),
        is_quoted in any::<bool>(),
        trusted_hops in 0usize..3,
        has_own_line in any::<bool>(),
    ) {
        let hops = ", 10.0.0.2".repeat(trusted_hops);
        let appended = format!("{}{hops}", written(address, port, is_quoted));
        let lines = match has_own_line {
            true => vec![own.clone(), appended],
            false => vec![format!("{own}, {appended}")],
        };
        let lines: Vec<_> = lines.iter().map(|line| ("X-Forwarded-For", line.as_str())).collect();
        prop_assert_eq!(behind(&lines), address);
    }

    #[test]
    fn an_element_that_a_proxy_appends_is_all_that_counts(
        own in WRITTEN,
        address in stranger(),
        port in proptest::option::of(any::<u16>()),
        is_quoted in any::<bool>(),
        has_own_line in any::<bool>(),
    ) {
        let appended = format!("for={};proto=https", written(address, port, is_quoted));
        let found = match has_own_line {
            true => behind(&[("Forwarded", own.as_str()), ("Forwarded", appended.as_str())]),
            false => behind(&[("Forwarded", &format!("{own}, {appended}"))]),
        };
        // On a line of its own it always counts; after a malformed part of a line it does not.
        prop_assert!(found == address || (!has_own_line && found == ip(PROXY)), "{found}");
    }

    #[test]
    fn nothing_moves_an_untrusted_peer(line in "\\PC{0,80}", peer in stranger()) {
        let mut said = HeaderMap::new();
        for name in [X_FORWARDED_FOR, FORWARDED] {
            if let Ok(value) = HeaderValue::from_str(&line) {
                said.append(name, value);
            }
        }
        prop_assert_eq!(client_address(&trusted(), peer, &said), peer);
        let _ = client_address(&trusted(), ip(PROXY), &said);
    }
}
