//! Many clients concurrently send, edit, move between two channels in both directions, delete, mute, flag and
//! subscribe. Afterwards each client's initial state with its events applied equals a new registration and `GET
//! /messages`; all clients got the messages in the same order; and no request hung.

use crate::events::{Seen, verify};
use crate::support::{ApiResponse, Channel, Params, TIMEOUT, TestServer, TestUser};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The number of actions of each client.
const ACTIONS_EACH: usize = 100;
const TOPICS: [&str; 3] = ["ink", "Ink", "pens"];

/// The ids of all messages sent so far, from which edits and moves choose.
type Ids = Arc<Mutex<Vec<u64>>>;

struct Busy {
    person: TestUser,
    others: [TestUser; 2],
    channels: [Channel; 2],
    ids: Ids,
    random: u64,
}

impl Busy {
    fn below(&mut self, bound: usize) -> usize {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) as usize % bound
    }

    fn pick(&mut self) -> u64 {
        let count = self.ids.lock().unwrap().len();
        // Mostly the newest messages, so that clients conflict.
        let back = self.below(count.min(12));
        self.ids.lock().unwrap()[count - 1 - back]
    }

    async fn patch(&mut self, params: Params<'_>) -> ApiResponse {
        let path = format!("/messages/{}", self.pick());
        self.person.call(Method::PATCH, &path, params).await
    }

    async fn act(&mut self) -> Option<ApiResponse> {
        let (channel, topic) = (self.channels[self.below(2)].clone(), TOPICS[self.below(TOPICS.len())]);
        match self.below(12) {
            0..=2 => {
                let content = format!("{} of {}", self.random, self.person.id);
                let id = self.person.send(&channel, topic, &content).await;
                self.ids.lock().unwrap().push(id);
                None
            }
            3 => {
                let content = format!("edited by {}", self.person.id);
                Some(self.patch(&[("content", &content)]).await)
            }
            4..=6 => {
                let mode = ["change_one", "change_later", "change_all"][self.below(3)];
                let tells_old = self.below(2) == 0;
                let params: Params<'_> = &[
                    ("stream_id", &channel.id),
                    ("topic", &topic),
                    ("propagate_mode", &mode),
                    ("send_notification_to_old_thread", &tells_old),
                ];
                Some(self.patch(params).await)
            }
            7 => {
                let id = self.pick();
                Some(self.person.delete(&format!("/messages/{id}"), &[]).await)
            }
            8 => {
                let policy = self.below(4);
                let params: Params<'_> =
                    &[("stream_id", &channel.id), ("topic", &topic), ("visibility_policy", &policy)];
                Some(self.person.post("/user_topics", params).await)
            }
            9 => {
                let (flag, op) = (["read", "starred"][self.below(2)], ["add", "remove"][self.below(2)]);
                let ids = json!([self.pick()]);
                Some(
                    self.person
                        .post("/messages/flags", &[("flag", &flag), ("op", &op), ("messages", &ids)])
                        .await,
                )
            }
            10 => {
                let other = self.others[self.below(2)].clone();
                let (names, principals) = (json!([{"name": channel.name}]), json!([other.id]));
                let params: Params<'_> = &[("subscriptions", &names), ("principals", &principals)];
                Some(self.person.post("/users/me/subscriptions", params).await)
            }
            _ => {
                let other = self.others[self.below(2)].clone();
                let names = json!([channel.name]);
                Some(other.delete("/users/me/subscriptions", &[("subscriptions", &names)]).await)
            }
        }
    }

    async fn run(mut self) {
        for _ in 0..ACTIONS_EACH {
            let Some(answer) = self.act().await else { continue };
            // Another client may have changed the message before; then this action fails with an ordinary error.
            let is_fine = answer.status == 200 || (answer.status == 400 && answer.body["code"].is_string());
            assert!(is_fine, "{answer:?}");
        }
    }
}

/// The messages of a client according to its events.
fn messages_by_events(events: &[Value]) -> BTreeMap<u64, (u64, String, String)> {
    let mut known: BTreeMap<u64, (u64, String, String)> = BTreeMap::new();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    for event in events {
        match event["type"].as_str().expect("a type") {
            "message" if event["message"]["type"] == "stream" => {
                let message = &event["message"];
                let id = message["id"].as_u64().expect("an id");
                let place = message["stream_id"].as_u64().expect("a channel");
                let last = known.last_key_value().map(|(id, _)| *id);
                assert!(last.is_none_or(|last| last < id), "{id} came after {last:?}");
                known.insert(id, (place, text(&message["subject"]), text(&message["content"])));
            }
            "update_message" => {
                for id in event["message_ids"].as_array().expect("ids").iter().filter_map(Value::as_u64) {
                    let message = known
                        .get_mut(&id)
                        .unwrap_or_else(|| panic!("{id} is changed, and not there: {event}"));
                    if let Some(place) = event["new_stream_id"].as_u64() {
                        message.0 = place;
                    }
                    if event["subject"].is_string() {
                        message.1 = text(&event["subject"]);
                    }
                    if event["message_id"] == id && event["rendered_content"].is_string() {
                        message.2 = text(&event["rendered_content"]);
                    }
                }
            }
            "delete_message" => {
                for id in event["message_ids"].as_array().expect("ids").iter().filter_map(Value::as_u64) {
                    assert!(
                        known.remove(&id).is_some(),
                        "{id} is deleted twice, or was never there: {event}"
                    );
                }
            }
            _ => {}
        }
    }
    known
}

/// The messages of a client according to `GET /messages`.
async fn messages_by_fetching(
    person: &TestUser,
    channels: &[Channel],
    after: u64,
) -> BTreeMap<u64, (u64, String, String)> {
    let mut known = BTreeMap::new();
    for channel in channels {
        let window: Params<'_> = &[
            ("anchor", &"newest"),
            ("num_before", &5000),
            ("narrow", &json!([{"operator": "channel", "operand": channel.id}])),
            ("allow_empty_topic_name", &true),
        ];
        let body = person.get("/messages", window).ok().await;
        for message in body["messages"].as_array().expect("messages") {
            let text = |key: &str| message[key].as_str().expect("a text").to_owned();
            let id = message["id"].as_u64().expect("an id");
            assert_eq!(message["stream_id"], channel.id, "{message}");
            if id > after {
                let twice = known.insert(id, (channel.id, text("subject"), text("content")));
                assert!(twice.is_none(), "{id} is in both channels");
            }
        }
    }
    known
}

/// Asserts that clients which could see everything got the same changes in the same order.
fn assert_one_order(seen: &Seen, names: [&str; 2]) {
    let story = |name: &str| -> Vec<String> {
        let is_shared = |event: &&Value| match event["type"].as_str().expect("a type") {
            "message" => event["message"]["type"] == "stream",
            kind => ["update_message", "delete_message"].contains(&kind),
        };
        let tell =
            |event: &Value| format!("{} {}{}", event["type"], event["message"]["id"], event["message_ids"]);
        seen[name].iter().filter(is_shared).map(tell).collect()
    };
    assert_eq!(story(names[0]), story(names[1]));
}

async fn all_users_at_once(is_private: bool) {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia, shiva] = t.users(["iago", "hamlet", "cordelia", "shiva"]);
    let others = t.users(["othello", "polonius"]);
    let mut channels = Vec::new();
    for name in ["a", "b"] {
        let create = iago.create_channel(name).with(&hamlet).with(&cordelia).with(&shiva);
        channels.push(if is_private { create.shared_history().await } else { create.await });
    }
    let channels: [Channel; 2] = channels.try_into().expect("two");
    let before = iago.message_ids(json!([])).await.last().copied().unwrap_or(0);
    let seen = verify(&t, &["iago", "hamlet", "othello", "polonius"], async {
        let first = iago.send(&channels[0], "ink", "first").await;
        let ids: Ids = Arc::new(Mutex::new(vec![first]));
        let mut busy = Vec::new();
        for (number, person) in [&iago, &hamlet, &cordelia, &shiva, &iago, &hamlet].into_iter().enumerate() {
            let (person, others, channels) = (person.clone(), others.clone(), channels.clone());
            let busy_one = Busy { person, others, channels, ids: ids.clone(), random: number as u64 + 1 };
            busy.push(tokio::spawn(busy_one.run()));
        }
        for task in busy {
            tokio::time::timeout(TIMEOUT * 2, task)
                .await
                .expect("no request hangs")
                .expect("no client fails");
        }
    })
    .await;
    for name in ["iago", "hamlet"] {
        let fetched = messages_by_fetching(&t.user(name), &channels, before).await;
        assert_eq!(messages_by_events(&seen[name]), fetched, "{name}");
    }
    assert_one_order(&seen, ["iago", "hamlet"]);
    let moves = seen["iago"].iter().filter(|event| event["new_stream_id"].is_number()).count();
    let deletions = seen["iago"].iter().filter(|event| event["type"] == "delete_message").count();
    assert!(moves > 10 && deletions > 10, "only {moves} moves and {deletions} deletions");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_actions_in_public_channels_are_consistent() {
    all_users_at_once(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_actions_in_private_channels_are_consistent() {
    all_users_at_once(true).await;
}
