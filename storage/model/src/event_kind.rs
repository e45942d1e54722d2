//! Event types with their wire names, and sets of them.
//!
//! Sets are stored with registered queues: types are only ever added at the end.

use serde::{Deserialize, Serialize};

macro_rules! event_kinds {
    ($($name:ident $word:literal,)*) => {
        /// The type of an event.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum EventKind { $($name,)* }

        impl EventKind {
            /// All types in the order of their bits.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The `type` of events in the API.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

event_kinds! {
    AlertWords "alert_words",
    Attachment "attachment",
    ChannelFolder "channel_folder",
    CustomProfileFields "custom_profile_fields",
    DefaultChannels "default_streams",
    DefaultChannelGroups "default_stream_groups",
    DeleteMessage "delete_message",
    Drafts "drafts",
    Heartbeat "heartbeat",
    InvitesChanged "invites_changed",
    Message "message",
    MutedTopics "muted_topics",
    MutedUsers "muted_users",
    NavigationView "navigation_view",
    OnboardingSteps "onboarding_steps",
    Presence "presence",
    PushDevice "push_device",
    Reaction "reaction",
    Realm "realm",
    RealmBot "realm_bot",
    RealmDomains "realm_domains",
    RealmEmoji "realm_emoji",
    RealmExport "realm_export",
    RealmLinkifiers "realm_linkifiers",
    RealmPlaygrounds "realm_playgrounds",
    RealmUser "realm_user",
    RealmUserSettingsDefaults "realm_user_settings_defaults",
    Reminders "reminders",
    Restart "restart",
    SavedSnippets "saved_snippets",
    ScheduledMessages "scheduled_messages",
    Channel "stream",
    Submessage "submessage",
    Subscription "subscription",
    Typing "typing",
    TypingEditMessage "typing_edit_message",
    UpdateMessage "update_message",
    UpdateMessageFlags "update_message_flags",
    UserGroup "user_group",
    UserSettings "user_settings",
    UserStatus "user_status",
    UserTopic "user_topic",
    WebReloadClient "web_reload_client",
    DisplaySettings "update_display_settings",
    GlobalNotifications "update_global_notifications",
    RealmExportConsent "realm_export_consent",
}

/// A set of event types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventKinds(pub u64);

impl EventKinds {
    /// All types, future ones included.
    pub const ALL: Self = Self(u64::MAX);
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// The set of these types.
    pub fn of(kinds: &[EventKind]) -> Self {
        Self(kinds.iter().fold(0, |bits, kind| bits | 1 << *kind as u64))
    }

    /// The set of these wire names; unknown names are ignored.
    pub fn from_names<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let kinds =
            words.into_iter().filter_map(|word| EventKind::ALL.iter().find(|kind| kind.as_str() == word));
        Self::of(&kinds.copied().collect::<Vec<_>>())
    }

    /// Whether a type is in the set. Heartbeats are in every set.
    pub fn contains(self, kind: EventKind) -> bool {
        kind == EventKind::Heartbeat || self.0 & (1 << kind as u64) != 0
    }
}
