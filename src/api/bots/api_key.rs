//! `/bots/{bot_id}/api_key`: the key of a bot, for its owner (docs/api/bots.md#api-key-of-a-bot).

use crate::http::{Caller, HandlerResult, Params, Path, reply_field};
use actors::commands;
use rules::bots::access_bot_key;

/// Returns the current `api_key`.
pub async fn show(caller: Caller, Path(bot): Path<u32>, _: Params<()>) -> HandlerResult {
    let directory = caller.realm.directory();
    let bot = access_bot_key(&directory, &caller.user, bot.into())?;
    reply_field("api_key", &caller.realm.api_key(bot))
}

/// Replaces the key, and returns the new `api_key`; the old one is invalid at once.
pub async fn regenerate(caller: Caller, Path(bot): Path<u32>, _: Params<()>) -> HandlerResult {
    let bot = caller.realm.execute(commands::RenewBotKey { by: caller.user.id, bot: bot.into() }).await?;
    reply_field("api_key", &caller.realm.api_key(&bot))
}
