//! `POST /streams/{stream_id}/delete_topic`: deletes a topic, newest messages first
//! (docs/api/messages.md#delete-a-topic).

use crate::http::{ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, Path, reply};
use model::ChannelId;
use rules::permissions::delete::access_topic_to_delete;
use serde::Serialize;
use std::time::{Duration, Instant};

/// A topic.
pub struct DeleteTopic {
    topic: String,
}

impl FromFields for DeleteTopic {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { topic: fields.required("topic_name")? })
    }
}

#[derive(Serialize)]
struct DeletedTopic {
    complete: bool,
}

/// Deletes batch after batch, each of them a change of its own, until nothing is left that the caller can read, or the
/// time is over: then the client asks again.
pub async fn delete_topic(
    app: App,
    caller: Caller,
    Path(channel): Path<ChannelId>,
    Params(request): Params<DeleteTopic>,
) -> HandlerResult {
    let deadline = Instant::now() + Duration::from_secs(app.config.http.topic_deletion_secs_max);
    access_topic_to_delete(&caller.realm.directory(), &caller.user, channel.0.into(), &request.topic)?;
    loop {
        let batch = caller.realm.delete_topic_batch(caller.user.id, channel, &request.topic).await?;
        if batch.is_complete || Instant::now() >= deadline {
            return reply(&DeletedTopic { complete: batch.is_complete });
        }
    }
}
