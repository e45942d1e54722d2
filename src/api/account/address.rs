//! E-mail addresses: whether a text is one.

use crate::http::ApiError;

/// Longest address, in bytes (RFC 5321).
const ADDRESS_BYTES_MAX: usize = 254;
/// Longest part before the `@`, in bytes.
const LOCAL_BYTES_MAX: usize = 64;

/// Refuses what is no address: `Enter a valid email address.`
pub fn check_address(text: &str) -> Result<(), ApiError> {
    if is_address(text) { Ok(()) } else { Err(ApiError::bad_request("Enter a valid email address.")) }
}

/// Whether a text is an e-mail address as people have them: words with dots, `@`, a host name.
pub fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    text.len() <= ADDRESS_BYTES_MAX
        && (1..=LOCAL_BYTES_MAX).contains(&local.len())
        && local.split('.').all(|word| !word.is_empty() && word.bytes().all(is_word_byte))
        && is_domain(domain)
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+/=?^_`{}|~-".contains(&byte)
}

fn is_domain(domain: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let has_dot = domain.contains('.') || domain.eq_ignore_ascii_case("localhost");
    has_dot && domain.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for address in
            ["iago@zulip.com", "a.b+c@x-y.example", "AARON@zulip.com", "me@localhost", "o'n@bücher.example"]
        {
            assert!(is_address(address), "{address}");
        }
        let long = format!("{}@zulip.com", "a".repeat(65));
        for text in [
            "",
            "iago",
            "@zulip.com",
            "iago@",
            "iago@zulip",
            "a b@zulip.com",
            "a@b@zulip.com",
            "a..b@zulip.com",
            "a@-b.example",
            "a@b..example",
            "a@b.example ",
            &long,
        ] {
            assert!(!is_address(text), "{text}");
        }
    }
}
