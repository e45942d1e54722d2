//! `/reminders`: the notification bot reminds the requester of a message
//! (docs/api/scheduled-messages.md#reminders).

use crate::api::formulas;
use crate::api::messages::access::readable_message;
use crate::api::wire::list::push_list;
use crate::api::wire::scheduled::reminder;
use crate::http::{
    ApiError, App, Caller, ClientName, Envelope, Fields, FromFields, HandlerResult, Params, Path, RealmUrl,
    reply, reply_ok,
};
use actors::commands;
use model::{MessageId, Reminder, ScheduledMessage, ScheduledMessageId, ScheduledTo};
use rules::bot_notices::reminder_text;
use rules::scheduling::{parse_due, parse_note};
use serde::Serialize;

/// A reminder to be scheduled.
pub struct NewReminder {
    message: MessageId,
    secs: i64,
    note: String,
}

impl FromFields for NewReminder {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            message: MessageId(fields.required_id("message_id")?),
            secs: fields.required_int("scheduled_delivery_timestamp")?,
            note: fields.optional("note").unwrap_or_default(),
        })
    }
}

#[derive(Serialize)]
struct Created {
    reminder_id: ScheduledMessageId,
}

/// `reminders`, in the order in which they are due.
pub async fn list(caller: Caller, _: Params<()>) -> HandlerResult {
    let (directory, owner) = (caller.realm.directory(), caller.user.id);
    let mut envelope = Envelope::with_capacity(256);
    let reminders = directory.scheduled_in_order(owner).into_iter();
    let reminders = reminders.filter(|(_, record)| record.reminder.is_some());
    let items = reminders.map(|(id, record)| reminder(owner, id, record));
    push_list(envelope.open_field("reminders"), items);
    envelope.reply()
}

/// Schedules a reminder. The message is quoted as it is when the reminder is sent, if it can be read then.
pub async fn create(
    app: App,
    caller: Caller,
    ClientName(client): ClientName,
    RealmUrl(url): RealmUrl,
    Params(new): Params<NewReminder>,
) -> HandlerResult {
    let due = parse_due(new.secs, caller.realm.now())?;
    let note = parse_note(&new.note)?.to_owned();
    let target = readable_message(&caller, new.message).await?;
    let Caller { realm, user } = &caller;
    let mut message = ScheduledMessage {
        to: ScheduledTo::People(vec![user.id]),
        content: reminder_text(&realm.directory(), user, &target, &note, &url),
        rendered: String::new(),
        due,
        client,
        read_by_sender: false,
        url,
        failure: None,
        reminder: Some(Reminder { message: new.message, note }),
    };
    formulas::prepare(&app, &caller, [message.content.as_str()]).await?;
    realm.check_scheduled(user, &mut message)?;
    let reminder_id = realm.execute(commands::ScheduleMessage { user: user.id, message }).await?;
    reply(&Created { reminder_id })
}

/// Deletes a reminder.
pub async fn delete(caller: Caller, Path(id): Path<ScheduledMessageId>, _: Params<()>) -> HandlerResult {
    let command = commands::DeleteScheduled { user: caller.user.id, id, is_reminder: true };
    caller.realm.execute(command).await?;
    reply_ok()
}
