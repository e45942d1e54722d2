//! An event queue, and waiting for what comes out of it.

use super::call::{Answer, Params};
use super::{PATIENCE, Person};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::future::{Future, IntoFuture};
use std::pin::Pin;

/// A registration to be made. Awaiting it registers.
pub struct Registration {
    person: Person,
    params: Vec<(String, String)>,
}

/// A registered queue, and how far its owner has read.
pub struct Queue {
    pub person: Person,
    pub id: String,
    /// The answer to the registration.
    pub state: Value,
    /// The newest event that was fetched; acknowledged by the next poll.
    pub last_event_id: i64,
    pending: VecDeque<Value>,
}

/// Every capability a client can declare.
pub fn all_capabilities() -> Value {
    let names = [
        "notification_settings_null",
        "bulk_message_deletion",
        "user_avatar_url_field_optional",
        "stream_typing_notifications",
        "user_settings_object",
        "linkifier_url_template",
        "user_list_incomplete",
        "include_deactivated_groups",
        "archived_channels",
        "empty_topic_name",
        "simplified_presence_events",
    ];
    Value::Object(Map::from_iter(names.map(|name| (name.to_owned(), json!(true)))))
}

impl Registration {
    pub fn new(person: Person) -> Self {
        Self { person, params: Vec::new() }
    }

    /// Only events of these types.
    pub fn events(self, types: &[&str]) -> Self {
        self.set("event_types", json!(types))
    }

    /// As a client that understands everything.
    pub fn modern(self) -> Self {
        self.set("client_capabilities", all_capabilities())
            .set("slim_presence", json!(true))
            .set("include_subscribers", json!(true))
            .set("apply_markdown", json!(true))
    }

    /// With one more parameter, as JSON.
    pub fn set(mut self, name: &str, value: Value) -> Self {
        self.params.push((name.to_owned(), value.to_string()));
        self
    }
}

impl IntoFuture for Registration {
    type Output = Queue;
    type IntoFuture = Pin<Box<dyn Future<Output = Queue> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let params: Vec<(&str, &(dyn std::fmt::Display + Sync))> =
                self.params.iter().map(|(name, value)| (name.as_str(), value as _)).collect();
            let state = self.person.post("/register", &params).ok().await;
            let id = state["queue_id"].as_str().expect("a queue id").to_owned();
            let last_event_id = state["last_event_id"].as_i64().expect("a number");
            Queue { person: self.person, id, state, last_event_id, pending: VecDeque::new() }
        })
    }
}

impl Queue {
    /// One poll as it is, without reading its events.
    pub async fn poll(&self, dont_block: bool) -> Answer {
        let params: Params<'_> =
            &[("queue_id", &self.id), ("last_event_id", &self.last_event_id), ("dont_block", &dont_block)];
        self.person.get("/events", params).await
    }

    /// Reads the events of a poll's answer.
    pub fn take(&mut self, answer: Answer) {
        let body = answer.ok();
        for event in body["events"].as_array().expect("events") {
            let id = event["id"].as_i64().expect("an event id");
            assert!(id > self.last_event_id, "event {id} after {}: {event}", self.last_event_id);
            self.last_event_id = id;
            self.pending.push_back(event.clone());
        }
    }

    /// The events that were read and not yet given out.
    pub fn taken(&mut self) -> Vec<Value> {
        self.pending.drain(..).collect()
    }

    /// The next event that is no heartbeat.
    pub async fn next(&mut self) -> Value {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            while let Some(event) = self.pending.pop_front() {
                if event["type"] != "heartbeat" {
                    return event;
                }
            }
            let answer = tokio::time::timeout_at(deadline, self.poll(false)).await;
            let answer = answer.unwrap_or_else(|_| panic!("{}: no event came", self.person.email));
            self.take(answer);
        }
    }

    /// Everything that is there now. What a request caused is there when it was answered.
    pub async fn now(&mut self) -> Vec<Value> {
        let answer = self.poll(true).await;
        self.take(answer);
        self.pending.drain(..).filter(|event| event["type"] != "heartbeat").collect()
    }

    /// The number that the next event's will be greater than, as of the registration.
    pub fn registered_at(&self) -> i64 {
        self.state["last_event_id"].as_i64().expect("a number")
    }
}
