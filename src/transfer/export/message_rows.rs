//! The rows of messages and of what users have of them.

use model::{EditEntry, Flag, Flags, Message, MessageId, UserId};
use serde::Serialize;

/// A message. The fields are the columns.
#[derive(Serialize)]
pub struct MessageRow<'m> {
    pub id: MessageId,
    pub sender: UserId,
    pub recipient: u32,
    pub realm: u32,
    #[serde(rename = "type")]
    pub kind: u8,
    pub subject: &'m str,
    pub content: &'m str,
    pub rendered_content: &'m str,
    pub rendered_content_version: u8,
    pub date_sent: f64,
    pub sending_client: u32,
    pub last_edit_time: Option<f64>,
    pub edit_history: Option<String>,
    pub has_attachment: bool,
    pub has_image: bool,
    pub has_link: bool,
    pub is_channel_message: bool,
    /// Derived by the database.
    pub search_tsvector: Option<u8>,
}

/// What a user has of a message.
#[derive(Serialize)]
pub struct UserRow {
    pub id: u64,
    pub user_profile: UserId,
    pub message: MessageId,
    pub flags_mask: u32,
}

/// A reaction to a message.
#[derive(Serialize)]
pub struct ReactionRow<'m> {
    pub id: u64,
    pub user_profile: UserId,
    pub message: MessageId,
    pub emoji_name: &'m str,
    pub emoji_code: &'m str,
    pub reaction_type: &'m str,
}

/// A part of a widget. Zulip's own exports do not have them.
#[derive(Serialize)]
pub struct PartRow<'m> {
    pub id: u64,
    pub message: MessageId,
    pub sender: UserId,
    pub msg_type: &'m str,
    pub content: &'m str,
}

/// An entry of a history.
#[derive(Serialize)]
struct Step<'m> {
    user_id: UserId,
    timestamp: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_content: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_rendered_content: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_rendered_content_version: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_stream: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_topic: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<&'m str>,
}

/// The history of a message as JSON text, newest entry first; none without changes.
pub fn history_text(message: &Message) -> Option<String> {
    if message.edits.is_empty() {
        return None;
    }
    let step = |edit: &'_ EditEntry| -> serde_json::Value {
        let step = Step {
            user_id: edit.user,
            timestamp: edit.at.secs(),
            prev_content: edit.prev_content.as_deref(),
            prev_rendered_content: edit.prev_rendered.as_deref(),
            prev_rendered_content_version: edit.prev_content.as_ref().map(|_| 1),
            prev_stream: edit.channel.map(|(before, _)| before.0),
            stream: edit.channel.map(|(_, after)| after.0),
            prev_topic: edit.topic.as_ref().map(|(before, _)| before.as_str()),
            topic: edit.topic.as_ref().map(|(_, after)| after.as_str()),
        };
        serde_json::to_value(step).unwrap_or_default()
    };
    let steps: Vec<serde_json::Value> = message.edits.iter().map(step).collect();
    serde_json::to_string(&steps).ok()
}

/// The bits of flags in exports.
pub fn mask_of(flags: Flags, is_direct: bool) -> u32 {
    let bits = flags.iter().map(|flag| match flag {
        Flag::Read => 1,
        Flag::Starred => 1 << 1,
        Flag::Collapsed => 1 << 2,
        Flag::Mentioned => 1 << 3,
        Flag::ChannelWildcardMentioned => 1 << 4,
        Flag::TopicWildcardMentioned => 1 << 5,
        Flag::HasAlertWord => 1 << 9,
        Flag::Historical => 1 << 10,
    });
    bits.fold(u32::from(is_direct) << 11, |mask, bit| mask | bit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ChannelId, Timestamp};

    #[test]
    fn histories_are_texts_in_json() {
        let mut message = Message::default();
        assert_eq!(history_text(&message), None);
        message.edits = vec![
            EditEntry {
                user: UserId(7),
                at: Timestamp(20_500),
                channel: Some((ChannelId(1), ChannelId(2))),
                topic: Some(("a".into(), "b".into())),
                ..EditEntry::default()
            },
            EditEntry {
                user: UserId(8),
                at: Timestamp(10_000),
                prev_content: Some("\"x\"".into()),
                prev_rendered: Some("<p>x</p>".into()),
                ..EditEntry::default()
            },
        ];
        let expected = serde_json::json!([
            {"user_id": 7, "timestamp": 20, "prev_stream": 1, "stream": 2, "prev_topic": "a", "topic": "b"},
            {"user_id": 8, "timestamp": 10, "prev_content": "\"x\"", "prev_rendered_content": "<p>x</p>",
                "prev_rendered_content_version": 1},
        ]);
        let text = history_text(&message).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), expected);
    }

    #[test]
    fn every_flag_has_its_bit() {
        let all = Flag::ALL.into_iter().fold(Flags::NONE, Flags::with);
        assert_eq!(mask_of(all, true), 1 | 2 | 4 | 8 | 16 | 32 | 512 | 1024 | 2048);
        assert_eq!(mask_of(Flags::only(Flag::Read), false), 1);
    }
}
