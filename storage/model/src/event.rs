//! Events: what clients are told, resolved so far that encoding needs nothing else.
//!
//! An event is made once and shared by all queues. The edge turns it into JSON in the form that a
//! client asked for and keeps the bytes in `encoded`, so that each form is written once.

use crate::channel::Channel;
use crate::flags::{Flag, FlagOp};
use crate::group::UserGroup;
use crate::ids::{ChannelId, EventNumber, MessageId, QueueId, UserId};
use crate::message::Message;
use crate::subscription::Subscription;
use crate::time::Timestamp;
use crate::topic::VisibilityPolicy;
use crate::user::User;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};

macro_rules! event_kinds {
    ($($name:ident $word:literal,)*) => {
        /// The type of an event.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the wire words say it")]
        pub enum EventKind { $($name,)* }

        impl EventKind {
            /// All types.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word on the wire.
            pub fn word(self) -> &'static str {
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
}

/// A set of event types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventKinds(pub u64);

impl EventKinds {
    /// Every type.
    pub const ALL: Self = Self(u64::MAX);
    /// No type.
    pub const NONE: Self = Self(0);

    /// The set of these types.
    pub fn of(kinds: &[EventKind]) -> Self {
        Self(kinds.iter().fold(0, |bits, kind| bits | 1 << *kind as u64))
    }

    /// The set named by wire words; unknown words are left out.
    pub fn from_words<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let mut bits = 0;
        for word in words {
            if let Some(kind) = EventKind::ALL.iter().find(|kind| kind.word() == word) {
                bits |= 1 << *kind as u64;
            }
        }
        Self(bits)
    }

    /// Whether a type is in the set. Heartbeats are for everybody.
    pub fn contains(self, kind: EventKind) -> bool {
        kind == EventKind::Heartbeat || self.0 & (1 << kind as u64) != 0
    }
}

/// A channel with what is counted about it, as clients see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelSummary {
    /// Its record.
    pub channel: Arc<Channel>,
    /// Its oldest message.
    pub first_message: Option<MessageId>,
    /// Active subscribers.
    pub subscriber_count: u32,
    /// Messages a week, rounded; none for young channels.
    pub weekly_traffic: Option<u32>,
}

/// A channel as one subscriber sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscribedChannel {
    /// The channel.
    pub summary: ChannelSummary,
    /// The user's own record.
    pub subscription: Arc<Subscription>,
    /// Everybody subscribed; shared between the events of one change.
    pub subscribers: Arc<[UserId]>,
}

/// Where somebody is typing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypingPlace {
    /// In a direct conversation: everybody in it, the typing one included.
    Direct(Vec<Arc<User>>),
    /// In a topic.
    Channel {
        /// The channel.
        channel: ChannelId,
        /// The topic.
        topic: String,
    },
}

/// Where an unread message is, for clients that had dropped it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadDetail {
    /// The message.
    pub id: MessageId,
    /// The user is mentioned in it.
    pub is_mentioned: bool,
    /// Channel, topic, and whether neither is muted; none for direct messages.
    pub channel: Option<(ChannelId, String, bool)>,
    /// The others of a direct conversation, sorted.
    pub users: Vec<UserId>,
}

/// A sender of a message and whom it went to, as of when it was announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageContext {
    /// Who wrote it.
    pub sender: Arc<User>,
    /// The channel's name, for channel messages.
    pub channel_name: Option<Arc<str>>,
    /// Everybody in the conversation, sorted by id, for direct messages.
    pub participants: Vec<Arc<User>>,
}

/// What happened, by type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventBody {
    /// A message; flags differ from reader to reader and are beside it.
    Message {
        /// The message.
        message: Arc<Message>,
        /// Who and where.
        context: MessageContext,
    },
    /// Flags of the reader's own messages.
    Flags {
        /// Which flag.
        flag: Flag,
        /// Set or cleared.
        op: FlagOp,
        /// On these, ascending.
        messages: Vec<MessageId>,
        /// For messages that became unread.
        details: Vec<UnreadDetail>,
    },
    /// Channels that the reader can see from now on.
    ChannelsCreated(Vec<ChannelSummary>),
    /// Channels that the reader can no longer see.
    ChannelsLost(Vec<ChannelId>),
    /// `is_recently_active` of a channel.
    ChannelActivity {
        /// The channel.
        channel: Arc<Channel>,
    },
    /// The reader was subscribed.
    SubscriptionsAdded(Vec<SubscribedChannel>),
    /// The reader was unsubscribed; id and name.
    SubscriptionsRemoved(Vec<(ChannelId, String)>),
    /// Others were subscribed to channels that the reader sees.
    PeersAdded {
        /// The channel.
        channel: ChannelId,
        /// Who.
        users: Arc<[UserId]>,
    },
    /// Others were unsubscribed.
    PeersRemoved {
        /// The channel.
        channel: ChannelId,
        /// Who.
        users: Arc<[UserId]>,
    },
    /// The channels for new people.
    DefaultChannels(Vec<ChannelId>),
    /// The reader's policy for a topic.
    UserTopic {
        /// The channel.
        channel: ChannelId,
        /// As spelled.
        topic: String,
        /// When.
        updated: Timestamp,
        /// The policy.
        policy: VisibilityPolicy,
    },
    /// All muted topics of the reader (channel name, topic, when): for clients without `UserTopic`.
    MutedTopics(Vec<(String, String, Timestamp)>),
    /// Somebody starts (true) or stops typing.
    Typing {
        /// Who.
        sender: Arc<User>,
        /// Whether it starts.
        is_start: bool,
        /// Where.
        place: TypingPlace,
    },
    /// Somebody was here.
    Presence {
        /// Who.
        user: Arc<User>,
        /// Last active.
        active: Option<Timestamp>,
        /// Last connected without being active.
        idle: Option<Timestamp>,
        /// Whether the report that caused this said active.
        is_active: bool,
        /// Now, by the server's clock.
        server: Timestamp,
    },
    /// A new person or bot.
    UserAdded(Arc<User>),
    /// A new group.
    GroupAdded(Arc<UserGroup>),
    /// New direct members of a group.
    GroupMembersAdded {
        /// The group.
        group: crate::ids::GroupId,
        /// Who.
        users: Vec<UserId>,
    },
    /// Former direct members of a group.
    GroupMembersRemoved {
        /// The group.
        group: crate::ids::GroupId,
        /// Who.
        users: Vec<UserId>,
    },
    /// Nothing happened for a while.
    Heartbeat,
}

impl EventBody {
    /// The type of the event.
    pub fn kind(&self) -> EventKind {
        match self {
            Self::Message { .. } => EventKind::Message,
            Self::Flags { .. } => EventKind::UpdateMessageFlags,
            Self::ChannelsCreated(_) | Self::ChannelsLost(_) | Self::ChannelActivity { .. } => {
                EventKind::Channel
            }
            Self::SubscriptionsAdded(_)
            | Self::SubscriptionsRemoved(_)
            | Self::PeersAdded { .. }
            | Self::PeersRemoved { .. } => EventKind::Subscription,
            Self::DefaultChannels(_) => EventKind::DefaultChannels,
            Self::UserTopic { .. } => EventKind::UserTopic,
            Self::MutedTopics(_) => EventKind::MutedTopics,
            Self::Typing { .. } => EventKind::Typing,
            Self::Presence { .. } => EventKind::Presence,
            Self::UserAdded(_) => EventKind::RealmUser,
            Self::GroupAdded(_) | Self::GroupMembersAdded { .. } | Self::GroupMembersRemoved { .. } => {
                EventKind::UserGroup
            }
            Self::Heartbeat => EventKind::Heartbeat,
        }
    }
}

/// How many encoded forms of one event are kept.
pub const EVENT_FORMS_MAX: usize = 8;

/// Something that clients are told, shared by all queues it is in.
#[derive(Debug)]
pub struct Event {
    /// Its number in the organization.
    pub number: EventNumber,
    /// What happened.
    pub body: EventBody,
    /// Encoded forms, each written by the first client that needs it.
    pub encoded: [OnceLock<Bytes>; EVENT_FORMS_MAX],
}

impl Event {
    /// An event that nobody has encoded yet.
    pub fn new(number: EventNumber, body: EventBody) -> Self {
        Self { number, body, encoded: Default::default() }
    }
}

/// Whose queues get an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Everybody in the organization.
    Everyone,
    /// Everybody but guests.
    NonGuests,
    /// These users, sorted.
    Users(Arc<[UserId]>),
    /// Those who receive this message: subscribers of its channel and clients that asked for all public
    /// channels, or the people of its conversation.
    Readers(Arc<Message>),
    /// One queue alone.
    Queue(QueueId),
}
