//! `/bots/{bot_id}/api_key`: the key of a bot, for its owner (docs/api/bots.md#api-key-of-a-bot).

use crate::http::{Caller, HandlerResult, Params, Path, reply};
use actors::commands;
use rules::bots::access_bot_key;
use serde::Serialize;

#[derive(Serialize)]
struct Key {
    api_key: String,
}

/// `api_key` as it is.
pub async fn show(caller: Caller, Path(bot): Path<u32>, _: Params<()>) -> HandlerResult {
    let directory = caller.realm.directory();
    let bot = access_bot_key(&directory, &caller.user, bot.into())?;
    reply(&Key { api_key: caller.realm.api_key(bot) })
}

/// A new `api_key`; the one before stops at once.
pub async fn regenerate(caller: Caller, Path(bot): Path<u32>, _: Params<()>) -> HandlerResult {
    let bot = caller.realm.execute(commands::RenewBotKey { by: caller.user.id, bot: bot.into() }).await?;
    reply(&Key { api_key: caller.realm.api_key(&bot) })
}
