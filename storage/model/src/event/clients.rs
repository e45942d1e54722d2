//! Which clients are told of what, where that depends on what they can handle.

use crate::queue::ClientCapabilities;

/// Which clients an event is for, where what they can handle decides between two ways of telling the same
/// (events.md 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clients {
    /// All.
    #[default]
    All,
    /// Those that know archived channels.
    KnowArchived,
    /// Those for which an archived channel is gone.
    IgnoreArchived,
    /// Those that know deactivated groups.
    KnowDeactivated,
    /// Those for which a deactivated group is gone.
    IgnoreDeactivated,
    /// Those that know linkifiers with URL templates.
    KnowLinkifiers,
    /// Those that read settings where they were before they had an object of their own.
    LegacySettings,
    /// Those that need a record of everybody, also of whom they must not know.
    ListEverybody,
}

impl Clients {
    /// Whether a client with these capabilities is among them.
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
