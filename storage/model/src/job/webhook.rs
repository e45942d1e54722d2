//! Asking the service of an outgoing webhook bot.

use crate::ids::{MessageId, UserId};
use serde::{Deserialize, Serialize};

/// Somebody talked to a bot: its service is to be told, and may answer. What was said, where the service is and what it
/// knows the server by is read when it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookTask {
    /// The bot.
    pub bot: UserId,
    /// What was said.
    pub message: MessageId,
    /// Why it is the bot's business.
    pub trigger: WebhookTrigger,
}

/// Why a message is a bot's business.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WebhookTrigger {
    /// It mentions the bot.
    Mention,
    /// The bot is in the conversation.
    DirectMessage,
}

impl WebhookTrigger {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Mention => "mention",
            Self::DirectMessage => "direct_message",
        }
    }
}

impl WebhookTask {
    /// In words for those who run the server.
    pub fn words(&self) -> String {
        format!("message {} to the service of bot {} ({})", self.message, self.bot, self.trigger.word())
    }
}
