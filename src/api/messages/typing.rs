//! `POST /messages/{message_id}/typing`, at older levels `POST /message_edit_typing`: announces that the requester starts
//! or stops typing a new text of a message (docs/api/presence-and-status.md#report-typing-while-editing).

use super::access::readable_message;
use crate::api::users::typing::{receives_typing, typing_recipients};
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply_ok};
use model::event::TypingConversation;
use model::{Directory, Message, MessageId, Place, UserId};
use rules::permissions::edit::check_may_edit_content;
use rules::settings::user_bool;

/// The parameter `op`.
pub struct EditTyping {
    is_start: bool,
}

impl FromFields for EditTyping {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { is_start: fields.one_of("op", &["start", "stop"])? == "start" })
    }
}

/// The parameters `op` and `message_id`.
pub struct OldEditTyping {
    message: u32,
    typing: EditTyping,
}

impl FromFields for OldEditTyping {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { message: fields.required_id("message_id")?, typing: EditTyping::from_fields(fields)? })
    }
}

/// Notifies users who can read a message that the caller may edit, the caller's own clients included.
pub async fn report(
    caller: Caller,
    Path(id): Path<MessageId>,
    Params(EditTyping { is_start }): Params<EditTyping>,
) -> HandlerResult {
    announce(&caller, id, is_start).await
}

/// Notifies as [`report`] does, at the older path, where the message is a parameter.
pub async fn report_at_old_path(caller: Caller, Params(params): Params<OldEditTyping>) -> HandlerResult {
    announce(&caller, MessageId(params.message), params.typing.is_start).await
}

async fn announce(caller: &Caller, id: MessageId, is_start: bool) -> HandlerResult {
    let Caller { realm, user } = caller;
    let message = readable_message(caller, id).await?;
    let directory = realm.directory();
    let received = || realm.is_message_of(user.id, &message);
    check_may_edit_content(&directory, user, &message, received, realm.now())?;
    let (setting, what) = match message.place {
        Place::Channel { .. } => ("send_stream_typing_notifications", "channel"),
        Place::Direct => ("send_private_typing_notifications", "direct"),
    };
    if !user_bool(user, setting) {
        let text = format!("User has disabled typing notifications for {what} messages");
        return Err(ApiError::bad_request(text));
    }
    let (conversation, readers) = recipients(&directory, &message);
    if !readers.is_empty() {
        realm.edit_typing(user.id, is_start, (id, conversation), readers).await?;
    }
    reply_ok()
}

/// The conversation of a message, and its recipients of typing events.
fn recipients(directory: &Directory, message: &Message) -> (TypingConversation, Vec<UserId>) {
    if let Place::Channel { channel, topic } = &message.place {
        let conversation = TypingConversation::Channel { channel: *channel, topic: topic.clone() };
        return (conversation, typing_recipients(directory, *channel));
    }
    let users = directory.direct(message.recipient).map(|direct| direct.users.as_slice());
    let users = users.unwrap_or_default().iter().filter_map(|user| directory.user(*user).cloned());
    let users: Vec<_> = users.collect();
    let readers = users.iter().filter(|user| user.is_active && receives_typing(user)).map(|user| user.id);
    let readers = readers.collect();
    (TypingConversation::Direct(users), readers)
}
