//! Events of realm settings and channel folders.

use super::State;
use serde_json::{Value, json};

/// Permissions that clients derive from group settings.
pub(super) const DERIVED: [&str; 5] = [
    "can_create_private_streams",
    "can_create_public_streams",
    "can_create_streams",
    "can_create_web_public_streams",
    "can_invite_others_to_realm",
];

impl State {
    pub(super) fn organization_changes(&mut self, event: &Value) {
        let about = event["property"].as_str().expect("what it is about");
        assert!(["default", "icon", "logo", "night_logo"].contains(&about), "{event}");
        for (name, value) in event["data"].as_object().expect("changes") {
            let key = format!("realm_{name}");
            assert!(self.json.get(&key).is_some(), "a registration has no {key}: {event}");
            self.json[key] = value.clone();
        }
        if about == "default" {
            self.unknowable.extend(DERIVED);
        }
    }

    pub(super) fn domains(&mut self, event: &Value, op: &str) {
        let domains = self.list("realm_domains");
        let name = if op == "remove" { &event["domain"] } else { &event["realm_domain"]["domain"] };
        let known = domains.iter().position(|domain| domain["domain"] == *name);
        match (op, known) {
            ("add", None) => domains.push(event["realm_domain"].clone()),
            ("change", Some(position)) => domains[position] = event["realm_domain"].clone(),
            ("remove", Some(position)) => drop(domains.remove(position)),
            _ => panic!("no client expects this: {event}"),
        }
    }

    pub(super) fn folders(&mut self, event: &Value, op: &str) {
        let folders = self.list("channel_folders");
        match op {
            "add" => {
                let folder = event["channel_folder"].clone();
                assert!(!folders.iter().any(|known| known["id"] == folder["id"]), "added twice: {event}");
                folders.push(folder);
            }
            "update" => {
                let found = folders.iter_mut().find(|known| known["id"] == event["channel_folder_id"]);
                let folder = found.unwrap_or_else(|| panic!("no such folder: {event}"));
                for (name, value) in event["data"].as_object().expect("changes") {
                    folder[name] = value.clone();
                }
            }
            "reorder" => {
                for (order, id) in event["order"].as_array().expect("ids").iter().enumerate() {
                    let found = folders.iter_mut().find(|known| known["id"] == *id);
                    found.unwrap_or_else(|| panic!("no folder {id}: {event}"))["order"] = json!(order);
                }
            }
            _ => panic!("no client expects this: {event}"),
        }
        folders.sort_by_key(|folder| folder["order"].as_u64());
    }
}
