//! `scheduled_messages`: the user's own scheduled messages.

use crate::api::wire::scheduled::{ScheduledJson, scheduled};
use model::event::TextChange;
use model::{ScheduledMessage, ScheduledMessageId, UserId};
use serde::Serialize;

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(super) enum ScheduledMessages<'e> {
    Add { scheduled_messages: Vec<ScheduledJson<'e>> },
    Update { scheduled_message: ScheduledJson<'e> },
    Remove { scheduled_message_id: ScheduledMessageId },
}

pub(super) fn changed(
    owner: UserId,
    change: &TextChange<ScheduledMessageId, ScheduledMessage>,
) -> ScheduledMessages<'_> {
    match change {
        TextChange::Added(added) => ScheduledMessages::Add {
            scheduled_messages: added.iter().map(|(id, record)| scheduled(owner, *id, record)).collect(),
        },
        TextChange::Changed(id, record) => {
            ScheduledMessages::Update { scheduled_message: scheduled(owner, *id, record) }
        }
        TextChange::Removed(id) => ScheduledMessages::Remove { scheduled_message_id: *id },
    }
}
