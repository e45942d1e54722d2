//! The name of the program that calls, from its `User-Agent` or the `client` parameter.
//!
//! Conventions, section 10. The name is stored on messages as `client`, and decides `read_by_sender`.

/// Longest stored name, in characters.
const CLIENT_NAME_CHARS_MAX: usize = 30;

/// Programs a person types into: what they send is read by its sender.
const INTERACTIVE: &[&str] = &[
    "zulipandroid",
    "zulipios",
    "zulipdesktop",
    "zulipmobile",
    "zulipelectron",
    "zulipterminal",
    "snipe",
    "website",
    "ios",
    "android",
    "zulipflutter",
];

/// The name of the calling program: the `client` parameter when given, else what the `User-Agent` says.
pub fn client_name(parameter: Option<&str>, user_agent: Option<&str>) -> String {
    let given = parameter.map(str::trim).filter(|name| !name.is_empty());
    let name = given.unwrap_or_else(|| parse_user_agent(user_agent.unwrap_or("")));
    // Bytes are never fewer than characters, so most names need no counting.
    if name.len() <= CLIENT_NAME_CHARS_MAX {
        return name.to_owned();
    }
    name.chars().take(CLIENT_NAME_CHARS_MAX).collect()
}

/// Whether a message of this program counts as read by its sender when the request does not say.
pub fn read_by_sender_default(client: &str) -> bool {
    INTERACTIVE.iter().any(|name| name.eq_ignore_ascii_case(client))
}

/// Text up to the first `/`, `(`, or space before a digit.
fn parse_user_agent(header: &str) -> &str {
    let bytes = header.as_bytes();
    let stop = |at: &usize| match bytes[*at] {
        b'/' | b'(' => true,
        b' ' => bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
        _ => false,
    };
    let end = (0..bytes.len()).find(stop).unwrap_or(bytes.len());
    match header[..end].trim() {
        "" => "Unspecified",
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_user_agents() {
        let cases = [
            (Some("ZulipMobile/30.0 (iOS 17)"), "ZulipMobile"),
            (Some("zulip-terminal/0.7"), "zulip-terminal"),
            (Some("python-requests/2"), "python-requests"),
            (Some("Zulip Bot 3"), "Zulip Bot"),
            (Some("My Client (x)"), "My Client"),
            (Some("(only a comment)"), "Unspecified"),
            (Some("  "), "Unspecified"),
            (None, "Unspecified"),
            (Some("ünïcode/1"), "ünïcode"),
        ];
        for (header, name) in cases {
            assert_eq!(client_name(None, header), name, "{header:?}");
        }
    }

    #[test]
    fn the_parameter_wins_and_names_are_cut() {
        assert_eq!(client_name(Some("tests/api"), Some("curl/8")), "tests/api");
        assert_eq!(client_name(Some(" "), Some("curl/8")), "curl");
        assert_eq!(client_name(Some(&"é".repeat(40)), None), "é".repeat(30));
    }

    #[test]
    fn people_read_what_they_type() {
        assert!(read_by_sender_default("ZulipMobile") && read_by_sender_default("website"));
        assert!(!read_by_sender_default("python-requests") && !read_by_sender_default("Unspecified"));
    }
}
