//! Events of edits, moves and deletions.

use super::State;
use super::messages::words;
use serde_json::{Value, json};

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().expect("a list").iter().map(|id| id.as_u64().expect("an id")).collect()
}

impl State {
    pub(super) fn message_changes(&mut self, event: &Value) {
        let ids = numbers(&event["message_ids"]);
        let target = event["message_id"].as_u64().expect("a message id");
        assert!(ids.is_sorted() && ids.contains(&target), "{event}");
        assert_eq!(event["rendering_only"], json!(false), "{event}");
        let flags = words(&event["flags"]);
        // After a restart these are the current flags, and the events that changed them follow.
        if flags.contains(&"read") {
            self.read(&[target]);
        }
        let is_unread = self.unread_ids().contains(&target);
        if event.get("content").is_some() {
            self.mentions_now(
                target,
                is_unread && flags.iter().any(|flag| super::unread::MENTIONS.contains(flag)),
            );
        }
        if event.get("orig_subject").is_some() {
            self.unread_moves(event, &ids);
        }
        self.count_unread();
    }

    /// Messages in channels that the user is not subscribed to are never unread.
    pub(super) fn is_in(&self, id: &Value) -> bool {
        self.view("subscriptions")
            .iter()
            .any(|channel| channel["stream_id"] == *id && channel["is_archived"] == false)
    }

    /// Unread messages move along if the reader still has access.
    fn unread_moves(&mut self, event: &Value, ids: &[u64]) {
        assert!(event["propagate_mode"].is_string(), "{event}");
        let unread = self.unread_ids();
        let moved: Vec<u64> = ids.iter().copied().filter(|id| unread.contains(id)).collect();
        let mentions = numbers(&self.json["unread_msgs"]["mentions"]);
        let old = event["stream_id"].as_u64().expect("a channel");
        let new = event.get("new_stream_id").map_or(old, |new| new.as_u64().expect("a channel"));
        let topic = event.get("subject").unwrap_or(&event["orig_subject"]).as_str().expect("a topic");
        self.read(&moved);
        if !self.is_in(&json!(new)) {
            // Messages moved to an inaccessible channel are no longer unread.
            self.list("starred_messages").retain(|id| !ids.contains(&id.as_u64().expect("an id")));
            self.unknowable.insert("max_message_id");
            return;
        }
        for id in moved {
            self.unread_topic(new, topic, id);
            self.mentions_now(id, mentions.contains(&id));
        }
    }

    pub(super) fn messages_vanish(&mut self, event: &Value) {
        let ids = match event.get("message_ids") {
            Some(ids) => numbers(ids),
            None => vec![event["message_id"].as_u64().expect("a message id")],
        };
        assert!(!ids.is_empty() && ids.is_sorted(), "{event}");
        match event["message_type"].as_str() {
            Some("private") => assert!(event.get("stream_id").is_none(), "{event}"),
            Some("stream") => assert!(event["stream_id"].is_u64() && event["topic"].is_string(), "{event}"),
            _ => panic!("of no type: {event}"),
        }
        self.read(&ids);
        self.list("starred_messages").retain(|id| !ids.contains(&id.as_u64().expect("an id")));
        // No event announces which message is the newest now.
        self.unknowable.extend(["max_message_id", "recent_private_conversations"]);
        self.count_unread();
    }
}
