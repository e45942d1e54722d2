//! The configuration of bots: default channels, the service of an outgoing webhook, and the integration of an incoming
//! one. Keys and tokens are not in it: they are derived from the server's secret (docs/api/bots.md).

use crate::ids::ChannelId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Configuration of a bot; a bot without a record has the default one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BotConfig {
    /// Default channel for sending.
    pub sending_channel: Option<ChannelId>,
    /// Default channel of its event queues: applies to queues without a narrow.
    pub register_channel: Option<ChannelId>,
    /// Default of `all_public_streams` for its event queues.
    pub all_public_channels: bool,
    pub service: Option<WebhookService>,
}

/// An external service that is called with messages to a bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookService {
    /// Name of the service; by default the bot's short name.
    pub name: String,
    /// URL of the service; empty if not configured.
    pub base_url: String,
    pub interface: WebhookInterface,
}

/// Format of requests to a service; codes as in the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WebhookInterface {
    /// 1: JSON with the whole message.
    Generic,
    /// 2: form fields like Slack's outgoing webhooks.
    Slack,
}

impl WebhookInterface {
    /// The code in the API.
    pub fn code(self) -> u8 {
        self as u8 + 1
    }

    /// The interface with an API code.
    pub fn from_code(code: i64) -> Option<Self> {
        [Self::Generic, Self::Slack].into_iter().find(|interface| i64::from(interface.code()) == code)
    }
}

/// What an incoming webhook bot is for, and its configuration; a bot without a record has the default one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BotIntegration {
    /// The name of an integration of the catalog.
    pub name: Option<String>,
    /// Texts by key, such as keys of another service.
    pub data: BTreeMap<String, String>,
}

impl BotIntegration {
    /// Characters of all keys and values.
    pub fn chars(&self) -> usize {
        self.data.iter().map(|(key, value)| key.chars().count() + value.chars().count()).sum()
    }

    /// Bytes of all keys and values.
    pub fn bytes(&self) -> usize {
        self.data.iter().map(|(key, value)| key.len() + value.len()).sum()
    }
}
