//! What people and groups change.

use super::State;
use serde_json::{Value, json};

impl State {
    pub(super) fn person_appears(&mut self, event: &Value) {
        let mut person = event["person"].clone();
        let known = self.view("realm_users").iter().any(|known| known["user_id"] == person["user_id"]);
        assert!(!known, "added twice: {event}");
        assert_eq!(person["is_active"], json!(true), "{event}");
        // Whether somebody is active is told by the list they are in.
        let fields = person.as_object_mut().expect("a person");
        fields.remove("is_active");
        self.list("realm_users").push(person);
    }

    pub(super) fn group_members(&mut self, event: &Value) {
        let groups = self.list("realm_user_groups").iter_mut();
        let mut groups = groups.filter(|group| group["id"] == event["group_id"]);
        let group = groups.next().unwrap_or_else(|| panic!("no such group: {event}"));
        let members = group["members"].as_array_mut().expect("members");
        for user in event["user_ids"].as_array().expect("user ids") {
            assert!(!members.contains(user), "added twice: {event}");
            members.push(user.clone());
        }
    }

    pub(super) fn presence(&mut self, event: &Value) {
        let presences = self.json["presences"].as_object_mut().expect("presences");
        if let Some(news) = event["presences"].as_object() {
            presences.extend(news.clone());
            return;
        }
        // The form of old clients, which ask with slim_presence here.
        let website = &event["presence"]["website"];
        let (user, at) = (event["user_id"].to_string(), website["timestamp"].clone());
        let known = presences.entry(user).or_insert_with(|| json!({}));
        match website["status"].as_str() {
            Some("active") => *known = json!({"active_timestamp": at, "idle_timestamp": at}),
            Some("idle") => known["idle_timestamp"] = at,
            _ => panic!("no status: {event}"),
        }
    }
}
