//! `type` and `to` of scheduled messages.

use crate::http::{ApiError, Fields};
use model::{ChannelId, Directory, ScheduledTo, User};
use rules::RuleError;
use rules::permissions::direct::find_recipients_by_id;
use rules::topics::parse_topic;
use serde_json::Value;

/// Names of the two kinds of messages, older ones included.
const KINDS: [&str; 4] = ["direct", "private", "stream", "channel"];

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// To a topic.
    Channel,
    /// A direct message to users.
    Direct,
}

impl Kind {
    /// The parameter `type`.
    pub fn of(fields: &Fields) -> Result<Option<Self>, ApiError> {
        let kind = fields.optional_one_of("type", &KINDS)?;
        Ok(kind.map(|kind| if matches!(kind, "stream" | "channel") { Self::Channel } else { Self::Direct }))
    }
}

/// The parameter `to`: ids, of which kind depends on the message.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct To(Value);

impl To {
    /// The parameter `to`, an integer or a list of integers.
    pub fn of(fields: &Fields) -> Result<Option<Self>, ApiError> {
        let Some(field) = fields.optional_json("to")? else { return Ok(None) };
        let root = field.root();
        match root.value() {
            Value::Array(_) => root.list()?.try_for_each(|id| id.int::<i128>().map(drop))?,
            _ => root.int::<i128>().map(drop)?,
        }
        Ok(Some(Self(field.into_value())))
    }

    /// The one channel.
    pub fn channel(&self) -> Result<ChannelId, ApiError> {
        let id = match &self.0 {
            Value::Array(ids) if ids.len() == 1 => &ids[0],
            Value::Array(_) => return Err(ApiError::bad_request("Invalid data type for channel ID")),
            id => id,
        };
        let id = id.as_i64().unwrap_or(i64::MAX);
        let known = u32::try_from(id).map(ChannelId);
        known.map_err(|_| RuleError::ChannelIdDoesNotExist { id }.into())
    }

    /// A message to users.
    pub fn people(&self, directory: &Directory, sender: &User) -> Result<ScheduledTo, ApiError> {
        let Value::Array(ids) = &self.0 else {
            return Err(ApiError::bad_request("Invalid data type for recipients"));
        };
        let ids: Vec<i64> = ids.iter().map(|id| id.as_i64().unwrap_or(i64::MAX)).collect();
        Ok(ScheduledTo::People(find_recipients_by_id(directory, sender, &ids)?))
    }
}

/// A message to a topic, as sent.
pub(super) fn to_topic(channel: ChannelId, topic: Option<&str>) -> Result<ScheduledTo, ApiError> {
    let topic = topic.ok_or_else(|| ApiError::bad_request("Missing topic"))?;
    Ok(ScheduledTo::Channel { channel, topic: parse_topic(topic)? })
}
