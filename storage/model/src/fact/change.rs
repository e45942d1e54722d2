//! Parts of facts about changes of messages: what moved, what was edited, what is left.

use crate::history::MessageVersion;
use crate::ids::{ChannelId, MessageId, RecipientId, UserId};
use crate::message::{ConversationId, Message, PropagateMode, Reaction, TopicLink};
use crate::ranges::MessageRanges;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A move of messages of one topic. Each message keeps its own spelling of the topic unless the topic changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Movement {
    /// All moved messages, including the target; all of one topic.
    pub messages: MessageRanges,
    pub mode: PropagateMode,
    pub channel: ChannelId,
    /// The topic before, as spelled on the target.
    pub topic: String,
    pub new_channel: Option<ArrivalFact>,
    /// The topic after the move, if it or only its spelling changed.
    pub new_topic: Option<NewTopic>,
    /// Resolving and unresolving does not count as moving (`last_moved_timestamp`).
    pub is_resolve: bool,
}

/// The new topic of moved messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewTopic {
    /// The topic name as spelled in the request.
    pub name: String,
    pub links: Vec<TopicLink>,
}

/// The recipients of messages that were moved to another channel. They do not follow from subscriptions, so they are
/// stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrivalFact {
    pub channel: ChannelId,
    /// `recipient_id` of messages in that channel.
    pub recipient: RecipientId,
    /// The recipients after the move; other users have none of the messages.
    pub deliveries: Vec<Delivery>,
}

/// Users who have received the same moved messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    pub messages: MessageRanges,
    /// Ids of the users, sorted.
    pub users: Vec<UserId>,
    /// The users did not have the messages before; the messages count as read.
    pub is_new: bool,
}

/// What one request changed about a message and, by moving, about others (docs/api/messages.md#edit-or-move-messages).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageUpdate {
    /// The message that the request was about.
    pub target: MessageId,
    pub by: UserId,
    /// The time of the request, shown in edit histories.
    pub at: Timestamp,
    /// The place of the target before the change.
    pub conversation: ConversationId,
    /// The new version of the target's content; none if the content is unchanged. The previous content is that of the
    /// previous version.
    pub edited: Option<Arc<MessageVersion>>,
    pub movement: Option<Movement>,
}

/// The conversation of deleted messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeletedFrom {
    Topic {
        channel: ChannelId,
        /// The topic as spelled on the messages.
        topic: String,
    },
    Direct(RecipientId),
}

/// The reactions that a message has after one was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RemainingReactions {
    /// Other reactions of the same user.
    OfUser,
    /// Only reactions of other users.
    OfOthers,
    None,
}

impl RemainingReactions {
    /// The reactions that remain on a message when one is removed.
    pub fn without(message: &Message, removed: &Reaction) -> Self {
        let mut left = message.reactions.iter().filter(|reaction| *reaction != removed);
        if left.clone().next().is_none() {
            return Self::None;
        }
        if left.any(|reaction| reaction.user == removed.user) { Self::OfUser } else { Self::OfOthers }
    }
}
