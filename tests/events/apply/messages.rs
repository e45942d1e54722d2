//! Events of messages and flags.

use super::{CHANNEL_LISTS, State};
use serde_json::{Value, json};

impl State {
    pub(super) fn message(&mut self, event: &Value) {
        let message = &event["message"];
        let id = message["id"].as_u64().expect("a message id");
        assert!(message.get("flags").is_none(), "flags stand beside the message: {event}");
        let newest = self.json["max_message_id"].as_i64().unwrap_or(-1).max(id as i64);
        self.json["max_message_id"] = json!(newest);
        let flags = words(&event["flags"]);
        if message["type"] == "private" {
            self.conversation_grows(message, id);
        } else {
            self.first_message(message, id);
        }
        if !flags.contains(&"read") && (message["type"] == "private" || self.is_in(&message["stream_id"])) {
            self.unread_arrives(message, &flags, id);
        }
        if flags.contains(&"starred") {
            self.star(&[id], true);
        }
    }

    fn conversation_grows(&mut self, message: &Value, id: u64) {
        let everybody = message["display_recipient"].as_array().expect("recipients");
        let mut others: Vec<u64> = everybody.iter().map(|user| user["id"].as_u64().expect("an id")).collect();
        others.retain(|other| *other != self.me);
        others.sort_unstable();
        let conversations = self.list("recent_private_conversations");
        conversations.retain(|known| known["user_ids"] != json!(others));
        conversations.insert(0, json!({"max_message_id": id, "user_ids": others}));
    }

    /// No event announces the first message of a channel: clients that receive the message know it.
    fn first_message(&mut self, message: &Value, id: u64) {
        for key in CHANNEL_LISTS {
            let stream_id = &message["stream_id"];
            for channel in self.list(key).iter_mut().filter(|channel| channel["stream_id"] == *stream_id) {
                if channel["first_message_id"].is_null() {
                    channel["first_message_id"] = json!(id);
                }
            }
        }
    }

    pub(super) fn flags(&mut self, event: &Value, is_added: bool) {
        let ids: Vec<u64> =
            event["messages"].as_array().expect("messages").iter().filter_map(Value::as_u64).collect();
        match (event["flag"].as_str(), is_added) {
            (Some("read"), true) => self.read(&ids),
            (Some("read"), false) => self.unread_again(event, &ids),
            (Some("starred"), _) => self.star(&ids, is_added),
            (Some("collapsed"), _) => {}
            _ => panic!("no client can change this flag: {event}"),
        }
    }

    fn star(&mut self, ids: &[u64], is_added: bool) {
        let starred = self.list("starred_messages");
        starred.retain(|known| !ids.contains(&known.as_u64().expect("an id")));
        if is_added {
            starred.extend(ids.iter().map(|id| json!(id)));
            starred.sort_by_key(Value::as_u64);
        }
    }

    pub(super) fn topic_policy(&mut self, event: &Value) {
        let topics = self.list("user_topics");
        let lower = |value: &Value| value["topic_name"].as_str().expect("a topic").to_lowercase();
        topics.retain(|known| known["stream_id"] != event["stream_id"] || lower(known) != lower(event));
        if event["visibility_policy"] != 0 {
            let mut policy = event.clone();
            let fields = policy.as_object_mut().expect("an event");
            fields.retain(|key, _| !["id", "type"].contains(&key.as_str()));
            topics.push(policy);
        }
        self.count_unread();
    }
}

pub(super) fn words(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().filter_map(Value::as_str).collect()
}
