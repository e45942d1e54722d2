//! `typing_edit_message`: a user starts or stops typing a new text of a message.

use super::writer::EventWriter;
use model::event::TypingConversation;
use model::{ChannelId, MessageId, UserId};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct TypingEditMessage<'e> {
    op: &'static str,
    sender_id: UserId,
    message_id: MessageId,
    recipient: Recipient<'e>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Recipient<'e> {
    Channel {
        channel_id: ChannelId,
        topic: &'e str,
    },
    /// Everyone in the conversation, the sender included.
    Direct {
        user_ids: Vec<UserId>,
    },
}

pub(super) fn changed<'e>(
    writer: &EventWriter<'_>,
    sender: UserId,
    is_start: bool,
    message: MessageId,
    conversation: &'e TypingConversation,
) -> TypingEditMessage<'e> {
    let recipient = match conversation {
        TypingConversation::Direct(users) => {
            Recipient::Direct { user_ids: users.iter().map(|user| user.id).collect() }
        }
        TypingConversation::Channel { channel, topic } => {
            Recipient::Channel { channel_id: *channel, topic: writer.topic(topic) }
        }
    };
    let op = if is_start { "start" } else { "stop" };
    TypingEditMessage { op, sender_id: sender, message_id: message, recipient }
}
