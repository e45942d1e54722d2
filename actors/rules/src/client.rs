//! The name of the client, from the `client` parameter or the `User-Agent`. It is stored with messages as `client`, and
//! decides whether they are read by their sender.

/// Maximum stored length of a name, in characters.
const CLIENT_NAME_LENGTH_MAX: usize = 30;
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

/// The name of a client that is logged in with a browser: apps keep their own name.
pub fn browser_name(name: String) -> String {
    if name.starts_with("Zulip") { name } else { "website".to_owned() }
}

/// Browsers by a word of their `User-Agent`, of which most have those of others as well: the first that is found counts.
const BROWSERS: [(&str, &str); 8] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Chromium/", "Chromium"),
    ("Safari/", "Safari"),
];

/// Systems by a word of the `User-Agent`, likewise.
const SYSTEMS: [(&str, &str); 7] = [
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iOS"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
];

/// What a person calls a browser, such as `Firefox on Linux`; none for other programs.
pub fn browser(user_agent: &str) -> Option<String> {
    let of = |words: &[(&str, &'static str)]| {
        words.iter().find(|(word, _)| user_agent.contains(word)).map(|(_, name)| *name)
    };
    if !user_agent.starts_with("Mozilla/") {
        return None;
    }
    let name = of(&BROWSERS)?;
    Some(of(&SYSTEMS).map_or_else(|| name.to_owned(), |system| format!("{name} on {system}")))
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
    fn browsers_have_the_names_that_people_know() {
        let chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";
        let mac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)";
        let cases = [
            (chrome.to_owned(), Some("Chrome on Linux")),
            (format!("{chrome} Edg/142.0.0.0"), Some("Edge on Linux")),
            (
                "Mozilla/5.0 (Windows NT 10.0; rv:145.0) Gecko/20100101 Firefox/145.0".into(),
                Some("Firefox on Windows"),
            ),
            (format!("{mac} Version/18.0 Safari/605.1.15"), Some("Safari on macOS")),
            (mac.into(), None),
            ("python-requests/2.32 (Linux)".into(), None),
            ("ZulipElectron/5.12 Chrome/130 (Linux)".into(), None),
        ];
        for (agent, name) in cases {
            assert_eq!(browser(&agent).as_deref(), name, "{agent}");
        }
    }

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
