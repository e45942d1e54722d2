//! `POST /submessage`: adds a vote, option or task to a widget (docs/api/messages.md#widgets).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_ok};
use actors::commands;
use model::MessageId;
use rules::widgets::WIDGET;

/// The part to add to a widget.
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
pub async fn add_submessage(caller: Caller, Params(request): Params<AddSubmessage>) -> HandlerResult {
    let AddSubmessage { message, msg_type, content } = request;
    let (user, msg_type) = (caller.user.id, msg_type.to_owned());
    caller.realm.change(commands::AddSubmessage { user, message, msg_type, content }).await?;
    reply_ok()
}
