//! Events: what clients are told, resolved so far that encoding needs nothing else.
//!
//! An event is made once and shared by all queues. The edge turns it into JSON in the form that a
//! client asked for and keeps the bytes in `encoded`, so that each form is written once.

mod changes;
mod clients;
mod kinds;

pub use changes::{
    BotChange, ChangedContent, ChangedSetting, ChannelChange, FolderChange, GroupChange, MessageChange,
    MovedMessages, RealmChange, SettingForm, StatusChange, SubscriptionChange, UserChange,
};
pub use clients::Clients;
pub use kinds::{EventKind, EventKinds};

use crate::bot::BotConfig;
use crate::channel::{Channel, ChannelFolder};
use crate::flags::{Flag, FlagOp, Flags};
use crate::group::UserGroup;
use crate::ids::{ChannelId, EventNumber, FolderId, GroupId, MessageId, QueueId, RealmId, UserId};
use crate::lists::{DomainOp, LinkifierRecord, Listed, Playground, RealmDomain};
use crate::message::{Message, Reaction, Submessage};
use crate::personal::NavigationView;
use crate::picture::{RealmEmoji, RealmPicture};
use crate::profile_field::ProfileFields;
use crate::push::PushStatus;
use crate::setting::SettingValue;
use crate::subscription::Subscription;
use crate::time::Timestamp;
use crate::topic::VisibilityPolicy;
use crate::user::User;
use bytes::Bytes;
use std::sync::{Arc, OnceLock};

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
    /// One property of a channel.
    ChannelChanged {
        /// The channel.
        channel: ChannelId,
        /// Its name, before the change where it is the name that changed.
        name: String,
        /// What it is now.
        change: ChannelChange,
    },
    /// Messages were edited or moved; flags of the target differ from reader to reader and are beside it.
    MessageChanged(Box<MessageChange>),
    /// Messages are gone, at least for the reader. It has as many numbers as messages, the event's own being
    /// the last: clients without bulk deletion are told of each by itself.
    MessagesDeleted {
        /// Where they were: channel and topic; none for direct messages.
        place: Option<(ChannelId, String)>,
        /// Which, ascending.
        messages: Vec<MessageId>,
    },
    /// Somebody reacted (true), or took a reaction back.
    Reaction {
        /// To which message.
        message: MessageId,
        /// The reaction.
        reaction: Reaction,
        /// Who.
        user: Arc<User>,
        /// Whether it is new.
        is_added: bool,
    },
    /// A widget got another part.
    Submessage {
        /// The message.
        message: MessageId,
        /// The part.
        submessage: Submessage,
    },
    /// One property of the reader's own subscription.
    SubscriptionChanged {
        /// The channel.
        channel: ChannelId,
        /// What it is now.
        change: SubscriptionChange,
    },
    /// A new folder of channels.
    FolderAdded(Arc<ChannelFolder>),
    /// A folder of channels.
    FolderChanged {
        /// Which.
        folder: FolderId,
        /// What it is now.
        change: FolderChange,
    },
    /// All folders, in their new order.
    FoldersReordered(Vec<FolderId>),
    /// The reader's alert words, all of them.
    AlertWords(Vec<String>),
    /// What somebody says about themselves.
    UserStatus {
        /// Who.
        user: UserId,
        /// What they say now, as far as it changed.
        change: StatusChange,
    },
    /// Whom the reader mutes, all of them, and since when.
    MutedUsers(Vec<(UserId, Timestamp)>),
    /// A new view in the reader's sidebar.
    NavigationViewAdded {
        /// Which.
        fragment: String,
        /// What it is.
        view: NavigationView,
    },
    /// A view in the reader's sidebar.
    NavigationViewChanged {
        /// Which.
        fragment: String,
        /// Whether it is pinned, if that changed.
        is_pinned: Option<bool>,
        /// Its name, if that changed.
        name: Option<String>,
    },
    /// A view in the reader's sidebar is gone.
    NavigationViewRemoved(String),
    /// All custom profile fields.
    ProfileFields(Arc<ProfileFields>),
    /// Settings of the organization.
    RealmChanged(RealmChange),
    /// A person or bot.
    UserChanged {
        /// Who.
        user: UserId,
        /// What they are now.
        change: UserChange,
    },
    /// One of the reader's own settings.
    SettingChanged(ChangedSetting),
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
    /// A new person or bot, or one of whom the reader may know from now on.
    UserAdded(Arc<User>),
    /// Somebody came of whom the reader must not know, for clients that cannot do without a record of everybody.
    UnknownUserAdded(Arc<User>),
    /// The reader must not know of somebody any more.
    UserRemoved(UserId),
    /// A setting that new people start with.
    DefaultSettingChanged {
        /// Wire name.
        name: &'static str,
        /// The new value.
        value: SettingValue,
    },
    /// A new group.
    GroupAdded(Arc<UserGroup>),
    /// New direct members of a group.
    GroupMembersAdded {
        /// The group.
        group: GroupId,
        /// Who.
        users: Vec<UserId>,
    },
    /// Former direct members of a group.
    GroupMembersRemoved {
        /// The group.
        group: GroupId,
        /// Who.
        users: Vec<UserId>,
    },
    /// A group but for its members.
    GroupChanged {
        /// The group.
        group: GroupId,
        /// What it is now.
        change: Box<GroupChange>,
    },
    /// New direct subgroups of a group.
    SubgroupsAdded {
        /// The group.
        group: GroupId,
        /// Which.
        subgroups: Vec<GroupId>,
    },
    /// Former direct subgroups of a group.
    SubgroupsRemoved {
        /// The group.
        group: GroupId,
        /// Which.
        subgroups: Vec<GroupId>,
    },
    /// A group is gone, for clients that know nothing of deactivated ones.
    GroupRemoved(GroupId),
    /// A domain of the organization.
    Domain {
        /// Its record.
        domain: RealmDomain,
        /// What became of it.
        op: DomainOp,
    },
    /// All linkifiers.
    Linkifiers(Arc<Listed<LinkifierRecord>>),
    /// All playgrounds.
    Playgrounds(Arc<Listed<Playground>>),
    /// There are other invitations than before.
    InvitationsChanged,
    /// The organization is closed.
    RealmDeactivated(RealmId),
    /// One of the reader's phones is registered, or was refused.
    PushDeviceChanged {
        /// The number that the phone gave to this account of its.
        account: i64,
        /// How far its registration has come.
        status: PushStatus,
    },
    /// A bot that the reader looks after: a new one, or a new charge.
    BotAdded {
        /// Its record.
        bot: Arc<User>,
        /// What is set for it.
        config: Arc<BotConfig>,
    },
    /// A bot that the reader looks after.
    BotChanged {
        /// Which.
        bot: UserId,
        /// What it is now.
        change: BotChange,
    },
    /// A bot that the reader no longer looks after.
    BotRemoved(UserId),
    /// All emoji of the organization's own, with those no longer offered.
    RealmEmoji(Arc<[Arc<RealmEmoji>]>),
    /// The organization's icon or a logo.
    RealmPictureChanged {
        /// Which.
        which: RealmPicture,
        /// Where it is now.
        url: String,
        /// Wire word for where it comes from.
        source: &'static str,
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
            Self::ChannelsCreated(_) | Self::ChannelsLost(_) | Self::ChannelChanged { .. } => {
                EventKind::Channel
            }
            Self::MessageChanged(_) => EventKind::UpdateMessage,
            Self::MessagesDeleted { .. } => EventKind::DeleteMessage,
            Self::Reaction { .. } => EventKind::Reaction,
            Self::Submessage { .. } => EventKind::Submessage,
            Self::FolderAdded(_) | Self::FolderChanged { .. } | Self::FoldersReordered(_) => {
                EventKind::ChannelFolder
            }
            Self::AlertWords(_) => EventKind::AlertWords,
            Self::UserStatus { .. } => EventKind::UserStatus,
            Self::MutedUsers(_) => EventKind::MutedUsers,
            Self::NavigationViewAdded { .. }
            | Self::NavigationViewChanged { .. }
            | Self::NavigationViewRemoved(_) => EventKind::NavigationView,
            Self::ProfileFields(_) => EventKind::CustomProfileFields,
            Self::RealmChanged(_) | Self::RealmDeactivated(_) => EventKind::Realm,
            Self::InvitationsChanged => EventKind::InvitesChanged,
            Self::Domain { .. } => EventKind::RealmDomains,
            Self::Linkifiers(_) => EventKind::RealmLinkifiers,
            Self::Playgrounds(_) => EventKind::RealmPlaygrounds,
            Self::SettingChanged(setting) => setting.form.kind(),
            Self::SubscriptionsAdded(_)
            | Self::SubscriptionsRemoved(_)
            | Self::SubscriptionChanged { .. }
            | Self::PeersAdded { .. }
            | Self::PeersRemoved { .. } => EventKind::Subscription,
            Self::DefaultChannels(_) => EventKind::DefaultChannels,
            Self::UserTopic { .. } => EventKind::UserTopic,
            Self::MutedTopics(_) => EventKind::MutedTopics,
            Self::Typing { .. } => EventKind::Typing,
            Self::Presence { .. } => EventKind::Presence,
            Self::UserAdded(_)
            | Self::UnknownUserAdded(_)
            | Self::UserRemoved(_)
            | Self::UserChanged { .. } => EventKind::RealmUser,
            Self::DefaultSettingChanged { .. } => EventKind::RealmUserSettingsDefaults,
            Self::GroupAdded(_)
            | Self::GroupMembersAdded { .. }
            | Self::GroupMembersRemoved { .. }
            | Self::GroupChanged { .. }
            | Self::SubgroupsAdded { .. }
            | Self::SubgroupsRemoved { .. }
            | Self::GroupRemoved(_) => EventKind::UserGroup,
            Self::PushDeviceChanged { .. } => EventKind::PushDevice,
            Self::BotAdded { .. } | Self::BotChanged { .. } | Self::BotRemoved(_) => EventKind::RealmBot,
            Self::RealmEmoji(_) => EventKind::RealmEmoji,
            Self::RealmPictureChanged { .. } => EventKind::Realm,
            Self::Heartbeat => EventKind::Heartbeat,
        }
    }

    /// How many numbers the event has, its own being the last of them.
    pub fn numbers(&self) -> u64 {
        match self {
            Self::MessagesDeleted { messages, .. } => messages.len().max(1) as u64,
            _ => 1,
        }
    }
}

/// How many encoded forms of one event are kept.
pub const EVENT_FORMS_MAX: usize = 8;

/// Something that clients are told, shared by all queues it is in.
#[derive(Debug)]
pub struct Event {
    /// Its number in the organization; the last of them where it has several.
    pub number: EventNumber,
    /// What happened.
    pub body: EventBody,
    /// Which clients it is for.
    pub clients: Clients,
    /// Encoded forms, each written by the first client that needs it.
    pub encoded: [OnceLock<Bytes>; EVENT_FORMS_MAX],
}

impl Event {
    /// An event for all clients that nobody has encoded yet.
    pub fn new(number: EventNumber, body: EventBody) -> Self {
        Self { number, body, clients: Clients::All, encoded: Default::default() }
    }

    /// The first of its numbers.
    pub fn first_number(&self) -> EventNumber {
        EventNumber(self.number.0 - (self.body.numbers() - 1))
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
    /// These users, sorted, each with what the message is to them.
    Flagged(Arc<[(UserId, Flags)]>),
    /// Those who receive this message: subscribers of its channel and clients that asked for all public
    /// channels, or the people of its conversation.
    Readers(Arc<Message>),
    /// One queue alone.
    Queue(QueueId),
}
