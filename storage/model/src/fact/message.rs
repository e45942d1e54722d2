//! Facts about messages and direct conversations.

use super::bounds::EVENTS_OF_RECORD;
use super::{DeletedFrom, MessageUpdate, ReactionsLeft};
use crate::direct::DirectConversation;
use crate::flags::{Flag, FlagOp};
use crate::ids::{MessageId, QueueId, UserId};
use crate::message::{Message, Reaction, Spot, Submessage};
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
        /// Where they were; all in the same conversation.
        from: DeletedFrom,
        messages: MessageRanges,
        /// The requester; none where the server removed them: a notice that became pointless, or messages past their
        /// retention.
        by: Option<UserId>,
    },
    /// A user set or cleared a flag on messages.
    FlagsChanged {
        user: UserId,
        flag: Flag,
        op: FlagOp,
        /// Only the messages where it makes a difference.
        messages: MessageRanges,
    },
    /// A reaction was added.
    ReactionAdded {
        message: MessageId,
        /// Where it was then.
        spot: Spot,
        reaction: Reaction,
    },
    /// A reaction was removed.
    ReactionRemoved { message: MessageId, spot: Spot, reaction: Reaction, left: ReactionsLeft },
    /// A part was added to a widget.
    SubmessageAdded { message: MessageId, spot: Spot, submessage: Submessage },
    /// The first message between these users creates their conversation.
    ConversationCreated(DirectConversation),
}

impl MessageFact {
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
            | Self::ConversationCreated(_) => None,
        }
    }

    /// An upper bound of how many events this fact leads to.
    pub fn events_max(&self) -> u64 {
        match self {
            // The event for those who keep them, one for each of those who lose some, and what each channel's
            // oldest message is now. Clients without bulk deletion count one for each message.
            Self::Updated(update) => {
                let moved = update.movement.as_ref().map_or(0, |movement| movement.messages.len());
                EVENTS_OF_RECORD + moved * 2
            }
            // In the worst case each message goes to other users; see above for clients without bulk deletion.
            Self::Deleted { messages, .. } => EVENTS_OF_RECORD + messages.len() * 2,
            Self::Sent { .. }
            | Self::FlagsChanged { .. }
            | Self::ReactionAdded { .. }
            | Self::ReactionRemoved { .. }
            | Self::SubmessageAdded { .. }
            | Self::ConversationCreated(_) => 1,
        }
    }
}
