//! Clients that send until the server has ended, clients that record the events they receive, and the comparison of both
//! with the stored messages.

use crate::support::{ApiResponse, Params, ServerProcess, TestUser};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The channels of the senders, to which all users of the sample organization are subscribed.
pub const CHANNELS: [&str; 3] = ["Verona", "Rome", "Venice"];
pub const PEOPLE: [&str; 6] = ["iago", "hamlet", "cordelia", "othello", "ZOE", "prospero"];

/// The results of all sends, over all rounds.
#[derive(Default)]
pub struct AcknowledgedSends {
    /// Content → id of each acknowledged message.
    pub acknowledged: BTreeMap<String, u64>,
    /// The content of sends without a response: stored or not, but never twice.
    pub unanswered: BTreeSet<String>,
}

/// Sends one message after another until the connection fails.
pub async fn send_until_gone(person: TestUser, partner: u32, label: String) -> AcknowledgedSends {
    let mut sends = AcknowledgedSends::default();
    let place = label.bytes().map(usize::from).sum::<usize>();
    for number in 0.. {
        let content = format!("{label}.{number:06}");
        let topic = format!("t{}", place % 5);
        let (channel, to) = (CHANNELS[place % 3], json!([partner]));
        let params: Params<'_> = if place % 4 == 3 {
            &[("type", &"direct"), ("to", &to), ("content", &content)]
        } else {
            &[("type", &"stream"), ("to", &channel), ("topic", &topic), ("content", &content)]
        };
        let call = person.post("/messages", params);
        let Ok(response) = call.request.send().await else {
            sends.unanswered.insert(content);
            break;
        };
        let status = response.status();
        let body: Option<Value> = response.json().await.ok();
        match body.and_then(|body| body["id"].as_u64()) {
            Some(id) if status == 200 => drop(sends.acknowledged.insert(content, id)),
            _ => {
                sends.unanswered.insert(content);
                if status != 503 {
                    break;
                }
            }
        }
    }
    sends
}

/// A queue that is read across restarts.
pub struct Reader {
    pub person: TestUser,
    pub queue_id: String,
    pub last_event_id: i64,
    /// The newest message at the time of the registration.
    pub since: u64,
    /// The ids of received messages, in order of arrival.
    pub seen: Vec<u64>,
    /// Id → content of received messages.
    pub contents: BTreeMap<u64, String>,
}

impl Reader {
    pub async fn register(person: &TestUser) -> Self {
        let queue = person.register().events(&["message"]).await;
        let since = queue.state["max_message_id"].as_u64().expect("the newest message");
        Self {
            person: person.clone(),
            queue_id: queue.id,
            last_event_id: queue.last_event_id,
            since,
            seen: Vec::new(),
            contents: BTreeMap::new(),
        }
    }

    async fn poll(&mut self, dont_block: bool) -> Option<usize> {
        let params: Params<'_> = &[
            ("queue_id", &self.queue_id),
            ("last_event_id", &self.last_event_id),
            ("dont_block", &dont_block),
        ];
        let call = self.person.get("/events", params);
        let what = call.what.clone();
        let response = call.request.send().await.ok()?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let text = response.text().await.ok()?;
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        let body = ApiResponse { what, status, headers, body }.ok();
        let events = body["events"].as_array().expect("events");
        for event in events {
            let id = event["id"].as_i64().expect("an event id");
            assert!(id > self.last_event_id, "event {id} after {}", self.last_event_id);
            self.last_event_id = id;
            if event["type"] == "message" {
                let message = &event["message"];
                let id = message["id"].as_u64().expect("a message id");
                self.seen.push(id);
                self.contents.insert(id, message["content"].as_str().expect("content").to_owned());
            }
        }
        Some(events.len())
    }

    /// Polls until the connection fails; adds the number of events to `arrived`.
    pub async fn read_until_gone(mut self, arrived: Arc<AtomicU64>) -> Self {
        while let Some(count) = self.poll(false).await {
            arrived.fetch_add(count as u64, Ordering::Relaxed);
        }
        self
    }

    /// Reads all remaining events.
    pub async fn drain(&mut self) {
        while self.poll(true).await.expect("the server answers") > 0 {}
    }
}

/// All messages after message `since` that a user can read, by id.
pub async fn read_back(person: &TestUser, since: u64) -> BTreeMap<u64, Value> {
    let mut found = BTreeMap::new();
    let mut anchor = since;
    loop {
        let params: Params<'_> = &[
            ("anchor", &anchor),
            ("num_before", &0),
            ("num_after", &2000),
            ("include_anchor", &false),
            ("apply_markdown", &false),
        ];
        let body = person.get("/messages", params).ok().await;
        for message in body["messages"].as_array().expect("messages") {
            anchor = message["id"].as_u64().expect("an id");
            assert!(found.insert(anchor, message.clone()).is_none(), "message {anchor} is there twice");
        }
        if body["found_newest"] == true {
            return found;
        }
    }
}

/// All messages after `since` that any of the users can read, by id.
pub async fn read_back_all(server: &ServerProcess, people: &[TestUser], since: u64) -> BTreeMap<u64, Value> {
    let mut all = BTreeMap::new();
    for person in people {
        all.extend(read_back(&server.reconnect(person), since).await);
    }
    all
}

/// Asserts that every acknowledged message is stored once under its id and every other at most once, and that the ids
/// of each sender's messages increase.
pub fn compare(sends: &AcknowledgedSends, stored: &BTreeMap<u64, Value>) {
    let mut by_content: BTreeMap<&str, u64> = BTreeMap::new();
    for (id, message) in stored {
        let content = message["content"].as_str().expect("content");
        let twice = by_content.insert(content, *id);
        assert_eq!(twice, None, "{content} is there twice, also as {id}");
    }
    for (content, id) in &sends.acknowledged {
        assert_eq!(by_content.get(content.as_str()), Some(id), "{content} was acknowledged as {id}");
    }
    let mut newest: BTreeMap<&str, (&str, u64)> = BTreeMap::new();
    for (content, id) in &by_content {
        let known = sends.acknowledged.contains_key(*content) || sends.unanswered.contains(*content);
        assert!(known, "{content} was never sent");
        let (label, _) = content.rsplit_once('.').expect("a label and a number");
        if let Some((before, smaller)) = newest.insert(label, (content, *id)) {
            assert!(smaller < *id, "{before} is {smaller}, {content} is {id}");
        }
    }
}
