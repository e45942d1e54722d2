//! The state of a client, changed only by events.

mod bots;
mod changed;
pub mod channels;
mod groups;
mod messages;
mod organization;
mod people;
mod personal;
mod texts;
mod unread;

use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The response to a registration, kept up to date.
#[derive(Clone, Debug)]
pub struct State {
    pub(super) json: Value,
    /// The user of the client.
    pub(super) me: u64,
    /// Keys whose new value no event announces.
    pub(super) unknowable: BTreeSet<&'static str>,
    /// The client supports lists that contain only some users.
    pub is_modern: bool,
}

/// The lists that contain channel objects.
pub(super) const CHANNEL_LISTS: [&str; 4] = ["subscriptions", "unsubscribed", "never_subscribed", "streams"];

/// Types of events on which nothing in the state of a registration depends.
const WITHOUT_STATE: [&str; 9] = [
    "attachment",
    "typing",
    "typing_edit_message",
    "heartbeat",
    "reaction",
    "submessage",
    "invites_changed",
    "realm_export_consent",
    "realm_export",
];

impl State {
    pub fn new(json: Value, me: u32) -> Self {
        Self { json, me: me.into(), unknowable: BTreeSet::new(), is_modern: true }
    }

    pub(super) fn list(&mut self, key: &str) -> &mut Vec<Value> {
        self.json[key].as_array_mut().unwrap_or_else(|| panic!("{key} is no list"))
    }

    pub(super) fn view(&self, key: &str) -> &[Value] {
        self.json[key].as_array().unwrap_or_else(|| panic!("{key} is no list"))
    }

    /// Applies one event. An event of an unexpected type fails the test.
    pub fn apply(&mut self, event: &Value) {
        let op = event["op"].as_str().unwrap_or("");
        match (event["type"].as_str().expect("a type"), op) {
            ("message", _) => self.message(event),
            ("update_message", _) => self.message_changes(event),
            ("delete_message", _) => self.messages_vanish(event),
            ("update_message_flags", "add" | "remove") => self.flags(event, op == "add"),
            ("stream", "create") => self.channels_appear(event),
            ("stream", "delete") => self.channels_vanish(event),
            ("stream", "update") => self.channel_changes(event),
            ("subscription", "add") => self.subscribed(event),
            ("subscription", "remove") => self.unsubscribed(event),
            ("subscription", "update") => self.subscription_changes(event),
            ("subscription", "peer_add" | "peer_remove") => self.peers(event, op == "peer_add"),
            ("default_streams" | "default_stream_groups", _) => {
                let key = event["type"].as_str().expect("a type");
                self.json[format!("realm_{key}")] = event[key].clone();
            }
            ("channel_folder", _) => self.folders(event, op),
            ("user_topic", _) => self.topic_policy(event),
            ("alert_words", _) => self.json["alert_words"] = event["alert_words"].clone(),
            ("user_status", _) => self.user_status(event),
            ("muted_users", _) => self.json["muted_users"] = event["muted_users"].clone(),
            ("push_device", _) => self.push_device(event),
            ("navigation_view", _) => self.navigation_view(event, op),
            ("drafts", _) => self.drafts(event, op),
            ("scheduled_messages", _) => self.scheduled(event, op),
            ("reminders", _) => self.reminders(event, op),
            ("saved_snippets", _) => self.saved_snippet(event, op),
            ("custom_profile_fields", _) => self.profile_fields(event),
            ("realm_domains", _) => self.domains(event, op),
            ("realm_linkifiers" | "realm_playgrounds" | "onboarding_steps", _) => {
                let key = event["type"].as_str().expect("a type");
                self.json[key] = event[key].clone();
            }
            ("realm_emoji", _) => self.json["realm_emoji"] = event["realm_emoji"].clone(),
            ("realm_bot", _) => self.bot(event, op),
            ("realm", "update_dict") => self.organization_changes(event),
            ("realm_user", "add") => self.person_appears(event),
            ("realm_user", "remove") => self.person_vanishes(event),
            ("realm_user_settings_defaults", "update") => {
                let name = event["property"].as_str().expect("a setting");
                self.json["realm_user_settings_defaults"][name] = event["value"].clone();
            }
            ("realm_user", "update") => self.person_changes(event),
            ("user_group", _) => self.groups(event, op),
            ("user_settings", "update") => self.setting(&event["property"], &event["value"]),
            ("update_display_settings", _) => self.old_setting(&event["setting_name"], &event["setting"]),
            ("update_global_notifications", _) => {
                self.old_setting(&event["notification_name"], &event["setting"]);
            }
            ("presence", _) => self.presence(event),
            ("muted_topics", _) => {
                if self.json.get("muted_topics").is_some() {
                    self.json["muted_topics"] = event["muted_topics"].clone();
                }
            }
            (kind, _) if WITHOUT_STATE.contains(&kind) => {}
            other => panic!("no client expects {other:?} here: {event}"),
        }
    }

    /// The state without values that no event announces, with lists sorted where order has no meaning.
    pub fn normalized(mut self) -> Value {
        self.forget_unknowable();
        for key in CHANNEL_LISTS {
            for channel in self.list(key) {
                if let Some(subscribers) = channel.get_mut("subscribers") {
                    sort(subscribers, |id| id.as_u64().unwrap_or(0).to_string());
                }
            }
            sort(&mut self.json[key], |channel| channel["name"].to_string());
        }
        sort(&mut self.json["realm_bots"], |bot| format!("{:>9}", bot["user_id"]));
        for key in people::PEOPLE_LISTS {
            sort(&mut self.json[key], |user| format!("{:>9}", user["user_id"]));
        }
        // Clients choose the displayed name of unknown users themselves.
        for person in
            self.list("realm_users").iter_mut().filter(|one| one["full_name"] == people::UNKNOWN_NAME)
        {
            *person = json!({"user_id": person["user_id"], "full_name": people::UNKNOWN_NAME});
        }
        sort(&mut self.json["realm_user_groups"], |group| format!("{:>9}", group["id"]));
        for group in self.list("realm_user_groups") {
            sort(&mut group["members"], |id| format!("{id:>9}"));
            sort(&mut group["direct_subgroup_ids"], |id| format!("{id:>9}"));
        }
        // Read messages may determine the spelling of a topic, and clients do not have these.
        for topic in self.json["unread_msgs"]["streams"].as_array_mut().expect("a list") {
            topic["topic"] = json!(topic["topic"].as_str().expect("a topic").to_lowercase());
        }
        sort(&mut self.json["unread_msgs"]["streams"], |one| {
            format!("{:>9}{}", one["stream_id"], one["topic"])
        });
        sort(&mut self.json["user_topics"], |topic| format!("{}{}", topic["stream_id"], topic["topic_name"]));
        self.json
    }

    /// No event announces the first message of a channel to users outside it: clients fetch it when needed.
    /// needs it.
    fn forget_unknowable(&mut self) {
        let mine: Vec<Value> =
            self.view("subscriptions").iter().map(|one| one["stream_id"].clone()).collect();
        for key in CHANNEL_LISTS {
            for channel in self.list(key) {
                if !mine.contains(&channel["stream_id"]) {
                    channel["first_message_id"] = json!(null);
                }
            }
        }
    }
}

fn sort(list: &mut Value, key: impl Fn(&Value) -> String) {
    list.as_array_mut().expect("a list").sort_by_key(|item| key(item));
}
