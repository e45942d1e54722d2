//! `update_message_flags` (events.md 3 and 5), and how several of them become one.

use crate::api::wire::json::{push_field, push_text_field, push_value};
use actors::Delivered;
use model::event::UnreadDetail;
use model::{ChannelId, EventBody, Flag, FlagOp, MessageId, UserId};
use rules::topics::shown_topic;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// How many events at the front say the same of different messages, so that one can stand for them. Messages that become
/// unread come with details and stay apart.
pub fn mergeable(events: &[Delivered]) -> usize {
    let kind = |delivered: &Delivered| match &delivered.event.body {
        EventBody::Flags { flag, op, .. } if (*flag, *op) != (Flag::Read, FlagOp::Remove) => {
            Some((*flag, *op))
        }
        _ => None,
    };
    let Some(first) = events.first().and_then(kind) else { return 0 };
    events.iter().take_while(|delivered| kind(delivered) == Some(first)).count()
}

/// Writes one event for several, with the number of the newest.
pub fn push_merged(out: &mut Vec<u8>, events: &[Delivered]) {
    let mut all: Vec<MessageId> = Vec::new();
    let mut kind = None;
    let mut number = None;
    for delivered in events {
        if let EventBody::Flags { flag, op, messages, .. } = &delivered.event.body {
            all.extend(messages);
            kind = Some((*flag, *op));
            number = Some(delivered.event.number);
        }
    }
    let (Some((flag, op)), Some(number)) = (kind, number) else { return };
    push_open(out, flag, op, &all, &[], true);
    push_field(out, "id", &number);
    out.push(b'}');
}

/// Writes an event up to its number.
pub fn push_open(
    out: &mut Vec<u8>,
    flag: Flag,
    op: FlagOp,
    messages: &[MessageId],
    details: &[UnreadDetail],
    knows_empty_topic: bool,
) {
    out.extend_from_slice(b"{\"type\":\"update_message_flags\",\"op\":");
    push_value(out, op.word());
    // The older name of the same.
    push_text_field(out, "operation", op.word());
    push_text_field(out, "flag", flag.word());
    push_field(out, "messages", messages);
    push_field(out, "all", &false);
    if (flag, op) == (Flag::Read, FlagOp::Remove) {
        push_field(out, "message_details", &Details { details, knows_empty_topic });
    }
}

/// `message_details`: by message id.
struct Details<'e> {
    details: &'e [UnreadDetail],
    knows_empty_topic: bool,
}

impl Serialize for Details<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.details.len()))?;
        for detail in self.details {
            map.serialize_entry(&detail.id, &DetailJson::of(detail, self.knows_empty_topic))?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct DetailJson<'e> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_ids: Option<&'e [UserId]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_id: Option<ChannelId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unmuted_stream_msg: Option<bool>,
    /// Given only where it is true.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    mentioned: bool,
}

impl<'e> DetailJson<'e> {
    fn of(detail: &'e UnreadDetail, knows_empty_topic: bool) -> Self {
        let mentioned = detail.is_mentioned;
        match &detail.channel {
            Some((channel, topic, is_unmuted)) => Self {
                r#type: "stream",
                user_ids: None,
                stream_id: Some(*channel),
                topic: Some(shown_topic(topic, knows_empty_topic)),
                unmuted_stream_msg: Some(*is_unmuted),
                mentioned,
            },
            None => Self {
                r#type: "private",
                user_ids: Some(&detail.users),
                stream_id: None,
                topic: None,
                unmuted_stream_msg: None,
                mentioned,
            },
        }
    }
}
