//! What a seed says: tables of people, lists, channels and messages.

use crate::presence::Report;
use model::{BotKind, FieldKind, Role, SettingValue, User, UserId};

/// The content of a sample organization. People are named by their e-mail addresses.
pub struct Seed {
    pub description: &'static str,
    /// Settings of the organization that differ from the defaults.
    pub settings: Vec<(&'static str, SettingValue)>,
    /// The id of the first user; the others follow.
    pub first_id: UserId,
    /// Owners come before their bots.
    pub users: Vec<SeedUser>,
    /// Creates the groups and channels.
    pub creator: &'static str,
    pub groups: Vec<SeedGroup>,
    /// Custom profile fields; their ids count from 1, as do those of the following lists.
    pub fields: Vec<SeedField>,
    pub folders: Vec<SeedFolder>,
    /// The onboarding steps that all people have seen.
    pub onboarding_seen: Vec<&'static str>,
    /// Patterns with their URL templates.
    pub linkifiers: Vec<(&'static str, &'static str)>,
    pub emoji: Vec<SeedEmoji>,
    /// Uploaded files; messages name them as `/user_uploads/{realm}/` and the path.
    pub files: Vec<SeedFile>,
    /// Channels; their ids count from 1.
    pub channels: Vec<SeedChannel>,
    /// Topics and direct conversations. Their messages are interleaved.
    pub threads: Vec<SeedThread>,
    /// Who was seen, in which way, and how many seconds ago; the earliest comes first.
    pub seen: Vec<(&'static str, Report, u64)>,
}

/// A person or bot.
pub struct SeedUser {
    pub email: &'static str,
    pub full_name: &'static str,
    pub role: Role,
    /// IANA identifier, or empty.
    pub timezone: &'static str,
    /// None: no login with a password.
    pub password_hash: Option<&'static str>,
    /// Settings that differ from the defaults.
    pub settings: Vec<(&'static str, SettingValue)>,
    /// The kind of a bot, and its owner.
    pub bot: Option<(BotKind, &'static str)>,
}

/// A user group.
pub struct SeedGroup {
    pub name: &'static str,
    pub description: &'static str,
    pub members: Vec<&'static str>,
}

/// A channel of a seed.
pub struct SeedChannel {
    pub name: &'static str,
    /// The Markdown source.
    pub description: &'static str,
    /// Whether only subscribers know of it.
    pub is_private: bool,
    /// Whether it can be read without an account.
    pub is_web_public: bool,
    /// Whether new subscribers can read earlier messages; false only for private channels.
    pub shows_history: bool,
    /// The name of its folder.
    pub folder: Option<&'static str>,
    /// Whether new members are subscribed.
    pub is_default: bool,
    pub subscribes: fn(&User) -> bool,
}

/// A topic or direct conversation.
pub struct SeedThread {
    /// Channel and topic; none for a direct conversation of its writers.
    pub topic: Option<(&'static str, &'static str)>,
    /// E-mail addresses, in turns.
    pub writers: Vec<String>,
    /// The Markdown source of each message.
    pub texts: Vec<&'static str>,
    /// What happened after all messages were sent.
    pub changes: Vec<SeedChange>,
}

/// A custom profile field with its values.
pub struct SeedField {
    pub kind: FieldKind,
    pub name: &'static str,
    pub hint: &'static str,
    /// JSON text: the choices, or which external account; empty when the kind has none.
    pub data: &'static str,
    pub is_in_summary: bool,
    /// E-mail addresses with values. Values of a field for people are e-mail addresses too.
    pub values: Vec<(&'static str, &'static str)>,
}

/// A folder of channels.
pub struct SeedFolder {
    pub name: &'static str,
    /// The Markdown source.
    pub description: &'static str,
}

/// A custom emoji.
pub struct SeedEmoji {
    pub name: &'static str,
    /// Name of the blob, which the caller stores.
    pub file: &'static str,
    /// E-mail address of the user who added it.
    pub author: &'static str,
}

/// An uploaded picture, whose blob the caller stores.
pub struct SeedFile {
    /// The path below the organization's: 2 characters, 24 characters, and the name, with slashes between.
    pub path: &'static str,
    pub name: &'static str,
    /// E-mail address of the user who uploaded it.
    pub owner: &'static str,
    pub bytes: u64,
    pub content_type: &'static str,
    /// Width and height in pixels.
    pub pixels: (u32, u32),
}

/// A change of a thread. Messages are named by their position in it, people by their e-mail addresses.
#[derive(Clone, Copy, Debug)]
pub enum SeedChange {
    /// The sender replaced the text of a message.
    Edited { message: usize, text: &'static str },
    /// The whole topic got another name; also resolving it. A notice follows.
    Moved { by: &'static str, topic: &'static str },
    /// A user added a reaction.
    Reacted { message: usize, by: &'static str, emoji: &'static str },
    /// A user starred a message.
    Starred { message: usize, by: &'static str },
}
