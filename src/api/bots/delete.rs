//! `DELETE /bots/{bot_id}`: takes a bot out of use (companions.md 5).

use crate::http::{Answer, Caller, Params, Path, reply_ok};

/// Deactivates a bot; success without an event where it is so already.
pub async fn delete_bot(caller: Caller, Path(bot): Path<u32>, _: Params<()>) -> Answer {
    caller.realm.deactivate_bot(caller.user.id, bot.into()).await?;
    reply_ok()
}
