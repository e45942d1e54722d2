//! `/scheduled_messages`: messages that are sent later (docs/api/scheduled-messages.md).

use super::recipient_fields::{Kind, To, to_topic};
use crate::api::formulas;
use crate::api::wire::list::push_list;
use crate::api::wire::scheduled::scheduled;
use crate::http::{
    ApiError, App, Caller, ClientName, Envelope, Fields, FromFields, HandlerResult, Params, Path, RealmUrl,
    reply, reply_ok,
};
use actors::commands;
use model::{ScheduledMessage, ScheduledMessageId};
use rules::client::is_read_by_sender;
use rules::content::parse_content;
use rules::scheduling::parse_due;
use serde::Serialize;

/// A message to be sent later.
pub struct NewScheduled {
    kind: Kind,
    to: To,
    topic: Option<String>,
    content: String,
    secs: i64,
    read_by_sender: Option<bool>,
}

impl FromFields for NewScheduled {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            kind: Kind::of(fields)?.ok_or_else(|| ApiError::missing_parameter("type"))?,
            to: To::of(fields)?.ok_or_else(|| ApiError::missing_parameter("to"))?,
            topic: fields.optional("topic"),
            content: fields.required("content")?,
            secs: fields.required_int("scheduled_delivery_timestamp")?,
            read_by_sender: fields.optional_bool("read_by_sender")?,
        })
    }
}

#[derive(Serialize)]
struct Created {
    scheduled_message_id: ScheduledMessageId,
}

/// `scheduled_messages`, in the order in which they are due.
pub async fn list(caller: Caller, _: Params<()>) -> HandlerResult {
    let (directory, owner) = (caller.realm.directory(), caller.user.id);
    let mut envelope = Envelope::with_capacity(256);
    let messages = directory.scheduled_in_order(owner).into_iter();
    let messages = messages.filter(|(_, record)| record.reminder.is_none());
    let items = messages.map(|(id, record)| scheduled(owner, id, record));
    push_list(envelope.open_field("scheduled_messages"), items);
    envelope.reply()
}

/// Schedules a message. It is checked as if it was sent now, and again when it is sent.
pub async fn create(
    app: App,
    caller: Caller,
    ClientName(client): ClientName,
    RealmUrl(url): RealmUrl,
    Params(new): Params<NewScheduled>,
) -> HandlerResult {
    let Caller { realm, user } = &caller;
    let due = parse_due(new.secs, realm.now())?;
    let to = match new.kind {
        Kind::Channel => to_topic(new.to.channel()?, new.topic.as_deref())?,
        Kind::Direct => new.to.people(&realm.directory(), user)?,
    };
    let mut message = ScheduledMessage {
        to,
        content: parse_content(&new.content)?,
        rendered: String::new(),
        due,
        read_by_sender: new.read_by_sender.unwrap_or_else(|| is_read_by_sender(&client)),
        client,
        url,
        failure: None,
        reminder: None,
    };
    formulas::prepare(&app, &caller, [message.content.as_str()]).await?;
    realm.check_scheduled(user, &mut message)?;
    let scheduled_message_id = realm.execute(commands::ScheduleMessage { user: user.id, message }).await?;
    reply(&Created { scheduled_message_id })
}

/// Deletes a scheduled message.
pub async fn delete(caller: Caller, Path(id): Path<ScheduledMessageId>, _: Params<()>) -> HandlerResult {
    let command = commands::DeleteScheduled { user: caller.user.id, id, is_reminder: false };
    caller.realm.execute(command).await?;
    reply_ok()
}
