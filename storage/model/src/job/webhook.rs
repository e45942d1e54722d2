//! Calls of the services of outgoing webhook bots.

use crate::ids::{MessageId, UserId};
use serde::{Deserialize, Serialize};

/// A message to a bot that is to be sent to its service, which may reply. The message, the service's URL and the token
/// are read at delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookTask {
    pub bot: UserId,
    pub message: MessageId,
    pub trigger: WebhookTrigger,
}

/// How a message addresses a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WebhookTrigger {
    Mention,
    /// The bot is in the conversation.
    DirectMessage,
}

impl WebhookTrigger {
    /// The value in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mention => "mention",
            Self::DirectMessage => "direct_message",
        }
    }
}

impl WebhookTask {
    /// A description for the server's operators.
    pub fn description(&self) -> String {
        let why = match self.trigger {
            WebhookTrigger::Mention => "which the message mentions",
            WebhookTrigger::DirectMessage => "as a direct message",
        };
        format!("message {} to the service of bot {}, {why}", self.message, self.bot)
    }
}
