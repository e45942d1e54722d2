//! Validation of e-mail addresses, and parsing of lists of them (docs/api/invitations.md#invite-by-e-mail).

/// Longest address, in bytes (RFC 5321).
const ADDRESS_BYTES_MAX: usize = 254;
/// Longest part before the `@`, in bytes.
const LOCAL_BYTES_MAX: usize = 64;

/// Whether a text is an e-mail address of the common form: words with dots, `@`, a host name.
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

/// The addresses of a list, separated by commas or line ends, each alone or as `Name <address>`, where a quoted name
/// may contain commas. Without empty entries and, ignoring case, duplicates; an invalid entry is returned as it is.
pub fn parse_address_list(text: &str) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let entries = split_entries(text).into_iter().map(|entry| address_of(&entry).to_owned());
    entries.filter(|address| !address.is_empty() && seen.insert(address.to_lowercase())).collect()
}

/// Splits at commas outside of quotes, and at line ends, which also end an open quote.
fn split_entries(text: &str) -> Vec<String> {
    let mut entries = vec![String::new()];
    let mut is_quoted = false;
    let mut is_escaped = false;
    for character in text.chars() {
        let is_line_end = matches!(character, '\n' | '\r');
        if is_line_end || (character == ',' && !is_quoted) {
            entries.push(String::new());
            (is_quoted, is_escaped) = (false, false);
            continue;
        }
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = is_quoted,
            '"' => is_quoted = !is_quoted,
            _ => {}
        }
        if let Some(entry) = entries.last_mut() {
            entry.push(character);
        }
    }
    entries
}

/// The text in the last pair of angle brackets, or the whole entry.
fn address_of(entry: &str) -> &str {
    let entry = entry.trim();
    let bracketed = entry.strip_suffix('>').and_then(|before| before.rsplit_once('<'));
    bracketed.map_or(entry, |(_, address)| address.trim())
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

    #[test]
    fn lists_of_addresses() {
        for (text, expected) in [
            ("", vec![]),
            (" , \n,\r\n ", vec![]),
            ("a@x.org", vec!["a@x.org"]),
            ("a@x.org, b@x.org\nc@x.org\r\nd@x.org,", vec!["a@x.org", "b@x.org", "c@x.org", "d@x.org"]),
            ("Ada Lovelace <a@x.org>,<b@x.org>, c@x.org", vec!["a@x.org", "b@x.org", "c@x.org"]),
            (r#""Lovelace, Ada" <a@x.org>, "Quote \", Q" <q@x.org>"#, vec!["a@x.org", "q@x.org"]),
            ("\"open <a@x.org>\nb@x.org", vec!["a@x.org", "b@x.org"]),
            ("B@x.org, b@X.org, Bee < b@x.org >", vec!["B@x.org"]),
            ("Ada < >, <>, a@x.org", vec!["a@x.org"]),
            ("no address, <also none>", vec!["no address", "also none"]),
            ("Ada <a@x.org> and more", vec!["Ada <a@x.org> and more"]),
        ] {
            assert_eq!(parse_address_list(text), expected, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_list_breaks_the_parser(text in ".{0,200}") {
            for address in parse_address_list(&text) {
                proptest::prop_assert!(!address.is_empty() && !address.contains('\n'));
            }
        }
    }
}
