//! `GET /messages/{message_id}`: one message, with its source (docs/api/messages.md#fetch-a-message).

use super::page::read_one;
use crate::api::wire::message::{MessageForm, MessageWriter};
use crate::http::{ApiError, Caller, Envelope, Fields, FromFields, HandlerResult, Params, Path, Realm};
use actors::queries::FetchedMessage;
use model::MessageId;
use rules::RuleError;

/// The form of a single message; its avatar URL is never left to the client.
impl FromFields for MessageForm {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            apply_markdown: fields.bool_or("apply_markdown", true)?,
            client_gravatar: true,
            allow_empty_topic: fields.bool_or("allow_empty_topic_name", false)?,
        })
    }
}

/// Returns a message. One that the caller may not read is refused like one that does not exist; spectators are asked to log
/// in for all but messages of web-public channels.
pub async fn fetch_one(
    caller: Option<Caller>,
    Realm(realm): Realm,
    Path(id): Path<MessageId>,
    Params(form): Params<MessageForm>,
) -> HandlerResult {
    let user = caller.map(|caller| caller.user);
    let found = read_one(&realm, user.as_deref(), id).await?;
    let refusal = if user.is_some() { RuleError::InvalidMessage } else { RuleError::LoginRequired };
    let FetchedMessage { message, flags } = found.ok_or(refusal)?;
    let directory = realm.directory();
    let mut writer = MessageWriter::new(&directory, user.as_deref(), form);
    let mut envelope = Envelope::with_capacity(writer.size_of(&message) + message.content.len());
    writer.push(envelope.open_field("message"), &message, Some(flags));
    envelope.field("raw_content", &message.content)?.reply()
}
