//! One operation of the API, as it is described to people and programs.

use std::borrow::Cow;

/// The type of the bytes of a resumable upload.
pub const PART_TYPE: &str = "application/offset+octet-stream";

/// What an endpoint does, takes and changes. Who may call it is in the table of routes.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The name in addresses and generated clients, as Zulip's reference has it where it knows the endpoint.
    pub id: &'static str,
    /// Method and path of each row of the table of routes that it describes.
    pub routes: Vec<&'static str>,
    /// What it does, in a few words.
    pub summary: &'static str,
    /// What there is to know besides, as one paragraph.
    pub text: &'static str,
    /// What it reads from the query and the body.
    pub parameters: Vec<Parameter>,
    /// The types of the events that it may cause.
    pub events: &'static [&'static str],
    /// How it answers.
    pub answer: Answer,
    /// What is sent as a file.
    pub file: Option<File>,
    /// An older form of another operation.
    pub is_deprecated: bool,
    /// The body is a document of another service, which has parameters of its own in the URL, too.
    pub is_webhook: bool,
}

/// How a successful answer looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// JSON with `result` and `msg`.
    Json,
    /// The bytes of a file.
    File,
    /// The bytes of a picture that the server made.
    Picture,
    /// A redirect to the address of a file.
    Redirect,
    /// As the protocol tus says: a status, headers, and JSON after the last part.
    Tus,
    /// JSON without `result` and `msg`.
    Document,
}

/// The file of a request, sent as a part of `multipart/form-data`, or as the whole body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    pub name: &'static str,
    pub is_required: bool,
    pub is_body: bool,
}

/// One parameter of an operation.
#[derive(Clone, Debug)]
pub struct Parameter {
    pub name: Cow<'static, str>,
    /// An older name for the same.
    pub old_name: Option<&'static str>,
    pub kind: Kind,
    pub is_required: bool,
    /// What applies when it is absent, as JSON.
    pub default: Option<Cow<'static, str>>,
    pub text: Cow<'static, str>,
}

/// The form of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text as it is.
    Text,
    /// Text, one of these.
    Word(&'static [&'static str]),
    /// Text with or without the quotes of JSON.
    LooseText,
    /// `true` or `false`.
    Bool,
    Int,
    /// A number, one of these.
    Choice(&'static [i64]),
    /// A number between these, both included.
    Range(i64, i64),
    Id,
    /// An id, or null.
    IdOrNull,
    Ids,
    Ints,
    Texts,
    /// A JSON object.
    Object,
    /// A list of JSON objects.
    Objects,
    /// JSON of several forms.
    Json,
    /// Text, or JSON of several forms.
    TextOrJson,
    /// `true`, `false` or `partial`.
    BoolOrPartial,
    /// A number above zero, or `unlimited`.
    Limit,
    /// A group's id, or an object with `direct_members` and `direct_subgroups`.
    Group,
    /// An object with `new` and perhaps `old`, each a group's id or an object.
    GroupChange,
}

impl Kind {
    /// The type, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Text | Self::LooseText => "string",
            Self::Word(_) => "string, one of a few",
            Self::Bool => "boolean",
            Self::Int | Self::Range(..) | Self::Id => "integer",
            Self::Choice(_) => "integer, one of a few",
            Self::IdOrNull => "integer or null",
            Self::Ids | Self::Ints => "list of integers",
            Self::Texts => "list of strings",
            Self::Object | Self::GroupChange => "object",
            Self::Objects => "list of objects",
            Self::Json => "JSON",
            Self::TextOrJson => "string or JSON",
            Self::BoolOrPartial => "boolean or \u{201c}partial\u{201d}",
            Self::Limit => "integer or \u{201c}unlimited\u{201d}",
            Self::Group => "integer or object",
        }
    }

    /// Whether it is sent as it is written, so that it may have several lines.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::LooseText | Self::TextOrJson)
    }

    /// Whether it is sent as JSON text that is no plain number, word or boolean.
    pub fn is_json(self) -> bool {
        match self {
            Self::Ids
            | Self::Ints
            | Self::Texts
            | Self::Object
            | Self::Objects
            | Self::Json
            | Self::Group
            | Self::GroupChange => true,
            Self::Text
            | Self::Word(_)
            | Self::LooseText
            | Self::Bool
            | Self::Int
            | Self::Choice(_)
            | Self::Range(..)
            | Self::Id
            | Self::IdOrNull
            | Self::TextOrJson
            | Self::BoolOrPartial
            | Self::Limit => false,
        }
    }

    /// A value as it is sent, where the form leaves no doubt about it.
    pub fn example(self) -> Option<String> {
        match self {
            Self::Bool | Self::BoolOrPartial => Some("true".to_owned()),
            Self::Int | Self::Id | Self::Group => Some("1".to_owned()),
            Self::Choice(numbers) => numbers.first().map(i64::to_string),
            Self::Range(least, _) => Some(least.to_string()),
            Self::Word(words) => words.first().map(|word| (*word).to_owned()),
            Self::Ids | Self::Ints => Some("[1]".to_owned()),
            Self::IdOrNull => Some("null".to_owned()),
            Self::Limit => Some("\"unlimited\"".to_owned()),
            Self::Text
            | Self::LooseText
            | Self::Texts
            | Self::Object
            | Self::Objects
            | Self::Json
            | Self::TextOrJson
            | Self::GroupChange => None,
        }
    }

    /// The values that are allowed, if they are few.
    pub fn values(self) -> Vec<String> {
        match self {
            Self::Word(words) => words.iter().map(|word| (*word).to_owned()).collect(),
            Self::Choice(numbers) => numbers.iter().map(i64::to_string).collect(),
            _ => Vec::new(),
        }
    }
}

/// An operation without parameters, events and file, which answers with JSON.
pub fn operation(
    id: &'static str,
    route: &'static str,
    summary: &'static str,
    text: &'static str,
) -> Operation {
    Operation {
        id,
        routes: vec![route],
        summary,
        text,
        parameters: Vec::new(),
        events: &[],
        answer: Answer::Json,
        file: None,
        is_deprecated: false,
        is_webhook: false,
    }
}

impl Operation {
    /// Another row of the table of routes that does the same.
    pub fn at(mut self, route: &'static str) -> Self {
        self.routes.push(route);
        self
    }

    /// Adds parameters, after those that it has.
    pub fn with(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    /// Sets the events that it may cause.
    pub fn sends(mut self, events: &'static [&'static str]) -> Self {
        self.events = events;
        self
    }

    /// Sets the form of the answer.
    pub fn answers(mut self, answer: Answer) -> Self {
        self.answer = answer;
        self
    }

    /// Takes a file as a part of a form.
    pub fn takes_file(mut self, name: &'static str, is_required: bool) -> Self {
        self.file = Some(File { name, is_required, is_body: false });
        self
    }

    /// Takes a file as the body.
    pub fn takes_bytes(mut self) -> Self {
        self.file = Some(File { name: "body", is_required: false, is_body: true });
        self
    }

    /// Marks it as an older form of another operation.
    pub fn deprecated(mut self) -> Self {
        self.is_deprecated = true;
        self
    }

    /// Its body is a document of another service.
    pub fn of_webhook(mut self) -> Self {
        self.is_webhook = true;
        self
    }

    /// Whether it is for web sessions alone, and not for API keys.
    pub fn is_of_session(&self) -> bool {
        self.path().starts_with("/json/")
    }

    /// The status and the words of each success whose answer is not JSON with `result` and `msg`.
    pub fn other_answers(&self) -> Vec<(u16, &'static str)> {
        match (self.answer, self.method()) {
            (Answer::Json, _) => Vec::new(),
            (Answer::Document, _) => vec![(200, "JSON without result and msg.")],
            (Answer::Picture, _) => vec![(200, "The bytes of the picture (image/webp).")],
            (Answer::File, _) => vec![
                (200, "The bytes of the file; the header Content-Type says of which type."),
                (206, "A part of the file, where the request has the header Range."),
            ],
            (Answer::Redirect, _) => vec![(302, "The header Location has the address of the picture.")],
            (Answer::Tus, "POST") => vec![(
                201,
                "The header Location has the address of the upload, and Upload-Offset says how many bytes have arrived. Where the \
                 body was the whole file, JSON with its url and filename.",
            )],
            (Answer::Tus, "PATCH") => vec![
                (204, "The header Upload-Offset says how many bytes have arrived."),
                (200, "After the last byte: JSON with the url and filename of the file."),
            ],
            (Answer::Tus, "HEAD") => {
                vec![(
                    200,
                    "The header Upload-Offset says how many bytes have arrived, Upload-Length how many the file has.",
                )]
            }
            (Answer::Tus, _) => vec![(204, "Done; without a body.")],
        }
    }

    /// The method, such as `POST`.
    pub fn method(&self) -> &'static str {
        self.route().0
    }

    /// The path with its placeholders, such as `/api/v1/messages/{message_id:int}`.
    pub fn path(&self) -> &'static str {
        self.route().1
    }

    fn route(&self) -> (&'static str, &'static str) {
        self.routes.first().and_then(|route| route.split_once(' ')).unwrap_or_default()
    }

    /// Whether it reads a parameter of this name.
    pub fn declares(&self, name: &str) -> bool {
        self.is_webhook
            || COMMON.contains(&name)
            || self.parameters.iter().any(|known| known.name == name || known.old_name == Some(name))
    }
}

/// Parameters that every operation takes; the last one below `/json` only.
pub const COMMON: [&str; 3] = ["client", "method", "csrfmiddlewaretoken"];

/// A required parameter.
pub fn need(name: &'static str, kind: Kind, text: &'static str) -> Parameter {
    Parameter { is_required: true, ..may(name, kind, text) }
}

/// An optional parameter.
pub fn may(name: impl Into<Cow<'static, str>>, kind: Kind, text: impl Into<Cow<'static, str>>) -> Parameter {
    Parameter {
        name: name.into(),
        old_name: None,
        kind,
        is_required: false,
        default: None,
        text: text.into(),
    }
}

impl Parameter {
    /// Sets what applies when it is absent, as JSON.
    pub fn or(mut self, default: impl Into<Cow<'static, str>>) -> Self {
        self.default = Some(default.into());
        self
    }

    /// Sets an older name for the same.
    pub fn or_as(mut self, old_name: &'static str) -> Self {
        self.old_name = Some(old_name);
        self
    }
}
