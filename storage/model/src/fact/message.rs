//! Facts about messages and direct conversations.

use super::bounds::EVENTS_OF_RECORD;
use super::{DeletedFrom, MessageUpdate, RemainingReactions};
use crate::direct::DirectConversation;
use crate::flags::{Flag, FlagOp};
use crate::ids::{MessageId, QueueId, UserId};
use crate::message::{ConversationId, Message, Reaction, Submessage};
use crate::ranges::MessageRanges;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The sender's client that waits for its message, to replace its local copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalEcho {
    pub queue: QueueId,
    /// The client's own id for the message.
    pub local_id: Arc<str>,
}

/// A change of messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MessageFact {
    /// A message was sent.
    Sent { message: Arc<Message>, echo: Option<LocalEcho> },
    /// A message was edited, or messages were moved, or both by one request.
    Updated(Box<MessageUpdate>),
    /// Messages were deleted, by a request or by the server.
    Deleted {
        /// Their conversation; it is the same for all.
        from: DeletedFrom,
        messages: MessageRanges,
        /// The requester; none if the server deleted them: an obsolete notice, or messages past their retention.
        by: Option<UserId>,
    },
    /// A user set or cleared a flag on messages.
    FlagsChanged {
        user: UserId,
        flag: Flag,
        op: FlagOp,
        /// Only messages whose flag changes.
        messages: MessageRanges,
    },
    /// A reaction was added.
    ReactionAdded {
        message: MessageId,
        /// Its place at that time.
        conversation: ConversationId,
        reaction: Reaction,
    },
    /// A reaction was removed.
    ReactionRemoved {
        message: MessageId,
        conversation: ConversationId,
        reaction: Reaction,
        left: RemainingReactions,
    },
    /// A part was added to a widget.
    SubmessageAdded { message: MessageId, conversation: ConversationId, submessage: Submessage },
    /// The first message between these users creates their conversation.
    ConversationCreated(DirectConversation),
    /// The texts of old versions are erased: of each message those before this number. Clients receive no event of it.
    HistoryErased { versions: Vec<(MessageId, u32)> },
}

impl MessageFact {
    /// A user has read messages, of which none was read before.
    pub fn read(user: UserId, messages: MessageRanges) -> Self {
        Self::FlagsChanged { user, flag: Flag::Read, op: FlagOp::Add, messages }
    }

    /// The direct conversation that it creates.
    pub fn created_conversation(&self) -> Option<&DirectConversation> {
        match self {
            Self::ConversationCreated(direct) => Some(direct),
            Self::Sent { .. }
            | Self::Updated(_)
            | Self::Deleted { .. }
            | Self::FlagsChanged { .. }
            | Self::ReactionAdded { .. }
            | Self::ReactionRemoved { .. }
            | Self::SubmessageAdded { .. }
            | Self::HistoryErased { .. } => None,
        }
    }

    /// The message whose own record it changes, if it changes one that exists.
    pub fn changed_message(&self) -> Option<MessageId> {
        match self {
            Self::Updated(update) => update.edited.is_some().then_some(update.target),
            Self::ReactionAdded { message, .. }
            | Self::ReactionRemoved { message, .. }
            | Self::SubmessageAdded { message, .. } => Some(*message),
            Self::Sent { .. }
            | Self::Deleted { .. }
            | Self::FlagsChanged { .. }
            | Self::ConversationCreated(_)
            | Self::HistoryErased { .. } => None,
        }
    }

    /// An upper bound of the number of events of this fact.
    pub fn events_max(&self) -> u64 {
        match self {
            // One event for users who keep them, one for each user who loses some, and each channel's new oldest
            // message. Clients without bulk deletion get one for each message.
            Self::Updated(update) => {
                let moved = update.movement.as_ref().map_or(0, |movement| movement.messages.len());
                EVENTS_OF_RECORD + moved * 2
            }
            // In the worst case each message has different recipients; see above for clients without bulk deletion.
            Self::Deleted { messages, .. } => EVENTS_OF_RECORD + messages.len() * 2,
            Self::Sent { .. }
            | Self::FlagsChanged { .. }
            | Self::ReactionAdded { .. }
            | Self::ReactionRemoved { .. }
            | Self::SubmessageAdded { .. }
            | Self::ConversationCreated(_) => 1,
            Self::HistoryErased { .. } => 0,
        }
    }
}
