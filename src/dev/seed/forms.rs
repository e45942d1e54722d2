//! Entries of a seed that have more than one form. They are read without a copy in between, so that a mistake in one is found where
//! it is.

use actors::Subscribers;
use model::SettingValue;
use rules::settings::{Setting, SettingKind};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Value {
    Flag(bool),
    Number(i64),
    /// Also the name of the group that holds a permission.
    Text(String),
    Holders(Holders),
}

/// Those who hold a permission. They include the members of the groups.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holders {
    /// The e-mail addresses of accounts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<String>,
    /// Names, those of system groups too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
}

impl Value {
    /// The value of a setting as it is stored, from the words that the API takes too; none for people and groups.
    pub fn stored(&self, setting: &Setting) -> Option<SettingValue> {
        match (self, setting.kind) {
            (Self::Text(word), SettingKind::TimeLimit) if word == "unlimited" => Some(SettingValue::Null),
            (Self::Text(word), SettingKind::Retention) if word == "unlimited" => Some(SettingValue::Int(-1)),
            (Self::Text(word), SettingKind::Url(_)) if word == "default" => Some(SettingValue::Null),
            (Self::Flag(flag), _) => Some(SettingValue::Bool(*flag)),
            (Self::Number(number), _) => Some(SettingValue::Int(*number)),
            (Self::Text(text), _) => Some(SettingValue::Text(text.clone())),
            (Self::Holders(_), _) => None,
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false, a whole number, a text, or a table with `users` and `groups`")
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Flag(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        let whole = i64::try_from(number).map(Value::Number);
        whole.map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
        Holders::deserialize(MapAccessDeserializer::new(map)).map(Value::Holders)
    }
}

/// The subscribers of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Audience {
    Named(Vec<String>),
    All(AudienceName),
}

impl Default for Audience {
    fn default() -> Self {
        Self::Named(Vec::new())
    }
}

/// A word for many subscribers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AudienceName {
    Everyone,
    Members,
    Moderators,
}

impl Audience {
    /// The subscribers for the actors.
    pub(super) fn seed(&self) -> Subscribers<'_> {
        match self {
            Self::Named(emails) => Subscribers::Named(emails.iter().map(String::as_str).collect()),
            Self::All(AudienceName::Everyone) => Subscribers::Everyone,
            Self::All(AudienceName::Members) => Subscribers::Members,
            Self::All(AudienceName::Moderators) => Subscribers::Moderators,
        }
    }
}

impl<'de> Deserialize<'de> for Audience {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AudienceVisitor)
    }
}

struct AudienceVisitor;

impl<'de> Visitor<'de> for AudienceVisitor {
    type Value = Audience;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"everyone\", \"members\", \"moderators\" or a list of addresses")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Audience, E> {
        match word {
            "everyone" => Ok(Audience::All(AudienceName::Everyone)),
            "members" => Ok(Audience::All(AudienceName::Members)),
            "moderators" => Ok(Audience::All(AudienceName::Moderators)),
            other => Err(E::invalid_value(Unexpected::Str(other), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Audience, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Audience::Named)
    }
}

/// A message: its text in Markdown, or also its sender.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Message {
    Text(String),
    From { from: String, text: String },
}

impl Message {
    /// The Markdown source.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::From { text, .. } => text,
        }
    }
}

/// A message with its sender.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SentMessage {
    from: String,
    text: String,
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MessageVisitor)
    }
}

struct MessageVisitor;

impl<'de> Visitor<'de> for MessageVisitor {
    type Value = Message;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or a table with `from` and `text`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Message, E> {
        Ok(Message::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Message, A::Error> {
        let SentMessage { from, text } = SentMessage::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Message::From { from, text })
    }
}
