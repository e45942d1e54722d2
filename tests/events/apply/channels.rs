//! Events of channels and subscriptions.

use super::{CHANNEL_LISTS, State};
use serde_json::{Value, json};

/// The keys of a subscription that a channel does not have.
const PERSONAL: [&str; 9] = [
    "color",
    "is_muted",
    "in_home_view",
    "pin_to_top",
    "desktop_notifications",
    "audible_notifications",
    "push_notifications",
    "email_notifications",
    "wildcard_mentions_notify",
];

impl State {
    pub(super) fn channels_appear(&mut self, event: &Value) {
        for channel in event["streams"].as_array().expect("channels") {
            let known = CHANNEL_LISTS.iter().any(|key| self.find(key, &channel["stream_id"]).is_some());
            assert!(!known, "created twice: {event}");
            self.list("streams").push(channel.clone());
            let mut channel = channel.clone();
            // Subscribers get a subscription event next.
            channel["subscribers"] = json!([]);
            self.list("never_subscribed").push(channel);
        }
    }

    pub(super) fn channels_vanish(&mut self, event: &Value) {
        let ids = event["stream_ids"].as_array().expect("channel ids").clone();
        let legacy: Vec<Value> = event["streams"]
            .as_array()
            .expect("channels")
            .iter()
            .map(|one| one["stream_id"].clone())
            .collect();
        assert_eq!(ids, legacy, "{event}");
        for key in CHANNEL_LISTS {
            self.list(key).retain(|channel| !ids.contains(&channel["stream_id"]));
        }
        self.forget_unread_of(&ids);
    }

    /// Channels that the user does not see have no unread messages.
    fn forget_unread_of(&mut self, channels: &[Value]) {
        let topics = self.json["unread_msgs"]["streams"].as_array().expect("a list").iter();
        let gone = topics.filter(|topic| channels.contains(&topic["stream_id"]));
        let ids = gone.flat_map(|topic| topic["unread_message_ids"].as_array().expect("ids").clone());
        let ids: Vec<u64> = ids.filter_map(|id| id.as_u64()).collect();
        self.read(&ids);
    }

    pub(super) fn channel_changes(&mut self, event: &Value) {
        let property = event["property"].as_str().expect("a property");
        for key in CHANNEL_LISTS {
            if let Some(channel) = self.find_mut(key, &event["stream_id"]) {
                assert_eq!(channel["name"], event["name"], "{event}");
                channel[property] = event["value"].clone();
                for extra in ["rendered_description", "is_web_public", "history_public_to_subscribers"] {
                    if let Some(value) = event.get(extra) {
                        channel[extra] = value.clone();
                    }
                }
            }
        }
        if property == "is_archived" {
            assert!(!self.is_plain(), "for this client archived channels are gone: {event}");
        }
    }

    /// Whether the client declared no capabilities: then settings are top-level keys.
    fn is_plain(&self) -> bool {
        self.json.get("enter_sends").is_some()
    }

    pub(super) fn subscription_changes(&mut self, event: &Value) {
        let property = event["property"].as_str().expect("a property");
        assert!(PERSONAL.contains(&property), "{event}");
        let channel = self.find_mut("subscriptions", &event["stream_id"]);
        channel.unwrap_or_else(|| panic!("not subscribed: {event}"))[property] = event["value"].clone();
        self.count_unread();
    }

    pub(super) fn subscribed(&mut self, event: &Value) {
        for subscription in event["subscriptions"].as_array().expect("subscriptions") {
            let id = &subscription["stream_id"];
            assert!(self.find("subscriptions", id).is_none(), "subscribed twice: {event}");
            assert!(self.find("streams", id).is_some(), "subscribed to an unannounced channel: {event}");
            for key in ["unsubscribed", "never_subscribed"] {
                self.list(key).retain(|channel| channel["stream_id"] != *id);
            }
            self.list("subscriptions").push(subscription.clone());
            let count = subscription["subscriber_count"].clone();
            self.find_mut("streams", id).expect("as above")["subscriber_count"] = count;
        }
        self.count_unread();
    }

    pub(super) fn unsubscribed(&mut self, event: &Value) {
        for gone in event["subscriptions"].as_array().expect("subscriptions") {
            let id = &gone["stream_id"];
            let at = self.view("subscriptions").iter().position(|channel| channel["stream_id"] == *id);
            let at = at.unwrap_or_else(|| panic!("never subscribed: {event}"));
            let mut channel = self.list("subscriptions").remove(at);
            assert_eq!(channel["name"], gone["name"], "{event}");
            let me = self.me;
            remove(&mut channel, &[json!(me)]);
            let count = channel["subscriber_count"].clone();
            self.list("unsubscribed").push(channel);
            if let Some(channel) = self.find_mut("streams", id) {
                channel["subscriber_count"] = count;
            }
        }
        self.count_unread();
    }

    pub(super) fn peers(&mut self, event: &Value, is_added: bool) {
        let users = event["user_ids"].as_array().expect("user ids").clone();
        assert!(!users.contains(&json!(self.me)), "one is no peer of oneself: {event}");
        for id in event["stream_ids"].as_array().expect("channel ids") {
            for key in CHANNEL_LISTS {
                let Some(channel) = self.find_mut(key, id) else { continue };
                if is_added { add(channel, &users) } else { remove(channel, &users) }
            }
        }
    }

    fn find(&self, key: &str, id: &Value) -> Option<&Value> {
        self.view(key).iter().find(|channel| channel["stream_id"] == *id)
    }

    fn find_mut(&mut self, key: &str, id: &Value) -> Option<&mut Value> {
        self.list(key).iter_mut().find(|channel| channel["stream_id"] == *id)
    }
}

/// Whether an object has the keys of a subscription.
pub fn is_personal(channel: &Value) -> bool {
    PERSONAL.iter().all(|key| channel.get(key).is_some())
}

fn add(channel: &mut Value, users: &[Value]) {
    if let Some(subscribers) = channel.get_mut("subscribers") {
        let subscribers = subscribers.as_array_mut().expect("subscribers");
        for user in users {
            assert!(!subscribers.contains(user), "added twice: {user}");
            subscribers.push(user.clone());
        }
    }
    count(channel, users.len() as i64);
}

fn remove(channel: &mut Value, users: &[Value]) {
    if let Some(subscribers) = channel.get_mut("subscribers") {
        let subscribers = subscribers.as_array_mut().expect("subscribers");
        for user in users {
            let at = subscribers.iter().position(|known| known == user);
            subscribers.remove(at.unwrap_or_else(|| panic!("{user} was no subscriber")));
        }
    }
    count(channel, -(users.len() as i64));
}

fn count(channel: &mut Value, change: i64) {
    channel["subscriber_count"] = json!(channel["subscriber_count"].as_i64().expect("a count") + change);
}
