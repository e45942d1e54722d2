//! What is set for a bot: where it sends and listens by default, and whom it asks when people talk to it
//! (companions.md 5). No secrets: keys and tokens are derived from the server's secret.

use crate::ids::ChannelId;
use serde::{Deserialize, Serialize};

/// Settings of a bot; a bot without a record has the default ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BotConfig {
    /// Where it sends when it does not say where.
    pub sending_channel: Option<ChannelId>,
    /// Whose messages it gets when it registers a queue without a narrow.
    pub register_channel: Option<ChannelId>,
    /// Whether it gets the messages of all public channels when it does not say.
    pub all_public_channels: bool,
    /// Whom an outgoing webhook asks.
    pub service: Option<WebhookService>,
}

/// A server of somebody else's that is asked when people talk to a bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookService {
    /// The name it was given; the bot's short name without one.
    pub name: String,
    /// Where it is; empty as long as nobody said.
    pub base_url: String,
    /// The form of questions and answers.
    pub interface: WebhookInterface,
}

/// In which form a service is asked; codes as on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WebhookInterface {
    /// 1: JSON with the whole message.
    Generic,
    /// 2: the form fields of another chat server's outgoing webhooks.
    Slack,
}

impl WebhookInterface {
    /// The code on the wire.
    pub fn code(self) -> u8 {
        match self {
            Self::Generic => 1,
            Self::Slack => 2,
        }
    }

    /// The interface with a wire code.
    pub fn from_code(code: i64) -> Option<Self> {
        [Self::Generic, Self::Slack].into_iter().find(|interface| i64::from(interface.code()) == code)
    }
}
