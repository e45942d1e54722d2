//! `POST /mark_all_as_read`, `/mark_stream_as_read` and `/mark_topic_as_read`: older endpoints that most clients still
//! use (docs/api/message-flags.md#mark-as-read).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_field, reply_ok};
use actors::queries::{FlagSelection, ReadScope};
use model::{ChannelId, Flag, FlagOp, TopicKey};
use rules::permissions::channel::{Archived, ChannelRef, access_channel_content};
use rules::topics::normalize_topic;

/// Marks all messages of the caller as read. It is one change, so it is always `complete`.
pub async fn mark_all(caller: Caller, Params(()): Params<()>) -> HandlerResult {
    let selected = caller.realm.select_unread(&caller.user, ReadScope::Everything);
    mark(caller, selected.unwrap_or_default()).await?;
    reply_field("complete", &true)
}

/// The id of a channel.
pub struct InChannel(u32);

impl FromFields for InChannel {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.required_id("stream_id")?))
    }
}

/// Marks a channel as read.
pub async fn mark_channel(caller: Caller, Params(InChannel(channel)): Params<InChannel>) -> HandlerResult {
    let channel = access(&caller, channel)?;
    let selected = caller.realm.select_unread(&caller.user, ReadScope::Channel(channel));
    mark(caller, selected.unwrap_or_default()).await?;
    reply_ok()
}

/// A topic of a channel.
pub struct InTopic {
    channel: u32,
    topic: String,
}

impl FromFields for InTopic {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { channel: fields.required_id("stream_id")?, topic: fields.required("topic_name")? })
    }
}

/// Marks a topic as read. `No such topic` if the caller has no message in it.
pub async fn mark_topic(caller: Caller, Params(request): Params<InTopic>) -> HandlerResult {
    let channel = access(&caller, request.channel)?;
    let topic = normalize_topic(&request.topic);
    let key = TopicKey::new(topic);
    let selected = caller.realm.select_unread(&caller.user, ReadScope::Topic(channel, &key));
    let no_topic = || ApiError::bad_request(format!("No such topic '{topic}'"));
    mark(caller, selected.ok_or_else(no_topic)?).await?;
    reply_ok()
}

fn access(caller: &Caller, id: u32) -> Result<ChannelId, ApiError> {
    let directory = caller.realm.directory();
    let wanted = ChannelRef::Id(id.into());
    Ok(access_channel_content(&directory, &caller.user, wanted, Archived::Refused)?.channel().id)
}

async fn mark(caller: Caller, selected: FlagSelection) -> Result<(), ApiError> {
    if !selected.messages.is_empty() {
        caller.realm.change_flags(caller.user.id, Flag::Read, FlagOp::Add, selected.messages).await?;
    }
    Ok(())
}
