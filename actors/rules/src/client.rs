//! What a client's name says (conventions.md 10).

/// Longest name that is kept, in characters.
pub const CLIENT_NAME_LENGTH_MAX: usize = 30;
/// The name of a client that gives none.
pub const CLIENT_UNSPECIFIED: &str = "Unspecified";

/// Clients of people, whose own messages are read as soon as they are sent.
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

/// The client's name in a `User-Agent`: up to the first `/`, `(`, or space before a digit; cut to 30.
pub fn client_name(user_agent: Option<&str>) -> String {
    let agent = user_agent.unwrap_or_default();
    let before_digit = |index: usize| agent[index..].starts_with(|c: char| c.is_ascii_digit());
    let mut marks = agent.char_indices().filter(|(index, character)| match character {
        '/' | '(' => true,
        ' ' => before_digit(index + 1),
        _ => false,
    });
    let end = marks.next().map_or(agent.len(), |(index, _)| index);
    cut_client_name(&agent[..end])
}

/// A name given by the `client` parameter, cut to 30.
pub fn cut_client_name(name: &str) -> String {
    let name = name.trim();
    if name.is_empty() {
        return CLIENT_UNSPECIFIED.to_owned();
    }
    name.chars().take(CLIENT_NAME_LENGTH_MAX).collect()
}

/// Whether messages sent by this client are read by their sender, unless the client says otherwise.
pub fn is_read_by_sender(client_name: &str) -> bool {
    let name = client_name.to_lowercase();
    READING_CLIENTS.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_where_versions_begin() {
        for (agent, name) in [
            (Some("ZulipMobile/30.0 (iOS 17)"), "ZulipMobile"),
            (Some("zulip-terminal/0.7"), "zulip-terminal"),
            (Some("python-requests/2"), "python-requests"),
            (Some("ZulipPython 0.9"), "ZulipPython"),
            (Some("My Bot (test)"), "My Bot"),
            (Some("My Bot é"), "My Bot é"),
            (Some("/1"), "Unspecified"),
            (Some(""), "Unspecified"),
            (None, "Unspecified"),
            (Some("a234567890b234567890c234567890d"), "a234567890b234567890c234567890"),
        ] {
            assert_eq!(client_name(agent), name, "{agent:?}");
        }
    }

    #[test]
    fn people_read_what_they_send() {
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
