//! `DELETE /events`: closes a queue; a waiting poll is answered first (docs/api/events.md#close-a-queue).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_ok};
use model::QueueId;

/// A queue to be ended.
pub struct CloseQueue {
    queue: QueueId,
}

impl FromFields for CloseQueue {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { queue: QueueId(fields.required_str("queue_id")?.into()) })
    }
}

/// Ends one of the caller's queues. Unknown, foreign and ended ones are all the same: BAD_EVENT_QUEUE_ID.
pub async fn close(caller: Caller, Params(request): Params<CloseQueue>) -> HandlerResult {
    caller.realm.close_queue(caller.user.id, request.queue).await?;
    reply_ok()
}
