//! Registering event queues, and reading their events.

use super::call::{ApiResponse, Params};
use super::{TIMEOUT, TestUser};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::future::{Future, IntoFuture};
use std::pin::Pin;

/// A registration request. Awaiting it sends it.
pub struct Registration {
    person: TestUser,
    params: Vec<(String, String)>,
}

/// A registered queue, and the position of its client.
#[derive(Clone)]
pub struct Queue {
    pub person: TestUser,
    pub id: String,
    /// The response to the registration.
    pub state: Value,
    /// The id of the newest event fetched; the next poll acknowledges it.
    pub last_event_id: i64,
    pending: VecDeque<Value>,
}

/// All client capabilities, enabled.
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
    pub fn new(person: TestUser) -> Self {
        Self { person, params: Vec::new() }
    }

    /// Registers for these event types only.
    pub fn events(self, types: &[&str]) -> Self {
        self.set("event_types", json!(types))
    }

    /// Registers with all client capabilities.
    pub fn modern(self) -> Self {
        self.set("client_capabilities", all_capabilities())
            .set("slim_presence", json!(true))
            .set("include_subscribers", json!(true))
            .set("apply_markdown", json!(true))
    }

    /// Adds a parameter, encoded as JSON.
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
            let params = super::call::as_params(&self.params);
            let state = self.person.post("/register", &params).ok().await;
            let id = state["queue_id"].as_str().expect("a queue id").to_owned();
            let last_event_id = state["last_event_id"].as_i64().expect("a number");
            Queue { person: self.person, id, state, last_event_id, pending: VecDeque::new() }
        })
    }
}

impl Queue {
    /// Polls once, and leaves the position unchanged.
    pub async fn poll(&self, dont_block: bool) -> ApiResponse {
        self.poll_after(self.last_event_id, dont_block).await
    }

    /// Polls once for the events after `last_event_id`.
    pub async fn poll_after(&self, last_event_id: i64, dont_block: bool) -> ApiResponse {
        let params: Params<'_> =
            &[("queue_id", &self.id), ("last_event_id", &last_event_id), ("dont_block", &dont_block)];
        self.person.get("/events", params).await
    }

    /// Takes the events of a poll's response, whose ids must increase.
    pub fn take(&mut self, answer: ApiResponse) {
        let body = answer.ok();
        for event in body["events"].as_array().expect("events") {
            let id = event["id"].as_i64().expect("an event id");
            assert!(id > self.last_event_id, "event {id} after {}: {event}", self.last_event_id);
            self.last_event_id = id;
            self.pending.push_back(event.clone());
        }
    }

    /// The events that were taken and not yet returned.
    pub fn taken(&mut self) -> Vec<Value> {
        self.pending.drain(..).collect()
    }

    /// Waits for the next event other than a heartbeat.
    pub async fn next(&mut self) -> Value {
        let deadline = tokio::time::Instant::now() + TIMEOUT;
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

    /// All events available now, without heartbeats. Events caused by a request are available once it was answered.
    pub async fn now(&mut self) -> Vec<Value> {
        let answer = self.poll(true).await;
        self.take(answer);
        self.taken().into_iter().filter(|event| event["type"] != "heartbeat").collect()
    }

    /// The id, as the server's own functions take it.
    pub fn key(&self) -> model::QueueId {
        model::QueueId(self.id.as_str().into())
    }

    /// The `last_event_id` of the registration.
    pub fn registered_at(&self) -> i64 {
        self.state["last_event_id"].as_i64().expect("a number")
    }
}
