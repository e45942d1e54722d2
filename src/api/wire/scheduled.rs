//! Scheduled messages and reminders as clients read them (docs/api/scheduled-messages.md).

use super::recipients::others;
use model::{ChannelId, MessageId, ScheduledMessage, ScheduledMessageId, ScheduledTo, UserId};
use serde::Serialize;

/// One channel, or users.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum ToJson {
    Channel(ChannelId),
    People(Vec<UserId>),
}

/// The scheduled message object of the API.
#[derive(Clone, Debug, Serialize)]
pub struct ScheduledJson<'a> {
    scheduled_message_id: ScheduledMessageId,
    to: ToJson,
    #[serde(rename = "type")]
    kind: &'static str,
    content: &'a str,
    rendered_content: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<&'a str>,
    scheduled_delivery_timestamp: u64,
    failed: bool,
}

/// The reminder object of the API.
#[derive(Clone, Debug, Serialize)]
pub struct ReminderJson<'a> {
    reminder_id: ScheduledMessageId,
    to: [UserId; 1],
    #[serde(rename = "type")]
    kind: &'static str,
    content: &'a str,
    rendered_content: &'a str,
    scheduled_delivery_timestamp: u64,
    failed: bool,
    reminder_target_message_id: MessageId,
}

/// The JSON of a user's scheduled message.
pub fn scheduled(owner: UserId, id: ScheduledMessageId, record: &ScheduledMessage) -> ScheduledJson<'_> {
    let (kind, to, topic) = match &record.to {
        ScheduledTo::Channel { channel, topic } => {
            ("stream", ToJson::Channel(*channel), Some(topic.as_str()))
        }
        ScheduledTo::People(users) => ("private", ToJson::People(others(owner, users)), None),
    };
    ScheduledJson {
        scheduled_message_id: id,
        to,
        kind,
        content: &record.content,
        rendered_content: &record.rendered,
        topic,
        scheduled_delivery_timestamp: record.due.secs(),
        failed: record.failure.is_some(),
    }
}

/// The JSON of a user's reminder.
pub fn reminder(owner: UserId, id: ScheduledMessageId, record: &ScheduledMessage) -> ReminderJson<'_> {
    ReminderJson {
        reminder_id: id,
        to: [owner],
        kind: "private",
        content: &record.content,
        rendered_content: &record.rendered,
        scheduled_delivery_timestamp: record.due.secs(),
        failed: record.failure.is_some(),
        reminder_target_message_id: record.reminder.as_ref().map_or(MessageId::ZERO, |own| own.message),
    }
}
