//! Direct conversations.

use crate::ids::{RecipientId, UserId};
use serde::{Deserialize, Serialize};

/// A set of people who write to each other; made by its first message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectConversation {
    /// What `recipient_id` of its messages says.
    pub recipient: RecipientId,
    /// Everybody in it, sorted; one alone is a conversation with oneself.
    pub users: Vec<UserId>,
}
