//! The IP address of a request's client, also behind trusted proxies.
//!
//! A proxy appends the address that it was called from to `X-Forwarded-For` or `Forwarded`, so both are read from the
//! right, as long as the appending proxy is trusted (`http.trusted_proxies`). Entries written by the client itself
//! are further left and are never trusted.

use crate::config::ProxyNetwork;
use actix_web::http::header::{HeaderMap, HeaderName};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED: HeaderName = HeaderName::from_static("forwarded");

/// Maximum number of proxies of one request; entries further left are ignored.
const HOPS_MAX: usize = 64;

/// The key of rate limits by IP address: an IPv4 address, or the /64 network of an IPv6 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Network {
    Unknown,
    V4(Ipv4Addr),
    /// The first 64 bits of an IPv6 address.
    V6(u64),
}

impl From<Option<IpAddr>> for Network {
    fn from(address: Option<IpAddr>) -> Self {
        match address.map(|address| address.to_canonical()) {
            None => Self::Unknown,
            Some(IpAddr::V4(address)) => Self::V4(address),
            Some(IpAddr::V6(address)) => Self::V6((address.to_bits() >> 64) as u64),
        }
    }
}

impl Network {
    /// For IPv6 the first 48 bits, which one client may have as a whole; otherwise the network itself.
    pub fn site(self) -> Self {
        match self {
            Self::V6(prefix) => Self::V6(prefix >> 16 << 16),
            Self::V4(_) | Self::Unknown => self,
        }
    }
}

/// The IP address of a request's client. `peer` is the other end of the connection: the client itself, unless it is a
/// trusted proxy.
///
/// If both headers are present and disagree, one of them was written by the client, so both are ignored and the
/// address of the proxy is used.
pub fn client_address(trusted: &[ProxyNetwork], peer: IpAddr, headers: &HeaderMap) -> IpAddr {
    let peer = peer.to_canonical();
    if !is_trusted(trusted, peer) {
        return peer;
    }
    let by_list = headers.contains_key(&X_FORWARDED_FOR).then(|| {
        let lines = lines_from_right(headers, &X_FORWARDED_FOR);
        walk(trusted, peer, lines.flat_map(|line| split_list(line.unwrap_or("?"))))
    });
    let by_elements = headers.contains_key(&FORWARDED).then(|| {
        let lines = lines_from_right(headers, &FORWARDED);
        // A malformed line is an unknown hop, which hides the hops further left.
        walk(trusted, peer, lines.flat_map(|line| line.and_then(parse_forwarded).unwrap_or(vec![None])))
    });
    match (by_list, by_elements) {
        (None, None) => peer,
        (Some(address), None) | (None, Some(address)) => address,
        (Some(one), Some(other)) if one == other => one,
        (Some(_), Some(_)) => peer,
    }
}

/// Whether an address is that of a trusted proxy.
pub fn is_trusted(trusted: &[ProxyNetwork], address: IpAddr) -> bool {
    trusted.iter().any(|network| network.contains(address.to_canonical()))
}

/// The lines of a header, last one first; `None` for a line that is not text.
fn lines_from_right<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
) -> impl Iterator<Item = Option<&'h str>> + use<'h> {
    let lines: Vec<_> = headers.get_all(name).map(|line| line.to_str().ok()).collect();
    lines.into_iter().rev()
}

/// Follows the hops, nearest first, to the first one that is not trusted. A hop without an address ends the search at
/// the proxy before it.
fn walk(trusted: &[ProxyNetwork], peer: IpAddr, hops: impl Iterator<Item = Option<IpAddr>>) -> IpAddr {
    let mut nearest = peer;
    for hop in hops.take(HOPS_MAX) {
        match hop {
            None => return nearest,
            Some(address) if !is_trusted(trusted, address) => return address,
            Some(address) => nearest = address,
        }
    }
    nearest
}

/// The hops of one `X-Forwarded-For` line, nearest first. Split at every comma, so that a quote left open by the
/// client cannot hide what a proxy appended.
fn split_list(line: &str) -> Vec<Option<IpAddr>> {
    let hops = line.rsplit(',').map(str::trim).filter(|hop| !hop.is_empty()).take(HOPS_MAX);
    hops.map(|hop| {
        let quoted = hop.strip_prefix('"').and_then(|inner| inner.strip_suffix('"'));
        parse_node(quoted.unwrap_or(hop))
    })
    .collect()
}

/// An IP address as proxies write it: with or without a port, IPv6 with or without brackets. `None` for `unknown`,
/// obfuscated names and anything else.
fn parse_node(node: &str) -> Option<IpAddr> {
    let address = if let Some(inner) = node.strip_prefix('[') {
        let (address, rest) = inner.split_once(']')?;
        let is_whole = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
        IpAddr::V6(address.parse::<Ipv6Addr>().ok().filter(|_| is_whole)?)
    } else if let Ok(address) = node.parse::<IpAddr>() {
        address
    } else {
        let (address, _) = node.rsplit_once(':').filter(|(_, port)| is_port(port))?;
        IpAddr::V4(address.parse::<Ipv4Addr>().ok()?)
    };
    Some(address.to_canonical())
}

/// A number, or an obfuscated port such as `_x1`.
fn is_port(text: &str) -> bool {
    let is_word_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    match text.strip_prefix('_') {
        Some(name) => !name.is_empty() && name.bytes().all(is_word_byte),
        None => (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

/// The hops of one `Forwarded` line (RFC 7239), nearest first; `None` if it is malformed. Strict about quotes: one
/// that a client leaves open must not hide what a proxy appended.
fn parse_forwarded(line: &str) -> Option<Vec<Option<IpAddr>>> {
    let mut hops = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        if let Some(tail) = rest.strip_prefix(',') {
            rest = tail.trim_start();
            continue;
        }
        let (hop, tail) = parse_element(rest)?;
        hops.push(hop);
        rest = tail;
    }
    hops.reverse();
    Some(hops)
}

/// One element up to its comma: the address in `for`, and the rest of the line from the comma on.
fn parse_element(mut rest: &str) -> Option<(Option<IpAddr>, &str)> {
    let mut seen = None;
    loop {
        let (name, tail) = rest.split_once('=')?;
        if name.is_empty() || !name.bytes().all(is_token_byte) {
            return None;
        }
        let (value, tail) = parse_value(tail)?;
        if name.eq_ignore_ascii_case("for") && seen.replace(parse_node(&value)).is_some() {
            return None;
        }
        rest = tail.trim_start();
        match rest.as_bytes().first() {
            Some(b';') => rest = rest[1..].trim_start(),
            Some(b',') | None => return Some((seen.flatten(), rest)),
            Some(_) => return None,
        }
    }
}

/// A quoted or unquoted value, and the rest of the line. Colons and brackets are accepted without quotes, because
/// many proxies omit them.
fn parse_value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let is_value_byte = |byte: u8| is_token_byte(byte) || matches!(byte, b':' | b'[' | b']');
        let end = text.bytes().position(|byte| !is_value_byte(byte)).unwrap_or(text.len());
        return (end > 0).then(|| (text[..end].to_owned(), &text[end..]));
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((value, &quoted[at + 1..])),
            '\\' => value.push(chars.next()?.1),
            char => value.push(char),
        }
    }
    None
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests;
