//! Events of users and their settings.

use super::State;
use serde_json::{Value, json};

/// The lists of active users, and of all others.
pub(super) const PEOPLE_LISTS: [&str; 2] = ["realm_users", "realm_non_active_users"];

/// The displayed name of unknown users.
pub(super) const UNKNOWN_NAME: &str = "Unknown user";

impl State {
    pub(super) fn person_appears(&mut self, event: &Value) {
        let mut person = event["person"].clone();
        // A user without an avatar gets a default one.
        let id = person["user_id"].clone();
        self.list("realm_users").retain(|known| known["user_id"] != id || known["full_name"] != UNKNOWN_NAME);
        let known = PEOPLE_LISTS.iter().flat_map(|key| self.view(key)).any(|known| known["user_id"] == id);
        assert!(!known, "added twice: {event}");
        // Active and deactivated users are in different lists.
        let fields = person.as_object_mut().expect("a person");
        let is_active = fields.remove("is_active").expect("a flag") == json!(true);
        self.list(PEOPLE_LISTS[usize::from(!is_active)]).push(person);
    }

    /// Clients that support partial lists remove the user; others keep an unknown user.
    pub(super) fn person_vanishes(&mut self, event: &Value) {
        let (id, is_modern) = (event["person"]["user_id"].clone(), self.is_modern);
        let mut found = 0;
        for key in PEOPLE_LISTS {
            let before = self.view(key).len();
            self.list(key).retain(|known| known["user_id"] != id);
            found += before - self.view(key).len();
        }
        assert_eq!(found, 1, "{event}");
        if !is_modern {
            self.list("realm_users").push(json!({"user_id": id, "full_name": UNKNOWN_NAME}));
        }
        self.json["presences"].as_object_mut().expect("presences").remove(&id.to_string());
        self.json["user_status"].as_object_mut().expect("statuses").remove(&id.to_string());
    }

    fn set_person_active(&mut self, id: &Value, is_active: bool) {
        let (from, to) = (PEOPLE_LISTS[usize::from(is_active)], PEOPLE_LISTS[usize::from(!is_active)]);
        let at = self.view(from).iter().position(|known| known["user_id"] == *id);
        let person = self.list(from).remove(at.unwrap_or_else(|| panic!("{id} is not in {from}")));
        self.list(to).push(person);
        self.json["presences"].as_object_mut().expect("presences").remove(&id.to_string());
        // Deactivated users are members of no group; on reactivation, events announce their groups.
        if !is_active && self.json["realm_user_groups"].is_array() {
            for group in self.list("realm_user_groups") {
                group["members"].as_array_mut().expect("members").retain(|member| member != id);
            }
        }
    }

    /// Top-level keys derived from one's own role.
    fn own_role(&mut self, role: &Value) {
        let role = role.as_u64().expect("a role");
        self.json["is_owner"] = json!(role == 100);
        self.json["is_admin"] = json!(role <= 200);
        self.json["is_moderator"] = json!(role <= 300);
        self.json["is_guest"] = json!(role == 600);
        // Clients derive permissions from groups, or ask.
        self.unknowable.extend(super::organization::DERIVED);
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
                    // The default avatar is computed from the email address by clients that see it.
                    "avatar_url" if value.as_str().is_some_and(|url| url.contains("gravatar.com")) => {
                        person[name] = Value::Null;
                    }
                    "avatar_source" | "avatar_url_medium" => {}
                    "is_active" => {
                        self.set_person_active(&id, *value == json!(true));
                        return;
                    }
                    name => person[name] = value.clone(),
                }
            }
        }
        for (name, value) in change.iter().filter(|_| is_me) {
            match name.as_str() {
                "new_email" => self.json["email"] = value.clone(),
                "full_name" | "delivery_email" => self.json[name] = value.clone(),
                "avatar_url" | "avatar_source" | "avatar_url_medium" => self.json[name] = value.clone(),
                "role" => self.own_role(value),
                _ => {}
            }
        }
    }

    /// In the `user_settings` object.
    pub(super) fn setting(&mut self, name: &Value, value: &Value) {
        let name = name.as_str().expect("a setting");
        assert!(self.json["user_settings"].get(name).is_some(), "no setting {name}");
        self.json["user_settings"][name] = value.clone();
        if name == "enable_drafts_synchronization" && *value == Value::Bool(false) {
            self.list("drafts").clear();
        }
    }

    /// As a top-level key for legacy clients.
    pub(super) fn old_setting(&mut self, name: &Value, value: &Value) {
        let name = name.as_str().expect("a setting");
        assert!(self.json.get(name).is_some(), "no setting {name} at the top");
        self.json[name] = value.clone();
        if name == "enable_drafts_synchronization" && *value == Value::Bool(false) {
            self.list("drafts").clear();
        }
    }

    pub(super) fn presence(&mut self, event: &Value) {
        let presences = self.json["presences"].as_object_mut().expect("presences");
        if let Some(news) = event["presences"].as_object() {
            presences.extend(news.clone());
            return;
        }
        // The legacy format, which this client does not use because it registers with `slim_presence`.
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
