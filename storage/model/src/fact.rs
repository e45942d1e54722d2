//! Facts: what was decided, with every result inside, so that nothing is ever decided again.
//!
//! Facts are stored for ever. Variants and fields are only ever added at the end, with a new schema
//! version where a field is added (see `storage::codec`).

use crate::bot::BotConfig;
use crate::channel::{Channel, ChannelFolder};
use crate::direct::DirectConversation;
use crate::flags::{Flag, FlagOp};
use crate::group::UserGroup;
use crate::ids::{
    ChannelId, EventNumber, FolderId, GroupId, JobId, MessageId, ProfileFieldId, QueueId, RecipientId, UserId,
};
use crate::invitation::InvitationFact;
use crate::job::{JobOutcome, Task};
use crate::lists::{DomainOp, LinkifierRecord, Listed, Playground, RealmDomain};
use crate::message::{Message, PropagateMode, Reaction, Submessage, TopicLink};
use crate::personal::{NamedStatus, NavigationView, UserStatus};
use crate::picture::PictureFact;
use crate::profile_field::{ProfileFields, ProfileValue};
use crate::push::PushFact;
use crate::queue::QueueRecord;
pub use crate::ranges::MessageRanges;
use crate::realm::Realm;
use crate::subscription::Subscription;
use crate::time::Timestamp;
use crate::topic::VisibilityPolicy;
use crate::user::User;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// All facts of one command: the unit of the log. Either all of them are true or none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// When it was decided.
    pub at: Timestamp,
    /// Events of this frame have this number and the following ones.
    pub first_event: EventNumber,
    /// What was decided, in order.
    pub facts: Vec<Fact>,
}

/// Where a sender's own client waits for its message, to replace the copy it already shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalEcho {
    /// The queue of that client.
    pub queue: QueueId,
    /// The client's own name for the message.
    pub local_id: Arc<str>,
}

/// Which messages of which topic went where. Each keeps its own spelling of the topic where that does not change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Movement {
    /// All that moved, the target among them; all of one topic.
    pub messages: MessageRanges,
    /// What was asked for.
    pub mode: PropagateMode,
    /// Where they were.
    pub channel: ChannelId,
    /// The topic before, as spelled on the target.
    pub topic: String,
    /// Where they are now, if that is another channel.
    pub new_channel: Option<ArrivalFact>,
    /// The topic now, if it changed, be it only in spelling.
    pub new_topic: Option<NewTopic>,
    /// Resolving and unresolving does not count as moving (`last_moved_timestamp`).
    pub is_resolve: bool,
}

/// A topic that messages got by moving.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewTopic {
    /// Its name.
    pub name: String,
    /// Links found in the name.
    pub links: Vec<TopicLink>,
}

/// Messages come to a channel in which they were not sent. Who has them there does not follow from
/// subscriptions: it is said here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrivalFact {
    /// The channel.
    pub channel: ChannelId,
    /// What `recipient_id` of its messages says.
    pub recipient: RecipientId,
    /// Who has which of them after the move. Everybody else has none.
    pub deliveries: Vec<Delivery>,
}

/// People who have the same ones of some moved messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Which.
    pub messages: MessageRanges,
    /// Who, sorted.
    pub users: Vec<UserId>,
    /// They did not have them before; the messages count as read.
    pub is_new: bool,
}

/// What one request changed about a message and, by moving, perhaps about others (endpoints.md 2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageUpdate {
    /// The message that the request was about.
    pub target: MessageId,
    /// Who did it.
    pub by: UserId,
    /// When; edit histories say this.
    pub at: Timestamp,
    /// The target's own record after a content edit, as [`Fact::ReactionAdded`] has it; none without one.
    pub edited: Option<Arc<Message>>,
    /// What moved; none if nothing did.
    pub movement: Option<Movement>,
}

/// Where deleted messages were.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeletedFrom {
    /// A topic.
    Topic {
        /// The channel.
        channel: ChannelId,
        /// As spelled.
        topic: String,
    },
    /// A direct conversation.
    Direct(RecipientId),
}

/// Something that happened in an organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fact {
    /// The organization came to be. Always its first fact.
    RealmCreated(Box<Realm>),
    /// The organization's record, settings included, is now this.
    RealmChanged(Box<Realm>),
    /// A person or bot came in.
    UserCreated(Box<User>),
    /// A user's record is now this.
    UserChanged(Box<User>),
    /// A group came to be.
    GroupCreated(Box<UserGroup>),
    /// Users became direct members of a group, or ceased to be.
    GroupMembersChanged {
        /// The group.
        group: GroupId,
        /// New direct members.
        added: Vec<UserId>,
        /// Former direct members.
        removed: Vec<UserId>,
    },
    /// A channel came to be.
    ChannelCreated(Box<Channel>),
    /// Somebody wrote in a channel that was inactive, or nobody did for long.
    ChannelActivityChanged {
        /// The channel.
        channel: ChannelId,
        /// The new value.
        is_recently_active: bool,
    },
    /// Users were subscribed. Their subscription records are now these.
    Subscribed {
        /// The channel.
        channel: ChannelId,
        /// Each new subscriber with the whole record.
        subscribers: Vec<(UserId, Subscription)>,
        /// Who did it.
        by: UserId,
    },
    /// Users were unsubscribed.
    Unsubscribed {
        /// The channel.
        channel: ChannelId,
        /// The newest message that they still got.
        last: MessageId,
        /// Former subscribers.
        users: Vec<UserId>,
        /// Who did it.
        by: UserId,
    },
    /// The channels that new people are subscribed to are now these.
    DefaultChannelsChanged(Vec<ChannelId>),
    /// People wrote to each other for the first time.
    DirectConversationCreated(DirectConversation),
    /// A message was sent.
    MessageSent {
        /// The message.
        message: Arc<Message>,
        /// Whose client waits for it.
        echo: Option<LocalEcho>,
    },
    /// A user set or cleared a flag on messages.
    FlagsChanged {
        /// Whose flags.
        user: UserId,
        /// Which flag: read, starred or collapsed.
        flag: Flag,
        /// Set or clear.
        op: FlagOp,
        /// On which messages; only those where it makes a difference.
        messages: MessageRanges,
    },
    /// A user's policy for a topic is now this.
    TopicPolicySet {
        /// Whose.
        user: UserId,
        /// The channel.
        channel: ChannelId,
        /// The topic as spelled.
        topic: String,
        /// The policy; `Inherit` removes the record.
        policy: VisibilityPolicy,
    },
    /// A client registered an event queue.
    QueueRegistered(Box<QueueRecord>),
    /// An event queue ended.
    QueueEnded(QueueId),
    /// Numbers up to this one may be given to events that are not in the log (typing, presence).
    EventNumbersReserved(EventNumber),
    /// A message was edited, or messages were moved, or both by one request.
    MessageUpdated(Box<MessageUpdate>),
    /// Messages are gone, for whatever reason.
    MessagesDeleted {
        /// Where they were; all in the same place.
        from: DeletedFrom,
        /// Which.
        messages: MessageRanges,
        /// Who asked for it; nobody where the server takes back a notice or messages were kept for long enough.
        by: Option<UserId>,
    },
    /// Somebody reacted.
    ReactionAdded {
        /// The message's own record after it: as sent, with what was done to this message alone (content edits,
        /// reactions, submessages). Where moves have brought it is not in here.
        message: Arc<Message>,
        /// What was added.
        reaction: Reaction,
    },
    /// Somebody took a reaction back.
    ReactionRemoved {
        /// The message's own record after it.
        message: Arc<Message>,
        /// What was removed.
        reaction: Reaction,
    },
    /// A widget got another part.
    SubmessageAdded {
        /// The message's own record after it.
        message: Arc<Message>,
        /// What was added.
        submessage: Submessage,
    },
    /// Users' policies for a topic are now this.
    TopicPoliciesSet {
        /// The channel.
        channel: ChannelId,
        /// The topic as spelled.
        topic: String,
        /// The policy; `Inherit` removes the records.
        policy: VisibilityPolicy,
        /// Whose, sorted.
        users: Vec<UserId>,
    },
    /// A channel's record is now this, whatever changed in it (archived and back included). Only
    /// `is_recently_active` stays as it is: that is [`Fact::ChannelActivityChanged`].
    ChannelChanged(Box<Channel>),
    /// What a user has set for a channel is now this; subscribing and unsubscribing have facts of their own.
    SubscriptionChanged {
        /// Whose.
        user: UserId,
        /// The channel.
        channel: ChannelId,
        /// The whole record.
        subscription: Box<Subscription>,
    },
    /// A folder of channels is now this, or came to be.
    FolderChanged(Box<ChannelFolder>),
    /// All folders, in their new order.
    FoldersReordered(Vec<FolderId>),
    /// A group's record is now this: name, members, subgroups, permissions, deactivation.
    GroupChanged(Box<UserGroup>),
    /// A user's alert words are now these.
    AlertWordsSet {
        /// Whose.
        user: UserId,
        /// All of them, as typed.
        words: Vec<String>,
    },
    /// What the records that this frame changes were before it, as the facts that would make them so again. Changes
    /// nothing; who is told of a change depends on it, also when it is told again after a restart.
    Before(Vec<Fact>),
    /// What a user says about themselves is now this.
    UserStatusSet {
        /// Who.
        user: UserId,
        /// None: nothing.
        status: Option<UserStatus>,
        /// What the request was about.
        named: NamedStatus,
    },
    /// A user muted somebody, or no longer does.
    UserMuted {
        /// Who mutes.
        user: UserId,
        /// Whom.
        muted: UserId,
        /// Since when; none: no longer.
        since: Option<Timestamp>,
    },
    /// A view in a user's sidebar is now this.
    NavigationViewSet {
        /// Whose.
        user: UserId,
        /// Which.
        fragment: String,
        /// What it was; none: it is new.
        before: Option<NavigationView>,
        /// None: it is gone.
        view: Option<NavigationView>,
    },
    /// The custom profile fields are now these.
    ProfileFieldsChanged(Box<ProfileFields>),
    /// A user's profile has other values.
    ProfileValuesSet {
        /// Whose.
        user: UserId,
        /// Only those that changed; none: the user has none for that field any more.
        values: Vec<(ProfileFieldId, Option<ProfileValue>)>,
    },
    /// A domain was listed, changed or taken away.
    DomainSet {
        /// Its record; the last one where it is gone.
        domain: RealmDomain,
        /// What became of it.
        op: DomainOp,
    },
    /// The linkifiers are now these.
    LinkifiersChanged(Box<Listed<LinkifierRecord>>),
    /// The playgrounds are now these.
    PlaygroundsChanged(Box<Listed<Playground>>),
    /// Somebody's phones, or what they show.
    Push(Box<PushFact>),
    /// An account was deactivated, or is in use again. Its subscriptions and memberships stay; meanwhile it counts
    /// nowhere and gets nothing.
    UserActiveSet {
        /// Whose.
        user: UserId,
        /// In use.
        is_active: bool,
        /// The newest message then: what the user got ends with it, or begins behind it.
        last: MessageId,
        /// How many events it leads to at most: the more groups, channels and settings name the user, the more.
        events: u32,
    },
    /// Stands behind facts that change who may know of whom, where not everybody knows everybody: those concerned are
    /// told of it here.
    KnownPeopleChanged {
        /// How many events it leads to at most.
        events: u32,
    },
    /// Somebody invited, or an invitation was used or taken back.
    Invitation(Box<InvitationFact>),
    /// A bot was made, or is set in another way.
    BotConfigured {
        /// Which.
        bot: UserId,
        /// What was set before; none: it is new.
        before: Option<Box<BotConfig>>,
        /// What is set now.
        config: Box<BotConfig>,
    },
    /// Something is owed to the world outside. Its id is `JobId::of` this fact's place.
    JobAdded {
        /// Not to be done before this.
        due: Timestamp,
        /// What is to be done.
        task: Box<Task>,
    },
    /// Nothing more is to be done for a job.
    JobEnded {
        /// Which.
        job: JobId,
        /// How it ended.
        outcome: JobOutcome,
    },
    /// Somebody or the organization has another picture, or there is another emoji of its own.
    Picture(Box<PictureFact>),
}

impl Fact {
    /// An upper bound of how many events this fact leads to: so many numbers are set aside for it.
    pub fn events_max(&self) -> u64 {
        match self {
            Self::QueueRegistered(_)
            | Self::QueueEnded(_)
            | Self::EventNumbersReserved(_)
            | Self::JobAdded { .. }
            | Self::JobEnded { .. }
            | Self::Before(_) => 0,
            // One for each setting that new people start with, besides those of the record.
            Self::RealmCreated(_) | Self::RealmChanged(_) => EVENTS_OF_RECORD * 2,
            Self::UserCreated(_) => 2,
            Self::UserChanged(_) => EVENTS_OF_USER,
            Self::GroupCreated(_) => 1,
            // Members added and removed, channels gained and lost with the group, and the same of archived ones.
            Self::GroupMembersChanged { .. } => 6,
            Self::ChannelCreated(_) | Self::ChannelActivityChanged { .. } => 1,
            // One for each subscriber (own record inside), one for the others.
            Self::Subscribed { subscribers, .. } => subscribers.len() as u64 + 2,
            Self::Unsubscribed { .. } => 4,
            Self::DefaultChannelsChanged(_) | Self::DirectConversationCreated(_) => 1,
            Self::MessageSent { .. } => 1,
            Self::FlagsChanged { .. } => 1,
            Self::TopicPolicySet { .. } => 2,
            // The event for those who keep them, one for each of those who lose some, and what each channel's
            // oldest message is now. Clients without bulk deletion count one for each message.
            Self::MessageUpdated(update) => {
                let moved = update.movement.as_ref().map_or(0, |movement| movement.messages.len());
                EVENTS_OF_RECORD + moved * 2
            }
            // In the worst case each message goes to other people; see there for clients without bulk deletion.
            Self::MessagesDeleted { messages, .. } => EVENTS_OF_RECORD + messages.len() * 2,
            Self::ReactionAdded { .. } | Self::ReactionRemoved { .. } | Self::SubmessageAdded { .. } => 1,
            // One for everybody, and all muted topics of each for clients that know nothing else.
            Self::TopicPoliciesSet { users, .. } => users.len() as u64 + 1,
            // One for each property, and those for people who gain or lose it with its privacy.
            Self::ChannelChanged(_) => EVENTS_OF_RECORD,
            Self::SubscriptionChanged { .. } => EVENTS_OF_RECORD,
            Self::FolderChanged(_) | Self::FoldersReordered(_) | Self::AlertWordsSet { .. } => 1,
            Self::UserStatusSet { .. } | Self::UserMuted { .. } | Self::NavigationViewSet { .. } => 1,
            Self::ProfileFieldsChanged(_) => 1,
            // One for each property.
            Self::BotConfigured { .. } => 8,
            // One for everybody, one for those who look after a bot.
            Self::Picture(_) => 2,
            // One for each phone whose status changed.
            Self::Push(fact) => fact.events_max(),
            Self::UserActiveSet { events, .. } | Self::KnownPeopleChanged { events } => u64::from(*events),
            Self::Invitation(fact) => fact.events_max(),
            Self::DomainSet { .. } | Self::LinkifiersChanged(_) | Self::PlaygroundsChanged(_) => 1,
            Self::ProfileValuesSet { values, .. } => values.len() as u64,
            // Channels may be gained and lost with a group's members.
            Self::GroupChanged(_) => EVENTS_OF_RECORD,
        }
    }
}

/// More events than a change of a person leads to: all settings in two forms, the person's record, channels.
const EVENTS_OF_USER: u64 = 256;

/// More events than any change of one record leads to.
const EVENTS_OF_RECORD: u64 = 64;
