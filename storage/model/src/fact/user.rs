//! Facts about users: their records, accounts, profile values, and the configuration of bots.

use crate::bot::{BotConfig, BotIntegration};
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
    /// An account was deactivated or reactivated. Its subscriptions and memberships stay but have no effect while it is
    /// inactive.
    ActiveSet {
        user: UserId,
        is_active: bool,
        /// The newest message at that time: deliveries to the user end with it, or begin after it.
        last: MessageId,
        /// An upper bound of the events: it grows with the groups, channels and settings that name the user.
        events: u32,
    },
    /// Follows facts that change which users restricted guests may see; its events add and remove these users.
    VisibilityChanged { events: u32 },
    /// Custom profile values of a user changed.
    ProfileValuesSet {
        user: UserId,
        /// Only changed values; none if a value was removed.
        values: Vec<(ProfileFieldId, Option<ProfileValue>)>,
    },
    /// Personal settings were set to their present values. Has no effect; clients receive them again.
    SettingsRestated { user: UserId, settings: Vec<String> },
    /// A bot was created or configured.
    BotConfigured {
        bot: UserId,
        /// The configuration before; none if it is new.
        before: Option<Box<BotConfig>>,
        config: Box<BotConfig>,
    },
    /// The integration of an incoming webhook bot, or its configuration, is now this.
    BotIntegrationSet {
        bot: UserId,
        /// The bot is created by the same frame; its first event includes the integration.
        is_new: bool,
        integration: Box<BotIntegration>,
    },
    /// An account is being deleted: addresses and names of the user are removed from invitations and from the audit
    /// log. The account's record follows.
    DataErased { user: UserId },
}

impl UserFact {
    /// An upper bound of the number of events of this fact.
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
            // With its configuration, once for all managers.
            Self::BotIntegrationSet { .. } => 1,
            Self::DataErased { .. } => 0,
        }
    }
}

/// Upper bound of the events of a change of a user: all settings in two forms, the user's record, channels.
const EVENTS_OF_USER: u64 = 256;
