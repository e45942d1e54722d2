//! Direct conversations.

use crate::ids::{RecipientId, UserId};
use serde::{Deserialize, Serialize};

/// A direct conversation between a set of users; created by its first message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectConversation {
    /// `recipient_id` of its messages.
    pub recipient: RecipientId,
    /// All participants, sorted; a single one for messages to oneself.
    pub users: Vec<UserId>,
}
