//! `DELETE /messages/{message_id}`: deletes a message for everyone (docs/api/messages.md#delete-a-message).

use crate::http::{Caller, HandlerResult, Params, Path, reply_ok};
use actors::commands;
use model::MessageId;
use rules::RuleError;

/// Deletes a message. One that was deleted before the request is refused like one that never existed; one that is
/// deleted while the request waits, as already deleted.
pub async fn delete(caller: Caller, Path(id): Path<MessageId>, Params(()): Params<()>) -> HandlerResult {
    if !caller.realm.has_message(id) {
        return Err(RuleError::InvalidMessage.into());
    }
    caller.realm.change(commands::DeleteMessage { user: caller.user.id, message: id }).await?;
    reply_ok()
}
