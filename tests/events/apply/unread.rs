//! `unread_msgs`: the unread messages by conversation, and their count.

use super::State;
use serde_json::{Value, json};

pub(super) const MENTIONS: [&str; 3] = ["mentioned", "stream_wildcard_mentioned", "topic_wildcard_mentioned"];

impl State {
    pub(super) fn unread_arrives(&mut self, message: &Value, flags: &[&str], id: u64) {
        if message["type"] == "private" {
            let everybody = message["display_recipient"].as_array().expect("recipients");
            let ids: Vec<u64> = everybody.iter().map(|user| user["id"].as_u64().expect("an id")).collect();
            self.unread_direct(ids, id);
        } else {
            let (channel, topic) = (&message["stream_id"], &message["subject"]);
            self.unread_topic(channel.as_u64().expect("a channel"), topic.as_str().expect("a topic"), id);
            // The newest message determines the spelling of a topic.
        }
        if flags.iter().any(|flag| MENTIONS.contains(flag)) {
            add_id(&mut self.json["unread_msgs"]["mentions"], id);
        }
        self.count_unread();
    }

    fn unread_direct(&mut self, mut everybody: Vec<u64>, id: u64) {
        everybody.sort_unstable();
        let others: Vec<u64> = everybody.iter().copied().filter(|user| *user != self.me).collect();
        let unread = &mut self.json["unread_msgs"];
        if others.len() <= 1 {
            let other = others.first().copied().unwrap_or(self.me);
            let new = json!({"other_user_id": other, "sender_id": other, "unread_message_ids": [id]});
            merge(&mut unread["pms"], id, new, |known| known["other_user_id"] == other);
        } else {
            let name: Vec<String> = everybody.iter().map(u64::to_string).collect();
            let name = name.join(",");
            let new = json!({"user_ids_string": name, "unread_message_ids": [id]});
            merge(&mut unread["huddles"], id, new, |known| known["user_ids_string"] == *name);
        }
    }

    pub(super) fn unread_topic(&mut self, channel: u64, topic: &str, id: u64) {
        let lower = topic.to_lowercase();
        let streams = &mut self.json["unread_msgs"]["streams"];
        let new = json!({"stream_id": channel, "topic": topic, "unread_message_ids": [id]});
        merge(streams, id, new, |known| {
            known["stream_id"] == channel && known["topic"].as_str().expect("a topic").to_lowercase() == lower
        });
    }

    pub(super) fn read(&mut self, ids: &[u64]) {
        let unread = &mut self.json["unread_msgs"];
        for key in ["pms", "streams", "huddles"] {
            let conversations = unread[key].as_array_mut().expect("a list");
            for conversation in conversations.iter_mut() {
                remove_ids(&mut conversation["unread_message_ids"], ids);
            }
            conversations.retain(|conversation| conversation["unread_message_ids"] != json!([]));
        }
        remove_ids(&mut unread["mentions"], ids);
        self.count_unread();
    }

    /// The ids of all unread messages.
    pub(super) fn unread_ids(&self) -> Vec<u64> {
        let unread = &self.json["unread_msgs"];
        let conversations =
            ["pms", "streams", "huddles"].into_iter().flat_map(|key| unread[key].as_array().expect("a list"));
        let ids = conversations
            .flat_map(|conversation| conversation["unread_message_ids"].as_array().expect("ids"));
        ids.map(|id| id.as_u64().expect("an id")).collect()
    }

    /// Whether an unread message mentions the reader.
    pub(super) fn mentions_now(&mut self, id: u64, is_mentioned: bool) {
        let mentions = &mut self.json["unread_msgs"]["mentions"];
        if is_mentioned { add_id(mentions, id) } else { remove_ids(mentions, &[id]) }
    }

    pub(super) fn unread_again(&mut self, event: &Value, ids: &[u64]) {
        for id in ids {
            let details = &event["message_details"][id.to_string()];
            if details["type"] == "private" {
                let others = details["user_ids"].as_array().expect("user ids");
                let mut everybody: Vec<u64> = others.iter().filter_map(Value::as_u64).collect();
                everybody.push(self.me);
                everybody.dedup();
                self.unread_direct(everybody, *id);
            } else {
                let channel = details["stream_id"].as_u64().expect("a channel");
                self.unread_topic(channel, details["topic"].as_str().expect("a topic"), *id);
            }
            if details["mentioned"] == true {
                add_id(&mut self.json["unread_msgs"]["mentions"], *id);
            }
        }
        self.count_unread();
    }

    /// The number of unread direct messages, and of those in channels where neither channel nor topic is muted.
    pub(super) fn count_unread(&mut self) {
        let mut count = 0;
        for key in ["pms", "huddles", "streams"] {
            for conversation in self.json["unread_msgs"][key].as_array().expect("a list") {
                if key != "streams" || !self.is_muted(conversation) {
                    count += conversation["unread_message_ids"].as_array().expect("ids").len();
                }
            }
        }
        self.json["unread_msgs"]["count"] = json!(count);
        self.sort_unread();
    }

    fn is_muted(&self, topic: &Value) -> bool {
        let lower = |value: &Value| value.as_str().expect("a topic").to_lowercase();
        let policy = self.view("user_topics").iter().find(|known| {
            known["stream_id"] == topic["stream_id"] && lower(&known["topic_name"]) == lower(&topic["topic"])
        });
        let channel = self.view("subscriptions").iter().find(|one| one["stream_id"] == topic["stream_id"]);
        let channel_muted = channel.is_some_and(|channel| channel["is_muted"] == true);
        match policy.and_then(|policy| policy["visibility_policy"].as_u64()) {
            Some(1) => true,
            Some(2 | 3) => false,
            _ => channel_muted,
        }
    }

    fn sort_unread(&mut self) {
        let unread = &mut self.json["unread_msgs"];
        let by = |list: &mut Value, key: fn(&Value) -> (u64, String)| {
            list.as_array_mut().expect("a list").sort_by_key(key);
        };
        by(&mut unread["pms"], |one| (one["other_user_id"].as_u64().unwrap_or(0), String::new()));
        by(&mut unread["huddles"], |one| (0, one["user_ids_string"].to_string()));
        by(&mut unread["streams"], |one| {
            (one["stream_id"].as_u64().unwrap_or(0), one["topic"].as_str().unwrap_or("").to_lowercase())
        });
    }
}

fn merge(list: &mut Value, id: u64, new: Value, is_same: impl Fn(&Value) -> bool) {
    let list = list.as_array_mut().expect("a list");
    match list.iter_mut().find(|known| is_same(known)) {
        Some(known) => {
            add_id(&mut known["unread_message_ids"], id);
            if let Some(topic) = new.get("topic") {
                known["topic"] = topic.clone();
            }
        }
        None => list.push(new),
    }
}

fn add_id(list: &mut Value, id: u64) {
    let list = list.as_array_mut().expect("ids");
    if !list.contains(&json!(id)) {
        list.push(json!(id));
        list.sort_by_key(Value::as_u64);
    }
}

fn remove_ids(list: &mut Value, ids: &[u64]) {
    list.as_array_mut().expect("ids").retain(|id| !ids.contains(&id.as_u64().expect("an id")));
}
