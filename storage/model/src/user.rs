//! Users: people and bots.

use crate::ids::{ProfileFieldId, UserId};
use crate::profile_field::ProfileValue;
use crate::redacted::Redacted;
use crate::setting::Settings;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Role in the organization, with its API code; a smaller code has more permissions (docs/api/permissions.md#roles).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    /// Code 100: may do everything, including managing owners.
    Owner,
    /// Code 200: administers everything but owners.
    Administrator,
    /// Code 300: a member with additional permissions.
    Moderator,
    /// Code 400: the default for new users.
    Member,
    /// Code 600: sees only channels that it was subscribed to.
    Guest,
}

impl Role {
    /// The code in the API.
    pub fn code(self) -> u16 {
        match self {
            Self::Owner => 100,
            Self::Administrator => 200,
            Self::Moderator => 300,
            Self::Member => 400,
            Self::Guest => 600,
        }
    }

    /// The role with an API code.
    pub fn from_code(code: i64) -> Option<Self> {
        [Self::Owner, Self::Administrator, Self::Moderator, Self::Member, Self::Guest]
            .into_iter()
            .find(|role| i64::from(role.code()) == code)
    }
}

/// The kind of a bot, with its API code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BotKind {
    /// Code 1: a program that uses the API like a user.
    Generic,
    /// Code 2: may only send messages.
    IncomingWebhook,
    /// Code 3: messages to it are sent to a service.
    OutgoingWebhook,
    /// Code 4: runs inside the server; cannot be created here.
    Embedded,
}

impl BotKind {
    /// The code in the API.
    pub fn code(self) -> u8 {
        self as u8 + 1
    }
}

/// The properties of a bot account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bot {
    pub kind: BotKind,
    /// The responsible user; none for system bots.
    pub owner: Option<UserId>,
    /// A system bot (notification, welcome and e-mail bots).
    pub is_system: bool,
}

/// The flag in the settings of a deleted account.
const IS_DELETED: &str = "is_deleted";

/// A person or bot of an organization.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    pub id: UserId,
    /// The real e-mail address; bots have one as well.
    pub delivery_email: String,
    pub full_name: String,
    pub role: Role,
    /// False once deactivated.
    pub is_active: bool,
    pub bot: Option<Bot>,
    pub joined: Timestamp,
    /// IANA identifier, or empty.
    pub timezone: String,
    /// Incremented by each change of the avatar, for caches.
    pub avatar_version: u32,
    /// argon2id hash in PHC format; none if no password was ever set.
    pub password_hash: Option<String>,
    /// Input of the API key's derivation: incrementing it invalidates the old key.
    pub api_key_rotation: u32,
    /// Changed settings by wire name.
    pub settings: Settings,
    /// Values of profile fields. Values of deleted fields may remain but are never shown.
    pub profile_data: BTreeMap<ProfileFieldId, ProfileValue>,
}

impl fmt::Debug for User {
    /// All fields, with the password hash redacted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User")
            .field("id", &self.id)
            .field("delivery_email", &self.delivery_email)
            .field("full_name", &self.full_name)
            .field("role", &self.role)
            .field("is_active", &self.is_active)
            .field("bot", &self.bot)
            .field("joined", &self.joined)
            .field("timezone", &self.timezone)
            .field("avatar_version", &self.avatar_version)
            .field("password_hash", &self.password_hash.as_ref().map(|_| Redacted(())))
            .field("api_key_rotation", &self.api_key_rotation)
            .field("settings", &self.settings)
            .field("profile_data", &self.profile_data)
            .finish()
    }
}

impl User {
    /// A new, active person without a password and with default settings.
    pub fn new(
        id: UserId,
        delivery_email: impl Into<String>,
        full_name: impl Into<String>,
        role: Role,
        joined: Timestamp,
    ) -> Self {
        Self {
            id,
            delivery_email: delivery_email.into(),
            full_name: full_name.into(),
            role,
            is_active: true,
            bot: None,
            joined,
            timezone: String::new(),
            avatar_version: 1,
            password_hash: None,
            api_key_rotation: 0,
            settings: Settings::default(),
            profile_data: BTreeMap::new(),
        }
    }

    /// Whether this is a bot of any kind.
    pub fn is_bot(&self) -> bool {
        self.bot.is_some()
    }

    /// The owner of this bot; none for people and system bots.
    pub fn owner(&self) -> Option<UserId> {
        self.bot.as_ref().and_then(|bot| bot.owner)
    }

    /// Whether this is a system bot.
    pub fn is_system_bot(&self) -> bool {
        self.bot.as_ref().is_some_and(|bot| bot.is_system)
    }

    /// Guests see only channels that they were subscribed to.
    pub fn is_guest(&self) -> bool {
        self.role == Role::Guest
    }

    /// Administrators and owners.
    pub fn is_administrator(&self) -> bool {
        self.role <= Role::Administrator
    }

    /// Moderators, administrators and owners.
    pub fn is_moderator(&self) -> bool {
        self.role <= Role::Moderator
    }

    /// Whether the account was deleted: its record is a placeholder.
    pub fn is_deleted(&self) -> bool {
        self.bool_setting(IS_DELETED, false)
    }

    /// The record that takes the place of a deleted account, with the address that stands for it.
    pub fn deleted(&self, placeholder: String) -> Self {
        let mut settings = Settings::default();
        settings.insert(IS_DELETED.to_owned(), crate::SettingValue::Bool(true));
        Self {
            delivery_email: placeholder,
            full_name: format!("Deleted user {}", self.id),
            is_active: false,
            timezone: String::new(),
            avatar_version: self.avatar_version.saturating_add(1),
            password_hash: None,
            api_key_rotation: self.api_key_rotation.wrapping_add(1),
            settings,
            profile_data: BTreeMap::new(),
            ..self.clone()
        }
    }

    /// A boolean setting, or the default if it was never changed.
    pub fn bool_setting(&self, name: &str, default: bool) -> bool {
        match self.settings.get(name) {
            Some(crate::SettingValue::Bool(value)) => *value,
            _ => default,
        }
    }
}
