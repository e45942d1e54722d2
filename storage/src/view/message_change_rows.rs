//! Rows of later changes of a message: edits and reactions.

use model::message::MessageTraits;
use model::{MessageId, Reaction, Sequence, UserId};
use serde::{Deserialize, Serialize};

/// The parts of a message's newest version that the in-memory index needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditedRow {
    /// Version number; there is a version for each number from 1 to this.
    pub version: u32,
    pub traits: MessageTraits,
}

/// A reaction as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReactionRow {
    /// The frame that added it, and the position of the fact in that frame: reactions are shown in this order.
    pub added: (Sequence, u16),
    pub reaction: Reaction,
}

/// The key of a reaction to a message in [`Reactions`].
pub fn reaction_key(message: MessageId, reaction: &Reaction) -> (MessageId, UserId, String) {
    (message, reaction.user, format!("{}:{}", reaction.reaction_type, reaction.emoji_code))
}
