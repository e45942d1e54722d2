//! Validation of text options: addresses, host names, filters. The errors are read after the option's name.

use super::log_filter::{LogFilterError, check_log_filter};
use std::net::{SocketAddr, ToSocketAddrs};
use url::Url;

/// The placeholder of the user name in an LDAP filter.
pub const USER_PLACEHOLDER: &str = "{user}";

/// Longest pattern of e-mail addresses, in bytes.
const PATTERN_BYTES_MAX: usize = 200;

/// Parses an address to listen on: an IP address or a host name, and a port.
pub fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let refused = || {
        Err("must be an address and a port, such as 127.0.0.1:9991, [::1]:9991 or localhost:9991".to_owned())
    };
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let Some((host, port)) = text.rsplit_once(':') else { return refused() };
    if host.is_empty() || host.contains(':') || port.parse::<u16>().is_err() {
        return refused();
    }
    let found = text.to_socket_addrs().map_err(|reason| {
        format!("must be an address of this machine; the name before the port is unknown: {reason}")
    })?;
    // If a name has both, clients more often use the IPv4 address.
    let found: Vec<SocketAddr> = found.collect();
    let first = found.iter().find(|address| address.is_ipv4()).or(found.first());
    first.copied().map_or_else(refused, Ok)
}

pub(super) fn check_listen(text: &str) -> Result<(), String> {
    parse_listen(text).map(drop)
}

pub(super) fn check_optional_listen(text: &str) -> Result<(), String> {
    if text.is_empty() { Ok(()) } else { check_listen(text) }
}

/// A token that clients send in a header.
pub(super) fn check_token(text: &str) -> Result<(), String> {
    let is_token = (16..=200).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    match text.is_empty() || is_token {
        true => Ok(()),
        false => Err("must have 16 to 200 printable ASCII characters, without spaces".to_owned()),
    }
}

/// The pattern of e-mail addresses for channels and replies.
pub(super) fn check_address_pattern(text: &str) -> Result<(), String> {
    let is_pattern = text.matches("%s").count() == 1
        && text.split_once('@').is_some_and(|(local, domain)| local.contains("%s") && domain.contains('.'))
        && text.len() <= PATTERN_BYTES_MAX
        && text.replace("%s", "x").parse::<lettre::Address>().is_ok();
    if text.is_empty() || is_pattern {
        return Ok(());
    }
    Err("must be a pattern of addresses such as \"%s@mail.example.com\", with one %s before the @".to_owned())
}

pub(super) fn check_not_empty(text: &str) -> Result<(), String> {
    if text.trim().is_empty() { Err("must not be empty".to_owned()) } else { Ok(()) }
}

/// The base of links: an http or https URL without a path and without a user, who would be in every link.
pub(super) fn check_external_url(text: &str) -> Result<(), String> {
    let has_user = |url: &Url| !url.username().is_empty() || url.password().is_some();
    let is_base = |url: &Url| is_web(url) && url.path() == "/" && url.query().is_none() && !has_user(url);
    check_url(
        text,
        is_base,
        "must be an address such as https://chat.example.com, without a path, user or password",
    )
}

/// The URL of an HTTP service.
pub(super) fn check_service_url(text: &str) -> Result<(), String> {
    let is_service = |url: &Url| is_web(url) && url.query().is_none() && url.fragment().is_none();
    check_url(text, is_service, "must be an address such as https://service.example.com")
}

/// The name of a bucket, if there is one.
pub(super) fn check_bucket(text: &str) -> Result<(), String> {
    match text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
        true => Ok(()),
        false => Err("must be the name of a bucket: letters, digits, `-`, `_` and dots".to_owned()),
    }
}

pub(super) fn check_ldap_url(text: &str) -> Result<(), String> {
    let is_ldap = |url: &Url| matches!(url.scheme(), "ldap" | "ldaps") && url.has_host();
    check_url(text, is_ldap, "must be an address such as ldap://ldap.example.com")
}

fn check_url(text: &str, is_right: impl Fn(&Url) -> bool, problem: &str) -> Result<(), String> {
    if text.is_empty() || Url::parse(text).is_ok_and(|url| is_right(&url)) {
        return Ok(());
    }
    Err(problem.to_owned())
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.has_host()
}

pub(super) fn check_ldap_filter(text: &str) -> Result<(), String> {
    if text.contains(USER_PLACEHOLDER) && ldap3::parse_filter(text.replace(USER_PLACEHOLDER, "x")).is_ok() {
        return Ok(());
    }
    Err("must be a filter with {user} in it, such as (uid={user})".to_owned())
}

/// A host name or an IP address, without a port.
pub(super) fn check_host_name(text: &str) -> Result<(), String> {
    if text.is_empty() || rustls::pki_types::ServerName::try_from(text).is_ok() {
        return Ok(());
    }
    Err("must be a host name such as mail.example.com, without a port".to_owned())
}

/// A From address.
pub(super) fn check_mailbox(text: &str) -> Result<(), String> {
    if text.is_empty() || text.parse::<lettre::message::Mailbox>().is_ok() {
        return Ok(());
    }
    Err("must be an address such as \"Acme <chat@acme.example>\"".to_owned())
}

pub(super) fn check_filter(text: &str) -> Result<(), String> {
    // Problems contain no values.
    let why = match check_log_filter(text) {
        Ok(_) => return Ok(()),
        Err(LogFilterError::Empty) => "it is empty; \"off\" logs nothing".to_owned(),
        Err(LogFilterError::Entry { position, .. }) => format!(
            "entry {position} is neither a level (off, error, warn, info, debug or trace) nor `target=level`"
        ),
    };
    Err(format!("must be a list of directives such as \"info,access=off\"; {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listen_takes_addresses_and_names() {
        for (text, expected) in [
            ("127.0.0.1:9991", "127.0.0.1:9991"),
            ("[::1]:0", "[::1]:0"),
            ("localhost:9991", "127.0.0.1:9991"),
            ("0.0.0.0:80", "0.0.0.0:80"),
        ] {
            assert_eq!(parse_listen(text).map(|address| address.to_string()), Ok(expected.to_owned()));
        }
        for text in ["", "9991", ":9991", "localhost", "localhost:http", "::1:9991", "127.0.0.1:70000"] {
            assert!(parse_listen(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ldap_filter_needs_the_placeholder() {
        let is_filter = |text| check_ldap_filter(text).is_ok();
        assert!(is_filter("(uid={user})") && is_filter("(&(objectClass=person)(uid={user}))"));
        assert!(!is_filter("(uid=x)") && !is_filter("(uid={user}") && !is_filter(""));
    }

    #[test]
    fn buckets_and_public_urls_are_checked() {
        for text in ["", "files", "acme-files.eu_1"] {
            assert!(check_bucket(text).is_ok(), "{text}");
        }
        for text in [" ", "a/b", "s3://files", "ä"] {
            assert!(check_bucket(text).is_err(), "{text}");
        }
        assert!(check_external_url("https://chat.acme.example").is_ok());
        for text in ["https://olga@chat.acme.example", "https://olga:x@chat.acme.example", "https://:x@a"] {
            assert!(check_external_url(text).is_err(), "{text}");
        }
    }

    #[test]
    fn mail_senders_and_hosts_are_checked() {
        for text in ["", "chat@acme.example", "Acme chat <chat@acme.example>"] {
            assert!(check_mailbox(text).is_ok(), "{text}");
        }
        for text in ["Acme", "chat@", "<>", "a@b@c"] {
            assert!(check_mailbox(text).is_err(), "{text}");
        }
        for text in ["", "mail.acme.example", "127.0.0.1", "::1"] {
            assert!(check_host_name(text).is_ok(), "{text}");
        }
        for text in ["mail.acme.example:25", "a b", "https://mail.example"] {
            assert!(check_host_name(text).is_err(), "{text}");
        }
    }
}
