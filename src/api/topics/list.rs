//! `GET /users/me/{stream_id}/topics`: the topics of a channel, newest first (docs/api/topics.md#list-topics).

use crate::api::wire::list::push_list;
use crate::http::{ApiError, Caller, Envelope, Fields, FromFields, HandlerResult, Params, Path};
use actors::queries::{TopicSummary, topics};
use model::{ChannelId, MessageId};
use rules::permissions::channel::{Archived, ChannelRef, History, access_channel_content};
use rules::topics::shown_topic;
use serde::Serialize;

/// The parameter.
pub struct ListTopics {
    allow_empty_topic_name: bool,
}

impl FromFields for ListTopics {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { allow_empty_topic_name: fields.bool_or("allow_empty_topic_name", false)? })
    }
}

#[derive(Serialize)]
struct Topic<'a> {
    name: &'a str,
    max_id: MessageId,
}

/// `topics`. Of a channel with protected history only those of messages that the caller was given.
pub async fn list_topics(
    caller: Caller,
    Path(id): Path<ChannelId>,
    Params(params): Params<ListTopics>,
) -> HandlerResult {
    let Caller { realm, user } = &caller;
    let directory = realm.directory();
    let wanted = ChannelRef::Id(id.0.into());
    let readable = access_channel_content(&directory, user, wanted, Archived::Allowed)?;
    let is_protected = matches!(readable.history(), History::Delivered(_));
    let found = topics(realm, id, is_protected.then_some(user));
    let items = found.iter().map(|TopicSummary { name, max_id }| Topic {
        name: shown_topic(name, params.allow_empty_topic_name),
        max_id: *max_id,
    });
    let mut envelope = Envelope::with_capacity(found.len() * 64);
    push_list(envelope.open_field("topics"), items);
    envelope.reply()
}
