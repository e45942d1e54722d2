//! What people change, and their settings.

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

    pub(super) fn person_changes(&mut self, event: &Value) {
        let change = event["person"].as_object().expect("a person");
        let (id, me) = (change["user_id"].clone(), self.me);
        let is_me = id == me;
        for key in ["realm_users", "realm_non_active_users"] {
            let Some(at) = self.view(key).iter().position(|known| known["user_id"] == id) else { continue };
            for (name, value) in change.iter().filter(|(name, _)| *name != "user_id") {
                let person = &mut self.list(key)[at];
                match name.as_str() {
                    "new_email" => person["email"] = value.clone(),
                    "role" => set_role(person, value),
                    "custom_profile_field" => super::personal::set_value(person, value),
                    "is_active" => panic!("nobody is deactivated here: {event}"),
                    name => person[name] = value.clone(),
                }
            }
        }
        for (name, value) in change.iter().filter(|_| is_me) {
            match name.as_str() {
                "new_email" => self.json["email"] = value.clone(),
                "full_name" | "delivery_email" => self.json[name] = value.clone(),
                _ => {}
            }
        }
    }

    /// In the object of settings.
    pub(super) fn setting(&mut self, name: &Value, value: &Value) {
        let name = name.as_str().expect("a setting");
        assert!(self.json["user_settings"].get(name).is_some(), "no setting {name}");
        self.json["user_settings"][name] = value.clone();
    }

    /// At the top, where older clients read them.
    pub(super) fn old_setting(&mut self, name: &Value, value: &Value) {
        let name = name.as_str().expect("a setting");
        assert!(self.json.get(name).is_some(), "no setting {name} at the top");
        self.json[name] = value.clone();
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

fn set_role(person: &mut Value, role: &Value) {
    person["role"] = role.clone();
    let role = role.as_u64().expect("a role");
    person["is_owner"] = json!(role == 100);
    person["is_admin"] = json!(role <= 200);
    person["is_guest"] = json!(role == 600);
}
