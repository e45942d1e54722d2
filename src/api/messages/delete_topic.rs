//! `POST /streams/{stream_id}/delete_topic`: deletes a topic, newest messages first
//! (docs/api/messages.md#delete-a-topic).

use crate::http::{ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, Path, reply_field};
use model::ChannelId;
use rules::permissions::delete::access_topic_to_delete;
use std::time::{Duration, Instant};

/// The name of a topic.
pub struct DeleteTopic(String);

impl FromFields for DeleteTopic {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.required("topic_name")?))
    }
}

/// Deletes in batches, each of them one change, until no message is left that the caller can read. Returns `complete`:
/// false if the time limit ended it first, and the client has to repeat the request.
pub async fn delete_topic(
    app: App,
    caller: Caller,
    Path(channel): Path<ChannelId>,
    Params(DeleteTopic(topic)): Params<DeleteTopic>,
) -> HandlerResult {
    let deadline = Instant::now() + Duration::from_secs(app.config.http.topic_deletion_secs_max);
    access_topic_to_delete(&caller.realm.directory(), &caller.user, channel.0.into(), &topic)?;
    loop {
        let batch = caller.realm.delete_topic_batch(caller.user.id, channel, &topic).await?;
        if batch.is_complete || Instant::now() >= deadline {
            return reply_field("complete", &batch.is_complete);
        }
    }
}
