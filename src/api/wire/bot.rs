//! Bots as the users who manage them see them (docs/api/events.md#realm_bot).
//!
//! Keys and tokens are only for the owner of a bot; administrators get empty strings in their place.

use actors::RealmHandle;
use model::{BotConfig, BotIntegration, Channel, ChannelId, Directory, User, UserId, WebhookService};
use rules::avatar::{AvatarSize, whole_avatar_url};
use rules::permissions::channel::sees_channel;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Derives the secrets of bots; they are not stored.
pub trait BotSecrets {
    /// The API key of the account's current rotation.
    fn api_key(&self, bot: &User) -> String;
    /// The token by which an outgoing webhook identifies itself to its service.
    fn webhook_token(&self, bot: UserId) -> String;
}

impl BotSecrets for RealmHandle {
    fn api_key(&self, bot: &User) -> String {
        Self::api_key(self, bot)
    }

    fn webhook_token(&self, bot: UserId) -> String {
        Self::webhook_token(self, bot)
    }
}

/// A bot with its configuration.
#[derive(Clone, Debug, Serialize)]
pub struct BotJson<'a> {
    user_id: UserId,
    full_name: &'a str,
    email: &'a str,
    bot_type: Option<u8>,
    is_active: bool,
    api_key: String,
    avatar_url: String,
    default_sending_stream: Option<&'a str>,
    default_events_register_stream: Option<&'a str>,
    default_all_public_streams: bool,
    owner_id: Option<UserId>,
    services: Vec<ServiceJson<'a>>,
}

/// The service of a webhook: what an outgoing one calls, or what an incoming one is for.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum ServiceJson<'a> {
    Outgoing {
        base_url: &'a str,
        interface: u8,
        token: String,
    },
    Incoming {
        /// The name of the integration; empty if there is only configuration.
        service_name: &'a str,
        config_data: &'a BTreeMap<String, String>,
    },
}

/// A bot for a user who manages it; `with_secrets` for its owner.
pub fn bot<'a>(
    secrets: &dyn BotSecrets,
    directory: &'a Directory,
    bot: &'a User,
    (config, integration): (&'a BotConfig, &'a BotIntegration),
    with_secrets: bool,
) -> BotJson<'a> {
    BotJson {
        user_id: bot.id,
        full_name: &bot.full_name,
        email: &bot.delivery_email,
        bot_type: bot.bot.as_ref().map(|bot| bot.kind.code()),
        is_active: bot.is_active,
        api_key: if with_secrets { secrets.api_key(bot) } else { String::new() },
        avatar_url: whole_avatar_url(directory, bot, AvatarSize::Small),
        default_sending_stream: channel_name(directory, bot, config.sending_channel),
        default_events_register_stream: channel_name(directory, bot, config.register_channel),
        default_all_public_streams: config.all_public_channels,
        owner_id: bot.owner(),
        services: match config.service.as_ref() {
            Some(service) => services(secrets, bot.id, Some(service), with_secrets),
            None => integration_services(integration),
        },
    }
}

/// The value of `services` of an incoming webhook: one if it has an integration or configuration.
pub fn integration_services(integration: &BotIntegration) -> Vec<ServiceJson<'_>> {
    let service_name = integration.name.as_deref().unwrap_or_default();
    let is_set = integration.name.is_some() || !integration.data.is_empty();
    is_set
        .then_some(ServiceJson::Incoming { service_name, config_data: &integration.data })
        .into_iter()
        .collect()
}

/// The value of `services` of an outgoing webhook; none without a service.
pub fn services<'a>(
    secrets: &dyn BotSecrets,
    bot: UserId,
    service: Option<&'a WebhookService>,
    with_secrets: bool,
) -> Vec<ServiceJson<'a>> {
    let shown = |service: &'a WebhookService| ServiceJson::Outgoing {
        base_url: &service.base_url,
        interface: service.interface.code(),
        token: if with_secrets { secrets.webhook_token(bot) } else { String::new() },
    };
    service.into_iter().map(shown).collect()
}

/// The name of a channel that a bot is configured with; none if none is configured, if it no longer exists, or if the bot's
/// owner may no longer see it. All others who receive a bot's configuration are administrators.
pub fn channel_name<'d>(directory: &'d Directory, bot: &User, channel: Option<ChannelId>) -> Option<&'d str> {
    let owner = bot.owner().and_then(|owner| directory.user(owner));
    let is_shown =
        |channel: &&Arc<Channel>| owner.is_none_or(|owner| sees_channel(directory, owner, channel));
    directory.channel(channel?).filter(is_shown).map(|channel| channel.name.as_str())
}
