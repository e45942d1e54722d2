//! People and bots.

use crate::ids::{ProfileFieldId, UserId};
use crate::profile_field::ProfileValue;
use crate::push::Hidden;
use crate::setting::Settings;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Role in the organization; a smaller code is more powerful (api.md, conventions 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    /// 100
    Owner,
    /// 200
    Administrator,
    /// 300
    Moderator,
    /// 400
    Member,
    /// 600
    Guest,
}

impl Role {
    /// The code on the wire.
    pub fn code(self) -> u16 {
        match self {
            Self::Owner => 100,
            Self::Administrator => 200,
            Self::Moderator => 300,
            Self::Member => 400,
            Self::Guest => 600,
        }
    }

    /// The role with a wire code.
    pub fn from_code(code: i64) -> Option<Self> {
        [Self::Owner, Self::Administrator, Self::Moderator, Self::Member, Self::Guest]
            .into_iter()
            .find(|role| i64::from(role.code()) == code)
    }
}

/// What kind of bot; codes as on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BotKind {
    /// 1
    Generic,
    /// 2: may only send.
    IncomingWebhook,
    /// 3
    OutgoingWebhook,
    /// 4
    Embedded,
}

impl BotKind {
    /// The code on the wire.
    pub fn code(self) -> u8 {
        match self {
            Self::Generic => 1,
            Self::IncomingWebhook => 2,
            Self::OutgoingWebhook => 3,
            Self::Embedded => 4,
        }
    }
}

/// What makes a user a bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bot {
    /// Its kind.
    pub kind: BotKind,
    /// Who answers for it; none for the server's own bots.
    pub owner: Option<UserId>,
    /// One of the server's own bots (notices, welcome, mail).
    pub is_system: bool,
}

/// A person or bot of an organization.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// Unique in the organization.
    pub id: UserId,
    /// The real address; bots have one too.
    pub delivery_email: String,
    /// Display name.
    pub full_name: String,
    /// Role.
    pub role: Role,
    /// False once deactivated.
    pub is_active: bool,
    /// Present for bots.
    pub bot: Option<Bot>,
    /// When the account was created.
    pub joined: Timestamp,
    /// IANA identifier, or empty.
    pub timezone: String,
    /// Counts avatar changes, for caches.
    pub avatar_version: u32,
    /// argon2id hash in PHC form; none when no password was ever set.
    pub password_hash: Option<String>,
    /// Part of what the API key is derived from: one more makes the old key invalid.
    pub api_key_rotation: u32,
    /// Changed settings by wire name.
    pub settings: Settings,
    /// What the user filled in, by field. Values of fields that are gone may still be there; nobody sees them.
    pub profile_data: BTreeMap<ProfileFieldId, ProfileValue>,
}

impl fmt::Debug for User {
    /// Everything but the hash of the password, of which only is said whether there is one.
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
            .field("password_hash", &self.password_hash.as_ref().map(|_| Hidden(())))
            .field("api_key_rotation", &self.api_key_rotation)
            .field("settings", &self.settings)
            .field("profile_data", &self.profile_data)
            .finish()
    }
}

impl User {
    /// A person who joined and changed nothing yet: active, no bot, without a password.
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

    /// Whether this is one of the server's own bots.
    pub fn is_system_bot(&self) -> bool {
        self.bot.as_ref().is_some_and(|bot| bot.is_system)
    }

    /// Guests see only what they were let in to.
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

    /// A value of the settings map that is a boolean, or the given default.
    pub fn bool_setting(&self, name: &str, default: bool) -> bool {
        match self.settings.get(name) {
            Some(crate::SettingValue::Bool(value)) => *value,
            _ => default,
        }
    }

    /// A value of the settings map that is a number, or the given default.
    pub fn int_setting(&self, name: &str, default: i64) -> i64 {
        match self.settings.get(name) {
            Some(crate::SettingValue::Int(value)) => *value,
            _ => default,
        }
    }
}
