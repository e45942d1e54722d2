//! `typing`: a user starts or stops typing a message.

use super::writer::EventWriter;
use model::event::TypingConversation;
use model::{ChannelId, User, UserId};
use serde::Serialize;
use std::borrow::Cow;

#[derive(Serialize)]
pub(super) struct Typing<'e> {
    op: &'static str,
    message_type: &'static str,
    sender: TypistJson<'e>,
    /// Everyone in a direct conversation, the sender included.
    #[serde(skip_serializing_if = "Option::is_none")]
    recipients: Option<Vec<TypistJson<'e>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_id: Option<ChannelId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<&'e str>,
}

#[derive(Serialize)]
struct TypistJson<'e> {
    user_id: UserId,
    email: Cow<'e, str>,
}

pub(super) fn changed<'e>(
    writer: &EventWriter<'_>,
    sender: &'e User,
    is_start: bool,
    conversation: &'e TypingConversation,
) -> Typing<'e> {
    let typist = |user: &'e User| TypistJson { user_id: user.id, email: writer.email_of(user) };
    let op = if is_start { "start" } else { "stop" };
    let sender = typist(sender);
    match conversation {
        TypingConversation::Direct(users) => {
            let recipients = Some(users.iter().map(|user| typist(user)).collect());
            Typing { op, message_type: "direct", sender, recipients, stream_id: None, topic: None }
        }
        TypingConversation::Channel { channel, topic } => {
            let (stream_id, topic) = (Some(*channel), Some(writer.topic(topic)));
            Typing { op, message_type: "stream", sender, recipients: None, stream_id, topic }
        }
    }
}
