//! `reminders`: the user's own reminders.

use crate::api::wire::scheduled::{ReminderJson, reminder};
use model::event::TextChange;
use model::{ScheduledMessage, ScheduledMessageId, UserId};
use serde::Serialize;

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(super) enum Reminders<'e> {
    Add { reminders: Vec<ReminderJson<'e>> },
    Remove { reminder_id: ScheduledMessageId },
}

/// Reminders do not change; one that did would be a new one to clients.
pub(super) fn changed(
    owner: UserId,
    change: &TextChange<ScheduledMessageId, ScheduledMessage>,
) -> Reminders<'_> {
    match change {
        TextChange::Added(added) => Reminders::Add {
            reminders: added.iter().map(|(id, record)| reminder(owner, *id, record)).collect(),
        },
        TextChange::Changed(id, record) => Reminders::Add { reminders: vec![reminder(owner, *id, record)] },
        TextChange::Removed(id) => Reminders::Remove { reminder_id: *id },
    }
}
