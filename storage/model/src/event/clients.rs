//! Selects the clients of an event by their capabilities.

use crate::queue::ClientCapabilities;

/// The clients that an event is for, where capabilities decide between two events about the same change
/// (docs/api/events.md#client-capabilities).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clients {
    /// All clients, whatever their capabilities.
    #[default]
    All,
    KnowArchived,
    /// Clients that treat an archived channel as deleted.
    IgnoreArchived,
    KnowDeactivated,
    /// Clients that treat a deactivated group as deleted.
    IgnoreDeactivated,
    KnowLinkifiers,
    /// Clients without the `user_settings` object.
    LegacySettings,
    /// Clients that need a record of every user, including users they may not see.
    ListEverybody,
}

impl Clients {
    /// Whether a client with these capabilities is included.
    pub fn include(self, capabilities: &ClientCapabilities) -> bool {
        match self {
            Self::All => true,
            Self::KnowArchived => capabilities.archived_channels,
            Self::IgnoreArchived => !capabilities.archived_channels,
            Self::KnowDeactivated => capabilities.include_deactivated_groups,
            Self::IgnoreDeactivated => !capabilities.include_deactivated_groups,
            Self::KnowLinkifiers => capabilities.linkifier_url_template,
            Self::LegacySettings => !capabilities.user_settings_object,
            Self::ListEverybody => !capabilities.user_list_incomplete,
        }
    }
}
