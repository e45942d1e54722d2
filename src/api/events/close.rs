//! `DELETE /events`: closes a queue; a waiting poll is answered first (docs/api/events.md#close-a-queue).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_ok};
use model::QueueId;

/// A queue to close.
pub struct CloseQueue(QueueId);

impl FromFields for CloseQueue {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(QueueId(fields.required_str("queue_id")?.into())))
    }
}

/// Closes one of the caller's queues. Unknown, foreign and closed ones give BAD_EVENT_QUEUE_ID.
pub async fn close(caller: Caller, Params(CloseQueue(queue)): Params<CloseQueue>) -> HandlerResult {
    caller.realm.close_queue(caller.user.id, queue).await?;
    reply_ok()
}
