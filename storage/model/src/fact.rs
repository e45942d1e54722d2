//! Facts: what was decided, with every result inside, so that nothing is ever decided again.
//!
//! Facts are stored for ever. Variants and fields are only ever added at the end, with a new schema
//! version where a field is added (see `storage::codec`).

use crate::channel::Channel;
use crate::direct::DirectConversation;
use crate::flags::{Flag, FlagOp};
use crate::group::UserGroup;
use crate::ids::{ChannelId, EventNumber, GroupId, MessageId, QueueId, UserId};
use crate::message::Message;
use crate::queue::QueueRecord;
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

/// Message ids as sorted, inclusive ranges: marking a million messages read stays one small fact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageRanges(pub Vec<(MessageId, MessageId)>);

impl MessageRanges {
    /// Ranges of ids that come in ascending order without doubles.
    pub fn from_sorted(ids: impl IntoIterator<Item = MessageId>) -> Self {
        let mut ranges: Vec<(MessageId, MessageId)> = Vec::new();
        for id in ids {
            match ranges.last_mut() {
                Some((_, last)) if last.next() == id => *last = id,
                _ => ranges.push((id, id)),
            }
        }
        Self(ranges)
    }

    /// All ids, ascending.
    pub fn iter(&self) -> impl Iterator<Item = MessageId> {
        self.0.iter().flat_map(|(first, last)| (first.0..=last.0).map(MessageId))
    }

    /// Whether there is no id.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
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
}

impl Fact {
    /// An upper bound of how many events this fact leads to: so many numbers are set aside for it.
    pub fn events_max(&self) -> u64 {
        match self {
            Self::QueueRegistered(_) | Self::QueueEnded(_) | Self::EventNumbersReserved(_) => 0,
            Self::RealmCreated(_) | Self::RealmChanged(_) => 1,
            Self::UserCreated(_) | Self::UserChanged(_) => 2,
            Self::GroupCreated(_) => 1,
            Self::GroupMembersChanged { .. } => 2,
            Self::ChannelCreated(_) | Self::ChannelActivityChanged { .. } => 1,
            // One for each subscriber (own record inside), one for the others.
            Self::Subscribed { subscribers, .. } => subscribers.len() as u64 + 2,
            Self::Unsubscribed { .. } => 4,
            Self::DefaultChannelsChanged(_) | Self::DirectConversationCreated(_) => 1,
            Self::MessageSent { .. } => 1,
            Self::FlagsChanged { .. } => 1,
            Self::TopicPolicySet { .. } => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_neighbours() {
        let ids = [3, 4, 5, 9, 11, 12].map(MessageId);
        let ranges = MessageRanges::from_sorted(ids);
        assert_eq!(ranges.0.len(), 3);
        assert_eq!(ranges.iter().collect::<Vec<_>>(), ids);
    }
}
