//! `GET /messages/{message_id}`: one message, with its source (docs/api/messages.md#fetch-a-message).

use super::page::{read_one, shown_flags};
use crate::api::wire::message::{MessageForm, MessageWriter};
use crate::http::{ApiError, Caller, Envelope, Fields, FromFields, HandlerResult, Params, Path};
use actors::queries::FetchedMessage;
use model::MessageId;
use rules::RuleError;

/// In which form the message is asked for.
pub struct FetchMessage {
    form: MessageForm,
}

impl FromFields for FetchMessage {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let form = MessageForm {
            apply_markdown: fields.bool_or("apply_markdown", true)?,
            client_gravatar: true,
            allow_empty_topic: fields.bool_or("allow_empty_topic_name", false)?,
        };
        Ok(Self { form })
    }
}

/// Fetches a message. One that must not be read is refused like one that does not exist.
pub async fn fetch_one(
    caller: Caller,
    Path(id): Path<MessageId>,
    Params(request): Params<FetchMessage>,
) -> HandlerResult {
    let Caller { realm, user } = caller;
    let reader = Some(&*user);
    let found = read_one(&realm, reader, id).await?;
    let FetchedMessage { message, flags } = found.ok_or(RuleError::InvalidMessage)?;
    let flags = shown_flags(reader, flags);
    let directory = realm.directory();
    let mut writer = MessageWriter::new(&directory, reader, request.form);
    let mut envelope = Envelope::with_capacity(writer.size_of(&message) + message.content.len());
    writer.push(envelope.open_field("message"), &message, Some(flags));
    envelope.field("raw_content", &message.content)?.reply()
}
