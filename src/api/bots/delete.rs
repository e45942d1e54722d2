//! `DELETE /bots/{bot_id}`: deactivates a bot (docs/api/bots.md#delete-a-bot).

use crate::http::{Caller, HandlerResult, Params, Path};
use actors::commands;

/// Deactivates a bot; success without an event if it is deactivated already.
pub async fn delete_bot(caller: Caller, Path(bot): Path<u32>, _: Params<()>) -> HandlerResult {
    caller.execute(commands::DeactivateBot { by: caller.user.id, bot: bot.into() }).await
}
