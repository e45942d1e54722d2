//! `GET /users/me/{stream_id}/topics`: the topics of a channel, newest first (docs/api/topics.md#list-topics).

use crate::api::wire::list::reply_list;
use crate::http::admission::Admission;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, Realm};
use actors::queries::{TopicSummary, topic_count, topics};
use model::{ChannelId, MessageId};
use rules::RuleError;
use rules::permissions::channel::{Archived, ChannelRef, History, access_channel_content};
use rules::permissions::spectators::is_shown_to_spectators;
use rules::topics::shown_topic;
use serde::Serialize;

/// Expected memory of a topic in a list and in its JSON, in bytes.
const TOPIC_BYTES: usize = 96;

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
    admission: Admission,
    caller: Option<Caller>,
    Realm(realm): Realm,
    Path(id): Path<ChannelId>,
    Params(ListTopics(knows_empty)): Params<ListTopics>,
) -> HandlerResult {
    // Before the access check: while a request waits for memory, it may lose the access.
    let held = admission.reserve_list(topic_count(&realm, id), TOPIC_BYTES).await?;
    let directory = realm.directory();
    let only_those_of = match &caller {
        Some(Caller { user, .. }) => {
            let wanted = ChannelRef::Id(id.0.into());
            let readable = access_channel_content(&directory, user, wanted, Archived::Allowed)?;
            matches!(readable.history(), History::Delivered(_)).then_some(&**user)
        }
        None => {
            let channel = directory.channel(id).filter(|channel| is_shown_to_spectators(&directory, channel));
            channel.map(|_| None).ok_or(RuleError::LoginRequired)?
        }
    };
    let found = topics(&realm, id, only_those_of);
    let items = found
        .iter()
        .map(|TopicSummary { name, max_id }| Topic { name: shown_topic(name, knows_empty), max_id: *max_id });
    let reply = reply_list("topics", items)?;
    Ok(match held {
        Some(held) => reply.holding(held)?,
        None => reply,
    })
}
