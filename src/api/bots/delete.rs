//! `DELETE /bots/{bot_id}`: deactivates a bot (docs/api/bots.md#delete-a-bot).

use crate::http::{Caller, HandlerResult, Params, Path, reply_ok};
use actors::commands;

/// Deactivates a bot; success without an event where it is so already.
pub async fn delete_bot(caller: Caller, Path(bot): Path<u32>, _: Params<()>) -> HandlerResult {
    caller.realm.execute(commands::DeactivateBot { by: caller.user.id, bot: bot.into() }).await?;
    reply_ok()
}
