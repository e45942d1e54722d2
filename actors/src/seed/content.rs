//! What a seed says: tables of people, lists, channels and messages.

use crate::presence::Report;
use model::{BotKind, FieldKind, Role, SettingValue, UserId};
use rules::settings::RealmPermission;

/// The content of a sample organization. People are named by their e-mail addresses.
pub struct Seed<'s> {
    pub description: &'s str,
    /// Settings of the organization that differ from the defaults.
    pub settings: Vec<(&'s str, SettingValue)>,
    /// Permissions of the organization that others hold than by default.
    pub permissions: Vec<SeedPermission<'s>>,
    /// The id of the first user; the others follow.
    pub first_id: UserId,
    /// Owners come before their bots.
    pub users: Vec<SeedUser<'s>>,
    /// Creates the groups and channels.
    pub creator: &'s str,
    pub groups: Vec<SeedGroup<'s>>,
    /// Custom profile fields; their ids count from 1, as do those of the following lists.
    pub fields: Vec<SeedField<'s>>,
    pub folders: Vec<SeedFolder<'s>>,
    /// The onboarding steps that all people have seen.
    pub onboarding_seen: Vec<&'s str>,
    /// Patterns with their URL templates.
    pub linkifiers: Vec<(&'s str, &'s str)>,
    pub emoji: Vec<SeedEmoji<'s>>,
    /// Uploaded files; messages name them as `/user_uploads/{realm}/` and the path.
    pub files: Vec<SeedFile<'s>>,
    /// Channels; their ids count from 1.
    pub channels: Vec<SeedChannel<'s>>,
    /// Topics and direct conversations. Their messages are interleaved.
    pub threads: Vec<SeedThread<'s>>,
    /// Who was seen, in which way, and how many seconds ago; the earliest comes first.
    pub seen: Vec<(&'s str, Report, u64)>,
}

/// A permission of the organization, with those who hold it.
pub struct SeedPermission<'s> {
    pub permission: RealmPermission,
    /// The e-mail addresses of accounts.
    pub users: Vec<&'s str>,
    /// Names, those of system groups too.
    pub groups: Vec<&'s str>,
}

/// A person or bot.
pub struct SeedUser<'s> {
    pub email: &'s str,
    pub full_name: &'s str,
    pub role: Role,
    /// IANA identifier, or empty.
    pub timezone: &'s str,
    /// None: no login with a password.
    pub password_hash: Option<&'s str>,
    /// Settings that differ from the defaults.
    pub settings: Vec<(&'s str, SettingValue)>,
    /// The kind of a bot, and its owner.
    pub bot: Option<(BotKind, &'s str)>,
}

/// A user group.
pub struct SeedGroup<'s> {
    pub name: &'s str,
    pub description: &'s str,
    pub members: Vec<&'s str>,
}

/// A channel of a seed.
pub struct SeedChannel<'s> {
    pub name: &'s str,
    /// The Markdown source.
    pub description: &'s str,
    /// Whether only subscribers know of it.
    pub is_private: bool,
    /// Whether it can be read without an account.
    pub is_web_public: bool,
    /// Whether new subscribers can read earlier messages; false only for private channels.
    pub shows_history: bool,
    /// The name of its folder.
    pub folder: Option<&'s str>,
    /// Whether new members are subscribed.
    pub is_default: bool,
    pub subscribers: Subscribers<'s>,
}

/// Who is subscribed to a channel of a seed. Bots only are where they are named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subscribers<'s> {
    Everyone,
    /// All people but guests.
    Members,
    /// Moderators, administrators and owners.
    Moderators,
    /// These e-mail addresses.
    Named(Vec<&'s str>),
}

/// A topic or direct conversation.
pub struct SeedThread<'s> {
    /// Channel and topic; none for a direct conversation of its writers.
    pub topic: Option<(&'s str, &'s str)>,
    /// E-mail addresses, in turns.
    pub writers: Vec<String>,
    /// The sender of each message, where they do not write in turns.
    pub senders: Vec<String>,
    /// The Markdown source of each message.
    pub texts: Vec<&'s str>,
    /// What happened after all messages were sent.
    pub changes: Vec<SeedChange<'s>>,
}

/// A custom profile field with its values.
pub struct SeedField<'s> {
    pub kind: FieldKind,
    pub name: &'s str,
    pub hint: &'s str,
    /// JSON text: the choices, or which external account; empty when the kind has none.
    pub data: &'s str,
    pub is_in_summary: bool,
    /// E-mail addresses with values. Values of a field for people are e-mail addresses too.
    pub values: Vec<(&'s str, &'s str)>,
}

/// A folder of channels.
pub struct SeedFolder<'s> {
    pub name: &'s str,
    /// The Markdown source.
    pub description: &'s str,
}

/// A custom emoji.
pub struct SeedEmoji<'s> {
    pub name: &'s str,
    /// Name of the blob, which the caller stores.
    pub file: &'s str,
    /// E-mail address of the user who added it.
    pub author: &'s str,
}

/// An uploaded picture, whose blob the caller stores.
pub struct SeedFile<'s> {
    /// The path below the organization's: 2 characters, 24 characters, and the name, with slashes between.
    pub path: &'s str,
    pub name: &'s str,
    /// E-mail address of the user who uploaded it.
    pub owner: &'s str,
    pub bytes: u64,
    pub content_type: &'s str,
    /// Width and height in pixels.
    pub pixels: (u32, u32),
}

/// A change of a thread. Messages are named by their position in it, people by their e-mail addresses.
#[derive(Clone, Copy, Debug)]
pub enum SeedChange<'s> {
    /// The sender replaced the text of a message.
    Edited { message: usize, text: &'s str },
    /// The whole topic got another name; also resolving it. A notice follows.
    Moved { by: &'s str, topic: &'s str },
    /// A user added a reaction.
    Reacted { message: usize, by: &'s str, emoji: &'s str },
    /// A user starred a message.
    Starred { message: usize, by: &'s str },
}
