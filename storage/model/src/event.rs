//! Events for clients, with everything resolved that encoding needs.
//!
//! An event is created once and shared by all queues. The HTTP layer encodes it in the forms that clients requested and
//! stores the bytes in `encoded`, so that each form is encoded once.

mod attachments;
mod changes;
mod clients;
mod size;
mod texts;

pub use attachments::AttachmentChange;
pub use changes::{
    BotChange, ChangedContent, ChangedSetting, ChannelChange, FolderChange, GroupChange, MessageChange,
    MovedMessages, RealmChange, SettingForm, StatusChange, SubscriptionChange, UserChange,
};
pub use clients::Clients;
pub use texts::TextChange;

use crate::bot::{BotConfig, BotIntegration};
use crate::channel::{Channel, ChannelFolder};
use crate::event_kind::EventKind;
use crate::export::RealmExport;
use crate::flags::{Flag, FlagOp, Flags};
use crate::group::UserGroup;
use crate::ids::{
    ChannelId, DraftId, EventNumber, FolderId, GroupId, MessageId, QueueId, RealmId, SavedSnippetId,
    ScheduledMessageId, UserId,
};
use crate::lists::{DefaultChannelGroup, DomainOp, LinkifierRecord, Listed, Playground, RealmDomain};
use crate::message::{Message, Reaction, Submessage};
use crate::personal::NavigationView;
use crate::picture::{RealmEmoji, RealmPicture};
use crate::profile_field::ProfileFields;
use crate::push::PushStatus;
use crate::setting::SettingValue;
use crate::subscription::Subscription;
use crate::texts::{SavedDraft, SavedSnippet, ScheduledMessage};
use crate::time::Timestamp;
use crate::topic::VisibilityPolicy;
use crate::user::User;
use bytes::Bytes;
use std::sync::{Arc, OnceLock};

/// A channel with the figures that clients show with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelSummary {
    pub channel: Arc<Channel>,
    /// Id of the oldest message; none for an empty channel.
    pub first_message: Option<MessageId>,
    /// Number of subscribers with active accounts.
    pub subscriber_count: u32,
    /// Messages a week, rounded; none for young channels.
    pub weekly_traffic: Option<u32>,
}

/// A channel as one subscriber sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscribedChannel {
    /// The part that is the same for all subscribers.
    pub summary: ChannelSummary,
    pub subscription: Arc<Subscription>,
    /// All subscribers; shared between the events of one change.
    pub subscribers: Arc<[UserId]>,
}

/// The conversation in which a user is typing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypingConversation {
    /// A direct conversation with all its participants, the typing user included.
    Direct(Vec<Arc<User>>),
    /// A topic of a channel.
    Channel { channel: ChannelId, topic: String },
}

/// The conversation of a message that became unread, for clients that no longer know the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadDetail {
    pub id: MessageId,
    pub is_mentioned: bool,
    /// Channel, topic, and whether neither is muted; none for direct messages.
    pub channel: Option<(ChannelId, String, bool)>,
    /// The other participants of a direct conversation, sorted.
    pub users: Vec<UserId>,
}

/// The sender and the recipients of a message at the time of the event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageContext {
    pub sender: Arc<User>,
    pub channel_name: Option<Arc<str>>,
    /// All participants of the conversation, sorted by id, for direct messages.
    pub participants: Vec<Arc<User>>,
}

/// The content of an event. "The user" is the owner of the queue that gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventBody {
    /// A new message. Its flags differ between users and are not part of the event.
    Message { message: Arc<Message>, context: MessageContext },
    /// Flags of the user's own messages.
    Flags {
        flag: Flag,
        op: FlagOp,
        /// The ids are ascending.
        messages: Vec<MessageId>,
        /// Present only for messages that became unread.
        details: Vec<UnreadDetail>,
    },
    /// Channels that became visible to the user.
    ChannelsCreated(Vec<ChannelSummary>),
    /// Channels that are no longer visible to the user.
    ChannelsLost(Vec<ChannelId>),
    /// One property of a channel.
    ChannelChanged {
        channel: ChannelId,
        /// The name before the change if it is the name that changed.
        name: String,
        change: ChannelChange,
    },
    /// Messages were edited or moved. The flags of the target differ between users and are not part of the event.
    MessageChanged(Box<MessageChange>),
    /// Messages were deleted or are no longer visible to the user. The event has as many numbers as messages, and its
    /// own number is the last: clients without bulk deletion get one event for each message.
    MessagesDeleted {
        /// Channel and topic; none for direct messages.
        place: Option<(ChannelId, String)>,
        /// The ids are ascending.
        messages: Vec<MessageId>,
    },
    /// A reaction was added or removed.
    Reaction { message: MessageId, reaction: Reaction, user: Arc<User>, is_added: bool },
    /// A widget got another part.
    Submessage { message: MessageId, submessage: Submessage },
    /// One property of the user's own subscription.
    SubscriptionChanged { channel: ChannelId, change: SubscriptionChange },
    /// A new folder of channels.
    FolderAdded(Arc<ChannelFolder>),
    /// Properties of a folder of channels.
    FolderChanged { folder: FolderId, change: FolderChange },
    /// All folders, in their new order.
    FoldersReordered(Vec<FolderId>),
    /// All alert words of the user.
    AlertWords(Vec<String>),
    /// Parts of a user's status.
    UserStatus { user: UserId, change: StatusChange },
    /// All users whom the user mutes, with the time of muting.
    MutedUsers(Vec<(UserId, Timestamp)>),
    /// A new view in the user's sidebar.
    NavigationViewAdded { fragment: String, view: NavigationView },
    /// Properties of a view in the user's sidebar; none is unchanged.
    NavigationViewChanged { fragment: String, is_pinned: Option<bool>, name: Option<String> },
    /// A view in the user's sidebar was removed.
    NavigationViewRemoved(String),
    /// The user's saved snippets.
    SavedSnippets(TextChange<SavedSnippetId, SavedSnippet>),
    /// An uploaded file of the user, and the bytes of all files of the organization.
    Attachment { change: AttachmentChange, space_used: u64 },
    /// The user's drafts.
    Drafts { owner: UserId, change: TextChange<DraftId, SavedDraft> },
    /// The user's scheduled messages.
    ScheduledMessages { owner: UserId, change: TextChange<ScheduledMessageId, ScheduledMessage> },
    /// The user's reminders.
    Reminders { owner: UserId, change: TextChange<ScheduledMessageId, ScheduledMessage> },
    /// All custom profile fields.
    ProfileFields(Arc<ProfileFields>),
    /// Settings of the organization.
    RealmChanged(RealmChange),
    /// A property of a person or bot.
    UserChanged { user: UserId, change: UserChange },
    /// One of the user's own settings.
    SettingChanged(ChangedSetting),
    /// The user was subscribed to channels.
    SubscriptionsAdded(Vec<SubscribedChannel>),
    /// The user was unsubscribed from channels; ids and names.
    SubscriptionsRemoved(Vec<(ChannelId, String)>),
    /// Other users were subscribed to a channel that the user can see.
    PeersAdded { channel: ChannelId, users: Arc<[UserId]> },
    /// Other users were unsubscribed from a channel that the user can see.
    PeersRemoved { channel: ChannelId, users: Arc<[UserId]> },
    /// All channels that new users are subscribed to.
    DefaultChannels(Vec<ChannelId>),
    /// The user's visibility policy for a topic.
    UserTopic { channel: ChannelId, topic: String, updated: Timestamp, policy: VisibilityPolicy },
    /// All muted topics of the user (channel name, topic, time), for clients without `UserTopic`.
    MutedTopics(Vec<(String, String, Timestamp)>),
    /// A user starts or stops typing.
    Typing { sender: Arc<User>, is_start: bool, conversation: TypingConversation },
    /// A user starts or stops typing a new text of a message.
    EditTyping {
        sender: UserId,
        is_start: bool,
        message: MessageId,
        /// Where the message is.
        conversation: TypingConversation,
    },
    /// The onboarding steps that the user has not seen yet: type and name of each.
    OnboardingSteps(Vec<(&'static str, &'static str)>),
    /// Whether a user agrees to the export of their private data.
    ExportConsent { user: UserId, consented: bool },
    /// All exports of the organization, for its administrators.
    Exports(Arc<Listed<RealmExport>>),
    /// All groups of default channels.
    DefaultChannelGroups(Arc<Listed<DefaultChannelGroup>>),
    /// A user's client reported presence.
    Presence {
        user: Arc<User>,
        /// Time of the last report of activity.
        active: Option<Timestamp>,
        /// Time of the last report without activity.
        idle: Option<Timestamp>,
        /// Whether the report that caused the event was one of activity.
        is_active: bool,
        /// The server's time when the event was made.
        server: Timestamp,
    },
    /// A new person or bot, or one who became visible to the user.
    UserAdded(Arc<User>),
    /// A new person or bot whom the user may not see, for clients that need a record of every user.
    UnknownUserAdded(Arc<User>),
    /// A person or bot is no longer visible to the user.
    UserRemoved(UserId),
    /// A default for the settings of new users, by its wire name.
    DefaultSettingChanged { name: &'static str, value: SettingValue },
    /// A new group.
    GroupAdded(Arc<UserGroup>),
    /// New direct members of a group.
    GroupMembersAdded { group: GroupId, users: Vec<UserId> },
    /// Former direct members of a group.
    GroupMembersRemoved { group: GroupId, users: Vec<UserId> },
    /// Properties of a group other than its members and subgroups.
    GroupChanged { group: GroupId, change: Box<GroupChange> },
    /// New direct subgroups of a group.
    SubgroupsAdded { group: GroupId, subgroups: Vec<GroupId> },
    /// Former direct subgroups of a group.
    SubgroupsRemoved { group: GroupId, subgroups: Vec<GroupId> },
    /// A group was deactivated, for clients that do not know deactivated groups.
    GroupRemoved(GroupId),
    /// A domain of the organization's e-mail addresses was added, changed or removed.
    Domain { domain: RealmDomain, op: DomainOp },
    /// All linkifiers of the organization.
    Linkifiers(Arc<Listed<LinkifierRecord>>),
    /// All code playgrounds of the organization.
    Playgrounds(Arc<Listed<Playground>>),
    /// The list of invitations changed; clients fetch it again.
    InvitationsChanged,
    /// The organization was deactivated.
    RealmDeactivated(RealmId),
    /// The registration of one of the user's devices for push notifications.
    PushDeviceChanged {
        /// The id that the device chose for this account.
        account: i64,
        status: PushStatus,
    },
    /// A bot that the user manages from now on.
    BotAdded {
        bot: Arc<User>,
        config: Arc<BotConfig>,
        integration: Arc<BotIntegration>,
        /// Include its API key and tokens: the user is its owner.
        with_secrets: bool,
    },
    /// A property of a bot that the user manages.
    BotChanged { bot: UserId, change: BotChange },
    /// A bot that the user no longer manages.
    BotRemoved(UserId),
    /// All custom emoji of the organization, deactivated ones included.
    RealmEmoji(Arc<[Arc<RealmEmoji>]>),
    /// The organization's icon or a logo, with its new URL and the wire code of its source.
    RealmPictureChanged { which: RealmPicture, url: String, source: &'static str },
    /// Sent when there was no other event for a while.
    Heartbeat,
}

impl EventBody {
    /// The type of the event.
    #[expect(clippy::too_many_lines, reason = "a table with an arm for each event")]
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
            Self::Attachment { .. } => EventKind::Attachment,
            Self::SavedSnippets(_) => EventKind::SavedSnippets,
            Self::Drafts { .. } => EventKind::Drafts,
            Self::ScheduledMessages { .. } => EventKind::ScheduledMessages,
            Self::Reminders { .. } => EventKind::Reminders,
            Self::ProfileFields(_) => EventKind::CustomProfileFields,
            Self::RealmChanged(_) | Self::RealmDeactivated(_) | Self::RealmPictureChanged { .. } => {
                EventKind::Realm
            }
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
            Self::EditTyping { .. } => EventKind::TypingEditMessage,
            Self::OnboardingSteps(_) => EventKind::OnboardingSteps,
            Self::Exports(_) => EventKind::RealmExport,
            Self::ExportConsent { .. } => EventKind::RealmExportConsent,
            Self::DefaultChannelGroups(_) => EventKind::DefaultChannelGroups,
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
            Self::Heartbeat => EventKind::Heartbeat,
        }
    }

    /// Count of event numbers that the event takes; its own number is the last of them.
    pub fn numbers(&self) -> u64 {
        if let Self::MessagesDeleted { messages, .. } = self { messages.len().max(1) as u64 } else { 1 }
    }
}

/// Number of encoded forms that one event can keep.
pub const EVENT_FORMS_MAX: usize = 8;

/// An event, shared by all queues that hold it.
#[derive(Debug)]
pub struct Event {
    /// The event id of the API; the last of them if the event has several.
    pub number: EventNumber,
    pub body: EventBody,
    /// The clients it is for, by capability.
    pub clients: Clients,
    /// Encoded forms, each filled by the first queue that needs it.
    pub encoded: [OnceLock<Bytes>; EVENT_FORMS_MAX],
}

impl Event {
    /// An event for all clients, not encoded yet.
    pub fn new(number: EventNumber, body: EventBody) -> Self {
        Self { number, body, clients: Clients::All, encoded: Default::default() }
    }

    /// The first of the event's numbers.
    pub fn first_number(&self) -> EventNumber {
        EventNumber(self.number.0 - (self.body.numbers() - 1))
    }
}

/// The queues that get an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audience {
    /// All users of the organization.
    Everyone,
    /// All users except guests.
    NonGuests,
    /// These users, sorted.
    Users(Arc<[UserId]>),
    /// These users, sorted, each with their flags of the message.
    Flagged(Arc<[(UserId, Flags)]>),
    /// The recipients of this message: subscribers of its channel and clients that registered for all public
    /// channels, or the participants of its conversation.
    Readers(Arc<Message>),
    /// This queue only.
    Queue(QueueId),
}
