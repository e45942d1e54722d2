//! The history of a message: from its present state and the exported entries back to what was sent, and the steps since then.

use super::entry::MessageRow;
use crate::transfer::rows::timestamp;
use model::{ChannelId, Timestamp, UserId};
use serde::Deserialize;

/// Steps of one message that are carried over; older ones are left out.
const STEPS_MAX: usize = 200;
/// Bytes of earlier texts of one message that are carried over.
const BYTES_MAX: usize = 200 * 1024;

/// An entry of an exported history.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Entry {
    user_id: Option<u32>,
    timestamp: f64,
    prev_content: Option<String>,
    prev_topic: Option<String>,
    /// The former name of `prev_topic`.
    prev_subject: Option<String>,
    prev_stream: Option<u32>,
}

/// A channel and a topic.
pub type TopicPlace = (ChannelId, String);

/// A change of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub at: Timestamp,
    /// None if it is not known.
    pub by: Option<UserId>,
    /// The text after the change, if it changed.
    pub content: Option<String>,
    /// The place before and after the change, if it changed.
    pub place: Option<(TopicPlace, TopicPlace)>,
}

/// A message as it was sent, and its changes in chronological order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    pub content: String,
    /// None for direct messages.
    pub place: Option<TopicPlace>,
    pub steps: Vec<Step>,
    /// Steps that were left out.
    pub left_out: u64,
    /// The entries could not be read.
    pub is_broken: bool,
}

/// The history of a message that is at a place now.
pub fn history_of(
    row: &MessageRow,
    place: Option<TopicPlace>,
    is_channel: impl Fn(ChannelId) -> bool,
) -> History {
    let mut own = History::unchanged(row, place);
    let Some(text) = row.edit_history.as_deref().filter(|text| !text.is_empty()) else { return own };
    let Ok(entries) = serde_json::from_str::<Vec<Entry>>(text) else {
        return History { is_broken: true, ..own };
    };
    let mut bytes = 0;
    for entry in entries {
        bytes += entry.prev_content.as_ref().map_or(0, String::len);
        if own.steps.len() >= STEPS_MAX || bytes > BYTES_MAX || own.left_out > 0 {
            own.left_out += 1;
            continue;
        }
        own.take_back(entry, &is_channel);
    }
    own.steps.reverse();
    // Times may not go back, whatever the clock of the other server did.
    let mut last = timestamp(row.date_sent);
    for step in &mut own.steps {
        step.at = step.at.max(Timestamp(last.0 / 1000 * 1000));
        last = step.at;
    }
    own
}

impl History {
    /// The history of a message that was sent as it is.
    pub fn unchanged(row: &MessageRow, place: Option<TopicPlace>) -> Self {
        Self { content: row.content.clone(), place, steps: Vec::new(), left_out: 0, is_broken: false }
    }

    /// Undoes the newest entry that is left.
    fn take_back(&mut self, entry: Entry, is_channel: &impl Fn(ChannelId) -> bool) {
        let content = entry.prev_content.map(|before| std::mem::replace(&mut self.content, before));
        let topic = entry.prev_topic.or(entry.prev_subject);
        let mut place = None;
        if let Some((channel, name)) = self.place.clone()
            && (topic.is_some() || entry.prev_stream.is_some())
        {
            let known = entry.prev_stream.map(ChannelId).filter(|id| is_channel(*id));
            let before = (known.unwrap_or(channel), topic.unwrap_or_else(|| name.clone()));
            if before != (channel, name.clone()) {
                place = Some((before.clone(), (channel, name)));
                self.place = Some(before);
            }
        }
        if content.is_none() && place.is_none() {
            return;
        }
        let (at, by) = (timestamp(entry.timestamp), entry.user_id.map(UserId));
        self.steps.push(Step { at, by, content, place });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(history: &str) -> MessageRow {
        MessageRow { content: "now".into(), edit_history: Some(history.into()), ..MessageRow::default() }
    }

    fn place(channel: u32, topic: &str) -> TopicPlace {
        (ChannelId(channel), topic.to_owned())
    }

    #[test]
    fn steps_lead_from_what_was_sent_to_the_present() {
        let text = r#"[{"user_id": 3, "timestamp": 30, "prev_topic": "b", "topic": "c"},
            {"user_id": 2, "timestamp": 20, "prev_content": "before", "prev_stream": 1, "stream": 2,
             "prev_topic": "a", "topic": "b"},
            {"user_id": null, "timestamp": 10, "prev_content": "first"}]"#;
        let history = history_of(&row(text), Some(place(2, "c")), |_| true);
        assert_eq!((history.content.as_str(), history.place), ("first", Some(place(1, "a"))));
        let [first, second, third] = &history.steps[..] else { panic!("{:?}", history.steps) };
        assert_eq!((first.at, first.by, first.content.as_deref()), (Timestamp(10_000), None, Some("before")));
        assert_eq!(first.place, None);
        assert_eq!((second.by, second.content.as_deref()), (Some(UserId(2)), Some("now")));
        assert_eq!(second.place, Some((place(1, "a"), place(2, "b"))));
        assert_eq!((&third.content, &third.place), (&None, &Some((place(2, "b"), place(2, "c")))));
    }

    #[test]
    fn unknown_channels_and_broken_entries_lose_only_themselves() {
        let text = r#"[{"user_id": 2, "timestamp": 20, "prev_stream": 9, "stream": 2}]"#;
        let history = history_of(&row(text), Some(place(2, "c")), |id| id != ChannelId(9));
        assert_eq!((history.place, history.steps.len()), (Some(place(2, "c")), 0));
        let broken = history_of(&row("[{"), None, |_| true);
        assert!(broken.is_broken && broken.steps.is_empty() && broken.content == "now");
    }

    #[test]
    fn long_histories_keep_their_newest_part() {
        let entry =
            |at: usize| format!(r#"{{"user_id": 1, "timestamp": {at}, "prev_content": "text {at}"}}"#);
        let all: Vec<String> = (0..STEPS_MAX + 5).rev().map(entry).collect();
        let history = history_of(&row(&format!("[{}]", all.join(","))), None, |_| true);
        assert_eq!((history.steps.len(), history.left_out), (STEPS_MAX, 5));
        assert_eq!(history.content, "text 5");
    }
}
