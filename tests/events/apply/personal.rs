//! Events of statuses, navigation views and custom profile fields.

use super::State;
use serde_json::{Value, json};

impl State {
    /// Empty values are removed, and so are users without any value.
    pub(super) fn user_status(&mut self, event: &Value) {
        let statuses = self.json["user_status"].as_object_mut().expect("statuses");
        let id = event["user_id"].to_string();
        let known =
            statuses.entry(id.clone()).or_insert_with(|| json!({})).as_object_mut().expect("a status");
        let changed = event.as_object().expect("an event").iter();
        for (key, value) in changed.filter(|(key, _)| !["type", "id", "user_id"].contains(&key.as_str())) {
            match value {
                Value::Bool(false) => known.remove(key),
                Value::String(text) if text.is_empty() => known.remove(key),
                value => known.insert(key.clone(), value.clone()),
            };
        }
        if !known.contains_key("emoji_name") {
            known.remove("reaction_type");
        }
        if known.is_empty() {
            statuses.remove(&id);
        }
    }

    pub(super) fn push_device(&mut self, event: &Value) {
        let account = event["push_account_id"].as_str().expect("a string").to_owned();
        let code = event.get("error_code").cloned().unwrap_or(Value::Null);
        self.json["push_devices"][account] = json!({ "status": event["status"], "error_code": code });
    }

    pub(super) fn navigation_view(&mut self, event: &Value, op: &str) {
        let views = self.list("navigation_views");
        if op == "add" {
            let view = &event["navigation_view"];
            assert!(views.iter().all(|known| known["fragment"] != view["fragment"]), "added twice: {event}");
            views.push(view.clone());
        } else {
            let position = views.iter().position(|known| known["fragment"] == event["fragment"]);
            let position = position.unwrap_or_else(|| panic!("no such view: {event}"));
            match op {
                "remove" => drop(views.remove(position)),
                "update" => {
                    for (key, value) in event["data"].as_object().expect("data") {
                        views[position][key] = value.clone();
                    }
                }
                op => panic!("no client expects {op} of views"),
            }
        }
        views.sort_by_key(|view| view["fragment"].to_string());
    }

    /// Deleting a field deletes its values.
    pub(super) fn profile_fields(&mut self, event: &Value) {
        self.json["custom_profile_fields"] = event["fields"].clone();
        let ids: Vec<String> =
            self.view("custom_profile_fields").iter().map(|field| field["id"].to_string()).collect();
        for key in ["realm_users", "realm_non_active_users"] {
            for person in self.list(key) {
                if let Some(data) = person.get_mut("profile_data") {
                    data.as_object_mut().expect("values").retain(|id, _| ids.contains(id));
                }
            }
        }
    }
}

/// Sets or removes a value of a user's profile.
pub(super) fn set_value(person: &mut Value, value: &Value) {
    let data = person["profile_data"].as_object_mut().expect("values");
    let mut kept = value.clone();
    let id = kept.as_object_mut().expect("a value").remove("id").expect("an id").to_string();
    if kept["value"].is_null() {
        data.remove(&id);
    } else {
        data.insert(id, kept);
    }
}
