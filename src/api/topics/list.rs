//! `GET /users/me/{stream_id}/topics`: the topics of a channel, newest first (docs/api/topics.md#list-topics).

use crate::api::wire::list::reply_list;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path};
use actors::queries::{TopicSummary, topics};
use model::{ChannelId, MessageId};
use rules::permissions::channel::{Archived, ChannelRef, History, access_channel_content};
use rules::topics::shown_topic;
use serde::Serialize;

/// Whether the client knows the empty topic.
pub struct ListTopics(bool);

impl FromFields for ListTopics {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.bool_or("allow_empty_topic_name", false)?))
    }
}

#[derive(Serialize)]
struct Topic<'a> {
    name: &'a str,
    max_id: MessageId,
}

/// Lists `topics`; with protected history, only those of messages that were delivered to the caller.
pub async fn list_topics(
    caller: Caller,
    Path(id): Path<ChannelId>,
    Params(ListTopics(knows_empty)): Params<ListTopics>,
) -> HandlerResult {
    let Caller { realm, user } = &caller;
    let directory = realm.directory();
    let wanted = ChannelRef::Id(id.0.into());
    let readable = access_channel_content(&directory, user, wanted, Archived::Allowed)?;
    let is_protected = matches!(readable.history(), History::Delivered(_));
    let found = topics(realm, id, is_protected.then_some(user));
    let items = found
        .iter()
        .map(|TopicSummary { name, max_id }| Topic { name: shown_topic(name, knows_empty), max_id: *max_id });
    reply_list("topics", items)
}
