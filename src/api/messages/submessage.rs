//! `POST /submessage`: a vote, an option, a task: parts of a widget (companions.md 4; endpoints.md 24).

use crate::http::{Answer, ApiError, Caller, Fields, FromFields, Params, reply_ok};
use model::MessageId;
use rules::widgets::WIDGET;

/// A part of a widget.
pub struct AddSubmessage {
    message: MessageId,
    msg_type: &'static str,
    content: String,
}

impl FromFields for AddSubmessage {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let message = MessageId(fields.required_id("message_id")?);
        let msg_type = fields.one_of("msg_type", &[WIDGET])?;
        Ok(Self { message, msg_type, content: fields.required("content")? })
    }
}

/// Adds a part to a widget.
pub async fn add_submessage(caller: Caller, Params(request): Params<AddSubmessage>) -> Answer {
    let AddSubmessage { message, msg_type, content } = request;
    caller.realm.add_submessage(caller.user.id, message, msg_type.to_owned(), content).await?;
    reply_ok()
}
