//! Events of user groups.

use super::State;
use serde_json::{Value, json};

impl State {
    pub(super) fn groups(&mut self, event: &Value, op: &str) {
        match op {
            "add" => {
                let group = event["group"].clone();
                let known = self.view("realm_user_groups").iter().any(|known| known["id"] == group["id"]);
                assert!(!known, "added twice: {event}");
                self.list("realm_user_groups").push(group);
            }
            "remove" => {
                let before = self.view("realm_user_groups").len();
                self.list("realm_user_groups").retain(|group| group["id"] != event["group_id"]);
                assert_eq!(self.view("realm_user_groups").len() + 1, before, "{event}");
            }
            "update" => {
                let group = self.group(event);
                for (name, value) in event["data"].as_object().expect("changes") {
                    assert!(group.get(name).is_some(), "no {name}: {event}");
                    group[name] = value.clone();
                }
            }
            "add_members" => add(&mut self.group(event)["members"], &event["user_ids"]),
            "remove_members" => remove(&mut self.group(event)["members"], &event["user_ids"]),
            "add_subgroups" => {
                add(&mut self.group(event)["direct_subgroup_ids"], &event["direct_subgroup_ids"]);
            }
            "remove_subgroups" => {
                remove(&mut self.group(event)["direct_subgroup_ids"], &event["direct_subgroup_ids"]);
            }
            _ => panic!("no client expects this: {event}"),
        }
    }

    fn group(&mut self, event: &Value) -> &mut Value {
        let mut groups = self.list("realm_user_groups").iter_mut();
        let found = groups.find(|group| group["id"] == event["group_id"]);
        found.unwrap_or_else(|| panic!("no such group: {event}"))
    }
}

fn add(list: &mut Value, new: &Value) {
    let list = list.as_array_mut().expect("a list");
    for one in new.as_array().expect("a list") {
        assert!(!list.contains(one), "added twice: {one}");
        list.push(one.clone());
    }
}

fn remove(list: &mut Value, gone: &Value) {
    let list = list.as_array_mut().expect("a list");
    for one in gone.as_array().expect("a list") {
        let at = list.iter().position(|known| known == one);
        list.remove(at.unwrap_or_else(|| panic!("{one} was not there: {}", json!(list))));
    }
}
