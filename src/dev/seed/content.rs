//! The content of a seed file.

use super::forms::Value;
pub use super::forms::{Audience, AudienceName, Message};
use actors::SeedChange;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::{BotKind, FieldKind, Role};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A seed file. People are named by their e-mail addresses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedDocument {
    /// The name of the organization.
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// The domain of the addresses of the server's own bots.
    pub email_domain: String,
    /// Creates the groups and channels.
    pub creator: String,
    /// The id of the first user; the others follow.
    #[serde(default = "first_user_id")]
    pub first_user_id: u32,
    /// The onboarding steps that all people have seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub onboarding_seen: Vec<String>,
    /// Settings of the organization that differ from the defaults.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, Value>,
    pub users: Vec<User>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bots: Vec<SeedBot>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Group>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profile_fields: Vec<Field>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<Folder>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linkifiers: Vec<Linkifier>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emoji: Vec<Emoji>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<File>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<Channel>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<Topic>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conversations: Vec<Conversation>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<Seen>,
}

fn first_user_id() -> u32 {
    super::super::people::FIRST_ID.0
}

/// A person of a seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    pub email: String,
    pub full_name: String,
    #[serde(default = "member")]
    pub role: RoleName,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub timezone: String,
    /// Without it the password is the e-mail address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, Value>,
    /// Computed when the file is read.
    #[serde(skip)]
    pub password_hash: String,
}

impl User {
    /// The password in clear text: the e-mail address unless the seed has another.
    pub fn given_password(&self) -> &str {
        self.password.as_deref().unwrap_or(&self.email)
    }
}

fn member() -> RoleName {
    RoleName::Member
}

/// The name of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RoleName {
    Owner,
    Administrator,
    Moderator,
    Member,
    Guest,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Owner => Self::Owner,
            RoleName::Administrator => Self::Administrator,
            RoleName::Moderator => Self::Moderator,
            RoleName::Member => Self::Member,
            RoleName::Guest => Self::Guest,
        }
    }
}

/// A bot; its id follows those of the people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedBot {
    pub email: String,
    pub full_name: String,
    pub owner: String,
    #[serde(default)]
    pub kind: BotName,
}

/// The name of a kind of bots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BotName {
    #[default]
    Generic,
    IncomingWebhook,
    OutgoingWebhook,
}

impl From<BotName> for BotKind {
    fn from(name: BotName) -> Self {
        match name {
            BotName::Generic => Self::Generic,
            BotName::IncomingWebhook => Self::IncomingWebhook,
            BotName::OutgoingWebhook => Self::OutgoingWebhook,
        }
    }
}

/// A user group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub members: Vec<String>,
}

/// A custom profile field with its values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    pub name: String,
    pub kind: FieldName,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
    /// JSON text: the choices, or which external account.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub data: String,
    #[serde(default)]
    pub in_summary: bool,
    /// By e-mail address. Values of a field for people are e-mail addresses too.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
}

/// The name of a kind of profile fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldName {
    ShortText,
    LongText,
    Choice,
    Date,
    Link,
    Person,
    ExternalAccount,
    Pronouns,
}

impl From<FieldName> for FieldKind {
    fn from(name: FieldName) -> Self {
        match name {
            FieldName::ShortText => Self::ShortText,
            FieldName::LongText => Self::LongText,
            FieldName::Choice => Self::Choice,
            FieldName::Date => Self::Date,
            FieldName::Link => Self::Link,
            FieldName::Person => Self::Person,
            FieldName::ExternalAccount => Self::ExternalAccount,
            FieldName::Pronouns => Self::Pronouns,
        }
    }
}

/// A folder of channels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Folder {
    pub name: String,
    #[serde(default)]
    pub description: String,
}

/// A pattern that becomes links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linkifier {
    pub pattern: String,
    pub url_template: String,
}

/// A custom emoji.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Emoji {
    pub name: String,
    pub author: String,
    /// The name of the stored picture.
    pub file: String,
    pub base64: Bytes,
}

/// An uploaded picture. Messages name it as `/user_uploads/{realm}/` and its path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub path: String,
    pub name: String,
    pub owner: String,
    pub content_type: String,
    pub width: u32,
    pub height: u32,
    pub base64: Bytes,
}

/// Bytes that are written as base64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let unreadable = |error| serde::de::Error::custom(format!("this is not base64: {error}"));
        STANDARD.decode(text).map(Self).map_err(unreadable)
    }
}

/// A channel of a seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub private: bool,
    #[serde(default)]
    pub web_public: bool,
    /// Whether new subscribers can read earlier messages; false only for private channels.
    #[serde(default = "yes")]
    pub shared_history: bool,
    /// Whether new members are subscribed.
    #[serde(default)]
    pub default: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    #[serde(default)]
    pub subscribers: Audience,
}

fn yes() -> bool {
    true
}

impl AudienceName {
    /// Whether people with a role are subscribed.
    pub(super) fn includes(self, role: RoleName) -> bool {
        match self {
            Self::Everyone => true,
            Self::Members => role != RoleName::Guest,
            Self::Moderators => {
                matches!(role, RoleName::Owner | RoleName::Administrator | RoleName::Moderator)
            }
        }
    }
}

/// A topic of a channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topic {
    pub channel: String,
    pub name: String,
    /// The senders of messages that are only a text, in turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writers: Vec<String>,
    pub messages: Vec<Message>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

/// A direct conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conversation {
    /// Everyone in it, who send the messages that are only a text in turns.
    pub people: Vec<String>,
    pub messages: Vec<Message>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

/// What happened after all messages were sent. Messages are named by their position, from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Change {
    Edited { message: usize, text: String },
    Moved { by: String, topic: String },
    Reacted { message: usize, by: String, emoji: String },
    Starred { message: usize, by: String },
}

impl Change {
    /// The change for the actors.
    pub(super) fn seed(&self) -> SeedChange<'_> {
        match self {
            Self::Edited { message, text } => SeedChange::Edited { message: *message, text },
            Self::Moved { by, topic } => SeedChange::Moved { by, topic },
            Self::Reacted { message, by, emoji } => SeedChange::Reacted { message: *message, by, emoji },
            Self::Starred { message, by } => SeedChange::Starred { message: *message, by },
        }
    }
}

/// When a person was last seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    pub email: String,
    pub secs_ago: u64,
    #[serde(default)]
    pub idle: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_cannot_be_read_are_said_to_be_no_base64() {
        assert_eq!(serde_json::from_str::<Bytes>("\"aGVsbG8=\"").unwrap(), Bytes(b"hello".to_vec()));
        let said = serde_json::from_str::<Bytes>("\"!\"").unwrap_err().to_string();
        assert!(said.starts_with("this is not base64: "), "{said}");
    }
}
