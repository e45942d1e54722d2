//! The lists of the sample organization: custom profile fields of every type, a folder of channels, a linkifier, a custom
//! emoji, and who was seen lately.

use super::files::{BUCKETS, EMOJI_FILE, UPLOAD_PATH};
use actors::{Report, SeedEmoji, SeedField, SeedFile, SeedFolder};
use model::FieldKind;

/// The folder of the channels that are not cities.
pub const FOLDER: &str = "Theater";

const CHOICES: &str = r#"{"0":{"text":"Quill","order":"1"},"1":{"text":"Wax tablet","order":"2"}}"#;

/// One custom profile field of every type, with values.
#[expect(clippy::too_many_lines, reason = "a table of data")]
pub fn fields() -> Vec<SeedField<'static>> {
    let field = |kind, name, hint, values: &[(&'static str, &'static str)]| SeedField {
        kind,
        name,
        hint,
        data: "",
        is_in_summary: false,
        values: values.to_vec(),
    };
    vec![
        field(
            FieldKind::ShortText,
            "Phone number",
            "",
            &[("iago@zulip.com", "+39 041 555 0110"), ("hamlet@zulip.com", "+45 49 55 0100")],
        ),
        field(
            FieldKind::LongText,
            "Biography",
            "What are you known for?",
            &[
                ("hamlet@zulip.com", "Prince of *Denmark*. Undecided."),
                ("desdemona@zulip.com", "Runs this organization from **Venice**."),
            ],
        ),
        SeedField {
            data: CHOICES,
            ..field(
                FieldKind::Choice,
                "Favorite editor",
                "",
                &[("hamlet@zulip.com", "1"), ("ZOE@zulip.com", "0")],
            )
        },
        field(
            FieldKind::Date,
            "Birthday",
            "",
            &[("hamlet@zulip.com", "2000-04-23"), ("cordelia@zulip.com", "1998-12-26")],
        ),
        field(
            FieldKind::Link,
            "Favorite website",
            "Or your own one.",
            &[
                ("hamlet@zulip.com", "https://elsinore.example.com/"),
                ("iago@zulip.com", "https://example.com/"),
            ],
        ),
        field(
            FieldKind::Person,
            "Mentor",
            "",
            &[("hamlet@zulip.com", "polonius@zulip.com"), ("cordelia@zulip.com", "desdemona@zulip.com")],
        ),
        SeedField {
            data: r#"{"subtype":"github"}"#,
            is_in_summary: true,
            ..field(
                FieldKind::ExternalAccount,
                "GitHub username",
                "",
                &[("hamlet@zulip.com", "example-hamlet")],
            )
        },
        SeedField {
            is_in_summary: true,
            ..field(
                FieldKind::Pronouns,
                "Pronouns",
                "What pronouns should people use to refer to you?",
                &[("hamlet@zulip.com", "he/him"), ("shiva@zulip.com", "they/them")],
            )
        },
    ]
}

/// The only folder.
pub fn folders() -> Vec<SeedFolder<'static>> {
    vec![SeedFolder { name: FOLDER, description: "Everything about the *stage*" }]
}

/// Patterns with their URL templates. They must not match what test suites of clients send.
pub fn linkifiers() -> Vec<(&'static str, &'static str)> {
    vec![("TICKET-(?P<id>[0-9]{1,8})", "https://tickets.example.com/{id}")]
}

/// The only custom emoji.
pub fn emoji() -> Vec<SeedEmoji<'static>> {
    vec![SeedEmoji { name: "green_tick", file: EMOJI_FILE, author: "iago@zulip.com" }]
}

/// The only uploaded file, which a message of Hamlet names.
pub fn files() -> Vec<SeedFile<'static>> {
    vec![SeedFile {
        path: UPLOAD_PATH,
        name: "buckets.png",
        owner: "hamlet@zulip.com",
        bytes: BUCKETS.len() as u64,
        content_type: "image/png",
        pixels: (320, 200),
    }]
}

/// Who was seen, in which way, and how many seconds ago; the earliest comes first. Presence is kept in memory: it is gone
/// after a restart.
pub fn seen() -> Vec<(&'static str, Report, u64)> {
    vec![
        ("othello@zulip.com", Report::Active, 3 * 24 * 3600),
        ("prospero@zulip.com", Report::Idle, 2 * 3600),
        ("shiva@zulip.com", Report::Active, 600),
        ("cordelia@zulip.com", Report::Idle, 40),
        ("iago@zulip.com", Report::Active, 10),
    ]
}
