//! Compares the state of a registration, with the events of a change applied, with a registration after the change.

use super::apply::State;
use crate::support::mobile_app::{event_misfits, misfits};
use crate::support::{Queue, TestServer, TestUser};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::future::Future;

/// Keys that may differ between two registrations at the same time.
const MOMENTARY: [&str; 5] = [
    "queue_id",
    "last_event_id",
    "server_timestamp",
    "presence_last_update_id",
    "ignored_parameters_unsupported",
];

pub(super) async fn modern(person: &TestUser) -> Queue {
    person.register().modern().await
}

/// Registers without any capability, and with partial subscriber lists.
pub(super) async fn plain(person: &TestUser) -> Queue {
    person.register().set("include_subscribers", json!(true)).set("slim_presence", json!(true)).await
}

/// The events that each observer's modern queue returned, by local part of the email address.
pub type Seen = BTreeMap<String, Vec<Value>>;

/// Runs `act` while every user in `observers` has two queues: one with all capabilities, and one with none. For each,
/// the state of the registration with all events applied must equal the state of a new registration.
pub async fn verify(t: &TestServer, observers: &[&str], act: impl Future<Output = ()>) -> Seen {
    let mut before = Vec::new();
    for name in observers {
        let person = t.user(name);
        before.push((*name, true, modern(&person).await));
        before.push((*name, false, plain(&person).await));
    }
    act.await;
    let mut seen = Seen::new();
    for (name, is_modern, mut queue) in before {
        let person = queue.person.clone();
        let now = if is_modern { modern(&person).await } else { plain(&person).await };
        let (upto, events) = (now.registered_at(), queue.now().await);
        let mut state = State::new(queue.state.clone(), person.id);
        state.is_modern = is_modern;
        for event in &events {
            let is_momentary =
                ["presence", "typing", "typing_edit_message"].contains(&event["type"].as_str().unwrap());
            assert!(
                is_momentary || event["id"].as_i64().unwrap() <= upto,
                "{event} is not in the state of {upto}"
            );
            if is_modern {
                assert_eq!(event_misfits(event), [""; 0], "the mobile app cannot read {event}");
            }
            state.apply(event);
        }
        if is_modern {
            assert_eq!(
                misfits(&now.state, "InitialSnapshot"),
                [""; 0],
                "the mobile app cannot read the state"
            );
        }
        compare(name, is_modern, state, State::new(now.state, person.id), &events);
        if is_modern {
            seen.insert(name.to_owned(), events);
        }
    }
    seen
}

pub(super) fn compare(name: &str, is_modern: bool, old: State, new: State, events: &[Value]) {
    let unknowable = old.unknowable.clone();
    let (old, new) = (old.normalized(), new.normalized());
    let keys: std::collections::BTreeSet<&String> =
        old.as_object().unwrap().keys().chain(new.as_object().unwrap().keys()).collect();
    let mut differences = Vec::new();
    for key in keys
        .into_iter()
        .filter(|key| !MOMENTARY.contains(&key.as_str()) && !unknowable.contains(key.as_str()))
    {
        if old[key] != new[key] {
            differences.push(difference(key, &old[key], &new[key]));
        }
    }
    let kind = if is_modern { "modern" } else { "plain" };
    let events: Vec<String> = events.iter().map(Value::to_string).collect();
    assert!(
        differences.is_empty(),
        "{name}, {kind} client: events and state disagree\n{}\nafter these events:\n{}",
        differences.join("\n"),
        events.join("\n")
    );
}

/// The paths at which two values differ.
pub fn difference(place: &str, old: &Value, new: &Value) -> String {
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            let differing = keys.into_iter().filter(|key| old.get(key) != new.get(key));
            let found: Vec<String> = differing
                .map(|key| {
                    difference(
                        &format!("{place}.{key}"),
                        old.get(key).unwrap_or(&Value::Null),
                        new.get(key).unwrap_or(&Value::Null),
                    )
                })
                .collect();
            found.join("\n")
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let pairs = a.iter().zip(b).enumerate().filter(|(_, (x, y))| x != y);
            let found: Vec<String> =
                pairs.map(|(index, (x, y))| difference(&format!("{place}[{index}]"), x, y)).collect();
            found.join("\n")
        }
        _ => format!("  {place}: events lead to {old}, but it is {new}"),
    }
}
