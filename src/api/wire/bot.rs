//! Bots as those see them who look after them (companions.md 2, `realm_bots`).
//!
//! Keys and tokens are in here: for the owner of a bot and for administrators only.

use actors::RealmHandle;
use model::{BotConfig, ChannelId, Directory, User, UserId, WebhookService};
use rules::avatar::{AvatarSize, whole_avatar_url};
use serde::Serialize;

/// A bot with its settings.
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

/// Whom an outgoing webhook asks.
#[derive(Clone, Debug, Serialize)]
pub struct ServiceJson<'a> {
    base_url: &'a str,
    interface: u8,
    token: String,
}

/// A bot for those who look after it.
pub fn bot<'a>(
    realm: &RealmHandle,
    directory: &'a Directory,
    bot: &'a User,
    config: &'a BotConfig,
) -> BotJson<'a> {
    BotJson {
        user_id: bot.id,
        full_name: &bot.full_name,
        email: &bot.delivery_email,
        bot_type: bot.bot.as_ref().map(|bot| bot.kind.code()),
        is_active: bot.is_active,
        api_key: realm.api_key(bot),
        avatar_url: whole_avatar_url(directory, bot, AvatarSize::Small),
        default_sending_stream: channel_name(directory, config.sending_channel),
        default_events_register_stream: channel_name(directory, config.register_channel),
        default_all_public_streams: config.all_public_channels,
        owner_id: bot.bot.as_ref().and_then(|bot| bot.owner),
        services: services(realm, bot.id, config.service.as_ref()),
    }
}

/// `services`: one for an outgoing webhook, none for other bots.
pub fn services<'a>(
    realm: &RealmHandle,
    bot: UserId,
    service: Option<&'a WebhookService>,
) -> Vec<ServiceJson<'a>> {
    let shown = |service: &'a WebhookService| ServiceJson {
        base_url: &service.base_url,
        interface: service.interface.code(),
        token: realm.webhook_token(bot),
    };
    service.into_iter().map(shown).collect()
}

/// The name of a channel that a bot is set to; none when it is set to none.
pub fn channel_name(directory: &Directory, channel: Option<ChannelId>) -> Option<&str> {
    directory.channel(channel?).map(|channel| channel.name.as_str())
}
