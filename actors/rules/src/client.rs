//! The name of the client, from the `client` parameter or the `User-Agent`. It is stored with messages as `client`, and
//! decides whether they are read by their sender.

/// Maximum stored length of a name, in characters.
pub const CLIENT_NAME_LENGTH_MAX: usize = 30;
/// The name of a client that sends none.
pub const CLIENT_UNSPECIFIED: &str = "Unspecified";

/// Interactive clients: what their users send is marked as read.
const READING_CLIENTS: [&str; 11] = [
    "zulipandroid",
    "zulipios",
    "zulipdesktop",
    "zulipmobile",
    "zulipelectron",
    "zulipterminal",
    "zulipflutter",
    "snipe",
    "website",
    "ios",
    "android",
];

/// The name of the client: the `client` parameter if given, else the name in the `User-Agent`.
pub fn client_name(parameter: Option<&str>, user_agent: Option<&str>) -> String {
    let given = parameter.map(str::trim).filter(|name| !name.is_empty());
    given.map_or_else(|| client_in_header(user_agent), shortened).to_owned()
}

/// The name of a client by its `User-Agent` alone.
pub fn client_in_header(user_agent: Option<&str>) -> &str {
    shortened(parse_user_agent(user_agent.unwrap_or("")))
}

fn shortened(name: &str) -> &str {
    let end = name.char_indices().nth(CLIENT_NAME_LENGTH_MAX).map_or(name.len(), |(end, _)| end);
    &name[..end]
}

/// The name of a client that is logged in with a browser: apps keep theirs.
pub fn browser_name(name: String) -> String {
    if name.starts_with("Zulip") { name } else { "website".to_owned() }
}

/// The text of a `User-Agent` up to the first `/`, `(`, or space before a digit.
fn parse_user_agent(header: &str) -> &str {
    let bytes = header.as_bytes();
    let stop = |at: &usize| match bytes[*at] {
        b'/' | b'(' => true,
        b' ' => bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
        _ => false,
    };
    let end = (0..bytes.len()).find(stop).unwrap_or(bytes.len());
    match header[..end].trim() {
        "" => CLIENT_UNSPECIFIED,
        name => name,
    }
}

/// Whether messages sent by this client are read by their sender, unless a parameter overrides it.
pub fn is_read_by_sender(client_name: &str) -> bool {
    READING_CLIENTS.iter().any(|name| name.eq_ignore_ascii_case(client_name))
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
            (Some("My Bot é"), "My Bot é"),
            (Some("/1"), "Unspecified"),
            (Some("a234567890b234567890c234567890d"), "a234567890b234567890c234567890"),
        ];
        for (header, name) in cases {
            assert_eq!(client_name(None, header), name, "{header:?}");
        }
    }

    #[test]
    fn browsers_are_the_website() {
        for (name, expected) in [
            ("Mozilla", "website"),
            ("ZulipElectron", "ZulipElectron"),
            ("zulip-x", "website"),
            ("", "website"),
        ] {
            assert_eq!(browser_name(name.to_owned()), expected);
        }
    }

    #[test]
    fn client_parameter_wins_and_names_are_cut() {
        assert_eq!(client_name(Some("tests/api"), Some("curl/8")), "tests/api");
        assert_eq!(client_name(Some(" "), Some("curl/8")), "curl");
        assert_eq!(client_name(Some(&"é".repeat(40)), None), "é".repeat(30));
    }

    #[test]
    fn messages_of_interactive_clients_are_read() {
        for (name, read) in [
            ("ZulipMobile", true),
            ("ZulipElectron", true),
            ("website", true),
            ("ZulipFlutter", true),
            ("zulip-terminal", false),
            ("ZulipPython", false),
            ("Unspecified", false),
        ] {
            assert_eq!(is_read_by_sender(name), read, "{name}");
        }
    }
}
