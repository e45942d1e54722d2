//! `update_message_flags`: flags of the user's own messages, and how several changes are merged into one event.

use super::writer::{EventWriter, finish, open};
use crate::api::wire::list::Object;
use actors::Delivered;
use model::event::UnreadDetail;
use model::{ChannelId, EventBody, Flag, FlagOp, MessageId, UserId};
use rules::topics::shown_topic;
use serde::Serialize;
use std::collections::HashSet;

#[derive(Serialize)]
struct UpdateMessageFlags<'e, D> {
    op: &'static str,
    /// The older name of `op`.
    operation: &'static str,
    flag: &'static str,
    messages: &'e [MessageId],
    all: bool,
    /// By message id, for messages that became unread.
    #[serde(skip_serializing_if = "Option::is_none")]
    message_details: Option<D>,
}

pub(super) fn changed(
    writer: &EventWriter<'_>,
    flag: Flag,
    op: FlagOp,
    messages: &[MessageId],
    details: &[UnreadDetail],
) -> impl Serialize {
    let knows_empty_topic = writer.options.capabilities.empty_topic_name;
    let details = details.iter().map(move |detail| (detail.id, DetailJson::of(detail, knows_empty_topic)));
    UpdateMessageFlags {
        op: op.as_str(),
        operation: op.as_str(),
        flag: flag.as_str(),
        messages,
        all: false,
        message_details: ((flag, op) == (Flag::Read, FlagOp::Remove)).then_some(Object(details)),
    }
}

/// Number of events at the front that make the same change to different messages, so that one event can replace
/// them. Messages that become unread have details and are not merged.
pub(super) fn mergeable(events: &[Delivered]) -> usize {
    let Some(first) = events.first().and_then(change) else { return 0 };
    events.iter().take_while(|delivered| change(delivered) == Some(first)).count()
}

fn change(delivered: &Delivered) -> Option<(Flag, FlagOp)> {
    match &delivered.event.body {
        EventBody::Flags { flag, op, .. } if (*flag, *op) != (Flag::Read, FlagOp::Remove) => {
            Some((*flag, *op))
        }
        _ => None,
    }
}

/// Writes one event for several of the same change, with the number of the newest. A message that several of them change, which
/// requests at the same moment may do, is there once.
pub(super) fn push_merged(writer: &EventWriter<'_>, out: &mut Vec<u8>, events: &[Delivered]) {
    let (mut all, mut known) = (Vec::new(), HashSet::new());
    for delivered in events {
        if let EventBody::Flags { messages, .. } = &delivered.event.body {
            all.extend(messages.iter().copied().filter(|id| known.insert(*id)));
        }
    }
    if let Some((last, (flag, op))) = events.last().and_then(|last| Some((last, change(last)?))) {
        open(out, last.event.body.kind(), &changed(writer, flag, op, &all, &[]));
        finish(out, last.event.number.0);
    }
}

#[derive(Serialize)]
struct DetailJson<'e> {
    #[serde(flatten)]
    place: PlaceJson<'e>,
    /// Written only if it is true.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    mentioned: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum PlaceJson<'e> {
    Private { user_ids: &'e [UserId] },
    Stream { stream_id: ChannelId, topic: &'e str, unmuted_stream_msg: bool },
}

impl<'e> DetailJson<'e> {
    fn of(detail: &'e UnreadDetail, knows_empty_topic: bool) -> Self {
        let place = match &detail.channel {
            Some((channel, topic, is_unmuted)) => PlaceJson::Stream {
                stream_id: *channel,
                topic: shown_topic(topic, knows_empty_topic),
                unmuted_stream_msg: *is_unmuted,
            },
            None => PlaceJson::Private { user_ids: &detail.users },
        };
        Self { place, mentioned: detail.is_mentioned }
    }
}
