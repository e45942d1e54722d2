//! `DELETE /messages/{message_id}`: deletes a message for everybody (companions.md 4; endpoints.md 21).

use crate::http::{Answer, Caller, Params, Path, reply_ok};
use model::MessageId;
use rules::RuleError;

/// Deletes a message. One that is gone when the request comes is refused like one that never was; one that goes while
/// the request waits, as deleted already.
pub async fn delete(caller: Caller, Path(id): Path<MessageId>, Params(()): Params<()>) -> Answer {
    if !caller.realm.read(|view| view.messages.all.contains(id.0)) {
        return Err(RuleError::InvalidMessage.into());
    }
    caller.realm.delete_message(caller.user.id, id).await?;
    reply_ok()
}
