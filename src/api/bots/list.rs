//! `GET /bots`: the requester's own bots (docs/api/bots.md#list-bots).

use crate::api::wire::bot::channel_name;
use crate::api::wire::list::reply_list;
use crate::http::{Caller, HandlerResult, Params};
use model::BotConfig;
use rules::avatar::{AvatarSize, whole_avatar_url};
use serde::Serialize;

#[derive(Serialize)]
struct OwnBot<'a> {
    username: &'a str,
    full_name: &'a str,
    api_key: String,
    avatar_url: String,
    default_sending_stream: Option<&'a str>,
    default_events_register_stream: Option<&'a str>,
    default_all_public_streams: bool,
}

/// Lists `bots` that are active, oldest first, with their keys.
pub async fn list_bots(caller: Caller, _: Params<()>) -> HandlerResult {
    let directory = caller.realm.directory();
    let default = BotConfig::default();
    let bots = directory.bots_of(caller.user.id).filter(|bot| bot.is_active).map(|bot| {
        let config = directory.bot_config(bot.id).map_or(&default, |config| &**config);
        OwnBot {
            username: &bot.delivery_email,
            full_name: &bot.full_name,
            api_key: caller.realm.api_key(bot),
            avatar_url: whole_avatar_url(&directory, bot, AvatarSize::Small),
            default_sending_stream: channel_name(&directory, bot, config.sending_channel),
            default_events_register_stream: channel_name(&directory, bot, config.register_channel),
            default_all_public_streams: config.all_public_channels,
        }
    });
    reply_list("bots", bots)
}
