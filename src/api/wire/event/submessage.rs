//! `submessage`: a widget, for example a poll, got another part.

use model::{MessageId, Submessage, UserId};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct SubmessageEvent<'e> {
    message_id: MessageId,
    submessage_id: u32,
    sender_id: UserId,
    msg_type: &'e str,
    content: &'e str,
}

pub(super) fn added(message_id: MessageId, submessage: &Submessage) -> SubmessageEvent<'_> {
    SubmessageEvent {
        message_id,
        submessage_id: submessage.id,
        sender_id: submessage.sender,
        msg_type: &submessage.msg_type,
        content: &submessage.content,
    }
}
