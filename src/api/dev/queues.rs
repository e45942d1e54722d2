//! `POST /dev/queues/expire`: ends event queues as if the server had forgotten them (docs/dev-server.md#faults).

use super::{check_known, tools};
use crate::http::{ApiError, App, Fields, FromFields, HandlerResult, Params, Realm, reply_field};
use model::QueueId;

/// One queue, or all of the organization.
pub struct ExpiredQueues(Option<QueueId>);

impl FromFields for ExpiredQueues {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let queue = fields.optional_str("queue_id").map(|id| QueueId(id.into()));
        check_known(fields).map(|()| Self(queue))
    }
}

/// Ends the queues; waiting polls and later ones get BAD_EVENT_QUEUE_ID.
pub async fn expire(
    app: App,
    Realm(realm): Realm,
    Params(ExpiredQueues(queue)): Params<ExpiredQueues>,
) -> HandlerResult {
    tools(&app)?;
    reply_field("expired", &realm.expire_queues(queue).await?)
}
