//! Events of the texts that users keep.

use super::State;
use serde_json::Value;

impl State {
    /// The newest are first.
    pub(super) fn drafts(&mut self, event: &Value, op: &str) {
        let drafts = self.list("drafts");
        match op {
            "add" => {
                for added in event["drafts"].as_array().expect("drafts") {
                    change(drafts, ("id", &added["id"]), op, added);
                }
            }
            "remove" => change(drafts, ("id", &event["draft_id"]), op, &Value::Null),
            _ => change(drafts, ("id", &event["draft"]["id"]), op, &event["draft"]),
        }
        drafts.sort_by_key(|draft| std::cmp::Reverse((draft["timestamp"].as_u64(), draft["id"].as_u64())));
    }

    pub(super) fn scheduled(&mut self, event: &Value, op: &str) {
        let messages = self.list("scheduled_messages");
        let key = "scheduled_message_id";
        match op {
            "add" => {
                for added in event["scheduled_messages"].as_array().expect("messages") {
                    change(messages, (key, &added[key]), op, added);
                }
            }
            "remove" => change(messages, (key, &event[key]), op, &Value::Null),
            _ => change(messages, (key, &event["scheduled_message"][key]), op, &event["scheduled_message"]),
        }
        messages.sort_by_key(|one| (one["scheduled_delivery_timestamp"].as_u64(), one[key].as_u64()));
    }

    pub(super) fn reminders(&mut self, event: &Value, op: &str) {
        let reminders = self.list("reminders");
        let key = "reminder_id";
        match op {
            "add" => {
                for added in event["reminders"].as_array().expect("reminders") {
                    change(reminders, (key, &added[key]), op, added);
                }
            }
            _ => change(reminders, (key, &event[key]), op, &Value::Null),
        }
        reminders.sort_by_key(|one| (one["scheduled_delivery_timestamp"].as_u64(), one[key].as_u64()));
    }

    pub(super) fn saved_snippet(&mut self, event: &Value, op: &str) {
        let changed = event["saved_snippet"].clone();
        let id = if op == "remove" { &event["saved_snippet_id"] } else { &changed["id"] };
        change(self.list("saved_snippets"), ("id", id), op, &changed);
    }
}

/// Adds, replaces or removes the element of a list with an id.
fn change(list: &mut Vec<Value>, (key, id): (&str, &Value), op: &str, changed: &Value) {
    let known = list.iter().position(|one| one[key] == *id);
    match (op, known) {
        ("add", None) => list.push(changed.clone()),
        ("update", Some(position)) => list[position] = changed.clone(),
        ("remove", Some(position)) => drop(list.remove(position)),
        _ => panic!("no client expects {op} of {id}"),
    }
}
