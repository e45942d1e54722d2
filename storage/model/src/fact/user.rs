//! Facts about users: their records, accounts, profile values, and the configuration of bots.

use crate::bot::BotConfig;
use crate::ids::{MessageId, ProfileFieldId, UserId};
use crate::profile_field::ProfileValue;
use crate::user::User;
use serde::{Deserialize, Serialize};

/// A change of a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UserFact {
    /// A person or bot was created.
    Created(Box<User>),
    /// A user's record is now this.
    Changed(Box<User>),
    /// An account was deactivated or reactivated. Its subscriptions and memberships stay; while it is inactive they
    /// do not count, and it receives nothing.
    ActiveSet {
        user: UserId,
        is_active: bool,
        /// The newest message then: what the user received ends with it, or begins after it.
        last: MessageId,
        /// An upper bound of the events: it grows with the groups, channels and settings that name the user.
        events: u32,
    },
    /// Follows facts that change who may see whom where not everybody sees everybody; its events say who was gained
    /// and lost.
    VisibilityChanged { events: u32 },
    /// Custom profile values of a user changed.
    ProfileValuesSet {
        user: UserId,
        /// Only those that changed; none: the field has no value any more.
        values: Vec<(ProfileFieldId, Option<ProfileValue>)>,
    },
    /// Personal settings were set to the values that they had. Changes nothing; clients receive them again.
    SettingsRestated { user: UserId, settings: Vec<String> },
    /// A bot was created or configured.
    BotConfigured {
        bot: UserId,
        /// The configuration before; none: it is new.
        before: Option<Box<BotConfig>>,
        config: Box<BotConfig>,
    },
}

impl UserFact {
    /// An upper bound of how many events this fact leads to.
    pub fn events_max(&self) -> u64 {
        match self {
            Self::Created(_) => 2,
            Self::Changed(_) => EVENTS_OF_USER,
            Self::ActiveSet { events, .. } | Self::VisibilityChanged { events } => u64::from(*events),
            Self::ProfileValuesSet { values, .. } => values.len() as u64,
            // The current form and two legacy ones.
            Self::SettingsRestated { settings, .. } => settings.len() as u64 * 3,
            // One for each property.
            Self::BotConfigured { .. } => 8,
        }
    }
}

/// More events than a change of a user leads to: all settings in two forms, the user's record, channels.
const EVENTS_OF_USER: u64 = 256;
