//! One file of the catalog: an integration with its events (docs/webhooks.md#write-an-integration).

use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;

/// Events of one integration.
const EVENTS_MAX: usize = 200;
/// Characters of names, and of the texts of options.
const NAME_CHARS_MAX: usize = 60;

/// The content of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// The last part of the URL; also the name of the file.
    pub name: Spanned<String>,
    /// The name in texts.
    pub display_name: String,
    /// The middle of the client's name, `Zulip…Webhook`. Default: the display name without spaces.
    pub client: Option<String>,
    /// The header with the event's name, if the service sends one.
    pub event_header: Option<String>,
    /// Whether the parameters `stream` and `topic` arrive with one encoding too many.
    #[serde(default)]
    pub decodes_parameters_twice: bool,
    /// A condition: the payload is about a private repository. Offers `ignore_private_repositories`.
    pub private: Option<Spanned<String>>,
    /// The name of an event that none of the list matches.
    pub unsupported: Option<Spanned<String>>,
    /// Fields of the answer that the service expects.
    #[serde(default)]
    pub answer: BTreeMap<String, toml::Value>,
    /// Parameters of the URL that templates read as `params`.
    #[serde(default)]
    pub url_options: Vec<UrlOption>,
    /// Macros before each body.
    pub macros: Option<Spanned<String>>,
    pub events: Vec<Event>,
}

/// A parameter of the URL, as clients offer it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UrlOption {
    pub key: String,
    pub label: String,
}

/// An event; the first one whose condition holds is taken.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// The name for `only_events` and `exclude_events`.
    pub name: Spanned<String>,
    /// A condition on `payload` and `event`.
    pub when: Spanned<String>,
    /// A condition: the event is accepted without a message.
    pub skip: Option<Spanned<String>>,
    /// Templates; without them the event is accepted without a message.
    pub topic: Option<Spanned<String>>,
    pub body: Option<Spanned<String>>,
    /// A payload that must become a message of this event; for files of an operator it is tried when the server starts.
    pub sample: Option<Sample>,
}

/// A payload as JSON, and the event in the header.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    #[serde(default)]
    pub event: String,
    pub payload: Spanned<String>,
}

/// A problem in a file, with the line where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub line: usize,
    pub text: String,
}

/// A source file, for the lines of faults.
pub struct Source<'s>(pub &'s str);

impl Source<'_> {
    /// The line of an offset, from 1.
    pub fn line(&self, offset: usize) -> usize {
        let before = self.0.as_bytes().get(..offset).unwrap_or_default();
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    }

    /// The line of the first line of a text.
    pub fn first_line(&self, span: &Range<usize>) -> usize {
        let raw = self.0.get(span.clone()).unwrap_or_default();
        let begins_below = ["'''\n", "\"\"\"\n"].iter().any(|quotes| raw.starts_with(quotes));
        self.line(span.start) + usize::from(begins_below)
    }

    /// A fault at the start of a value.
    pub fn fault(&self, span: &Range<usize>, text: impl Into<String>) -> Fault {
        Fault { line: self.line(span.start), text: text.into() }
    }
}

/// Reads a file, and checks what the format of TOML does not.
pub fn parse(file_name: &str, text: &str) -> Result<Definition, Vec<Fault>> {
    let source = Source(text);
    let definition: Definition = toml::from_str(text).map_err(|error| {
        let line = source.line(error.span().map_or(0, |span| span.start));
        vec![Fault { line, text: error.message().trim_end().to_owned() }]
    })?;
    let faults = faults(&definition, file_name, &source);
    if faults.is_empty() { Ok(definition) } else { Err(faults) }
}

fn faults(definition: &Definition, file_name: &str, source: &Source<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    let name = definition.name.as_ref();
    let span = definition.name.span();
    if !is_word(name) {
        faults.push(source.fault(&span, "the name must be lower-case letters, digits and underscores"));
    }
    if file_name.strip_suffix(".toml") != Some(name) {
        faults.push(source.fault(&span, format!("the name must be that of the file, {file_name}")));
    }
    if definition.events.is_empty() || definition.events.len() > EVENTS_MAX {
        faults.push(source.fault(&span, format!("there must be 1 to {EVENTS_MAX} events")));
    }
    let texts =
        [Some(&definition.display_name), definition.client.as_ref(), definition.event_header.as_ref()];
    let options = definition.url_options.iter().flat_map(|option| [&option.key, &option.label]);
    for text in texts.into_iter().flatten().chain(options) {
        if text.is_empty() || text.chars().count() > NAME_CHARS_MAX {
            faults.push(
                source.fault(&span, format!("texts must have 1 to {NAME_CHARS_MAX} characters: {text:?}")),
            );
        }
    }
    for event in &definition.events {
        if !is_event_name(event.name.as_ref()) {
            let text = "the name of an event must be letters, digits, spaces and _ : . -";
            faults.push(source.fault(&event.name.span(), text));
        }
        if event.topic.is_some() != event.body.is_some() {
            faults.push(source.fault(&event.name.span(), "an event has both topic and body, or neither"));
        }
    }
    faults
}

fn is_word(name: &str) -> bool {
    let is_good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    !name.is_empty() && name.len() <= NAME_CHARS_MAX && name.bytes().all(is_good)
}

fn is_event_name(name: &str) -> bool {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b" _:.-".contains(&byte);
    !name.is_empty() && name.len() <= NAME_CHARS_MAX && name.bytes().all(is_good)
}
