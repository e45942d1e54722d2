//! `PATCH /messages/{message_id}`: edits a message, moves messages, or both
//! (docs/api/messages.md#edit-or-move-messages).
//!
//! Access checks and rendering use a snapshot, as for sending; the actor of the message's place decides.

use super::access::readable_message;
use super::send::rendered;
use crate::api::formulas;
use crate::api::wire::attachment::attachment;
use crate::http::{
    ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, Path, RealmUrl, reply_field,
};
use actors::RequestedEdit;
use actors::commands::EditCommand;
use model::{MessageId, PropagateMode, TopicLink};
use rules::markdown::topic_links;
use rules::permissions::edit::{check_edit, parse_propagate_mode};

/// The changes to make, and where to announce a move.
pub struct EditMessage {
    request: RequestedEdit,
    tells_old: bool,
    tells_new: bool,
}

impl FromFields for EditMessage {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let channel = fields.optional_id("stream_id")?.map(i64::from);
        let topic = fields.alias("topic", "subject")?;
        let mode = fields.optional_str("propagate_mode").map(parse_propagate_mode).transpose()?;
        let tells_old = fields.bool_or("send_notification_to_old_thread", false)?;
        let tells_new = fields.bool_or("send_notification_to_new_thread", true)?;
        let request = RequestedEdit {
            content: fields.optional("content"),
            topic,
            channel,
            mode: mode.unwrap_or(PropagateMode::One),
            prev_content_sha256: fields.optional("prev_content_sha256"),
        };
        Ok(Self { request, tells_old, tells_new })
    }
}

/// Edits or moves; responds when the change is durable.
pub async fn edit(
    app: App,
    caller: Caller,
    url: RealmUrl,
    Path(id): Path<MessageId>,
    Params(request): Params<EditMessage>,
) -> HandlerResult {
    formulas::prepare(&app, &caller, request.request.content.as_deref()).await?;
    let command = prepare(&caller, url, id, request).await?;
    let edited = caller.realm.change(command).await?;
    let detached: Vec<_> = edited.detached.iter().map(attachment).collect();
    reply_field("detached_uploads", &detached)
}

async fn prepare(
    caller: &Caller,
    url: RealmUrl,
    id: MessageId,
    edit: EditMessage,
) -> Result<EditCommand, ApiError> {
    let Caller { realm, user } = caller;
    let EditMessage { request, tells_old, tells_new } = edit;
    let message = readable_message(caller, id).await?;
    let directory = realm.directory();
    let received = || realm.is_message_of(user.id, &message);
    let plan = check_edit(&directory, user, &message, received, &request.as_request(), realm.now())?;
    let context = realm.message_markdown(&directory, user).with_url(&url.0);
    let new_content = plan.content.map(|content| rendered(&content, &context)).transpose()?;
    let links = plan.movement.map(|movement| topic_links(&movement.topic, &context)).unwrap_or_default();
    let links = links.into_iter().map(|link| TopicLink { text: link.text, url: link.url });
    Ok(EditCommand {
        user: user.id,
        message: id,
        request,
        rendered: new_content,
        topic_links: links.collect(),
        tells_old,
        tells_new,
        realm_url: url.0,
    })
}
