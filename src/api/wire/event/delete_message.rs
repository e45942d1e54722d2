//! `delete_message`: messages that were deleted, or that the user can no longer read.

use super::writer::{EventWriter, finish, open};
use model::{ChannelId, Event, EventKind, MessageId};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct DeleteMessage<'e> {
    message_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_id: Option<ChannelId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_ids: Option<&'e [MessageId]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<MessageId>,
}

/// One event for all messages of a conversation; `place` is the channel and topic, none for direct messages.
pub(super) fn bulk<'e>(
    writer: &EventWriter<'_>,
    place: Option<&'e (ChannelId, String)>,
    messages: &'e [MessageId],
) -> DeleteMessage<'e> {
    DeleteMessage { message_ids: Some(messages), ..located(writer, place) }
}

/// Writes one event for each message, for clients without bulk deletion. The event has as many numbers as messages;
/// the last message gets the last of them.
pub(super) fn push_single(
    writer: &EventWriter<'_>,
    out: &mut Vec<u8>,
    event: &Event,
    place: Option<&(ChannelId, String)>,
    messages: &[MessageId],
) {
    let first = event.first_number().0;
    for (number, message) in (first..).zip(messages) {
        if number > first {
            out.push(b',');
        }
        let single = DeleteMessage { message_id: Some(*message), ..located(writer, place) };
        open(out, EventKind::DeleteMessage, &single);
        finish(out, number);
    }
}

fn located<'e>(writer: &EventWriter<'_>, place: Option<&'e (ChannelId, String)>) -> DeleteMessage<'e> {
    DeleteMessage {
        message_type: if place.is_some() { "stream" } else { "private" },
        stream_id: place.map(|(channel, _)| *channel),
        topic: place.map(|(_, topic)| writer.topic(topic)),
        message_ids: None,
        message_id: None,
    }
}
