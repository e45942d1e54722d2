//! Compares the events of queues with the expected ones.

use super::check::Wrong;
use super::rules::{Effects, Event};
use super::state::{HISTORICAL, MENTIONED, READ, STARRED, Who};
use serde_json::Value;
use std::collections::VecDeque;

pub fn new_ids(events: &[Value]) -> impl Iterator<Item = u64> {
    events
        .iter()
        .filter(|event| event["type"] == "message")
        .filter_map(|event| event["message"]["id"].as_u64())
}

/// Instead of the target of an expected change: the queue was rebuilt, and its event has what its user can read now.
pub const REBUILT: u64 = 0;

/// Whether an event is an expected one.
fn is_same(expected: &Event, found: &Event) -> bool {
    match (expected, found) {
        (Event::Update(REBUILT, ids), Event::Update(_, shown)) => ids.iter().any(|id| shown.contains(id)),
        _ => expected == found,
    }
}

impl Event {
    /// A change of the messages that its recipient can read: about the target or, if that is none of them, about the first one.
    pub fn update(target: u64, ids: Vec<u64>) -> Self {
        let about = ids.iter().find(|id| **id == target).or(ids.first()).copied();
        Self::Update(about.unwrap_or(target), ids)
    }
}

pub fn is_expected(waiting: &VecDeque<(String, Effects)>, found: &Event) -> bool {
    waiting
        .iter()
        .any(|(_, effects)| effects.must.iter().chain(&effects.may).any(|(_, event)| is_same(event, found)))
}

/// Finds the expected event that an event equals; all events required before it must have come. Required events are
/// tried first, because an earlier action may have allowed the same event.
pub fn match_event(
    name: &str,
    waiting: &mut VecDeque<(String, Effects)>,
    found: &Event,
) -> Result<(), Wrong> {
    // Up to the first action with a missing required event.
    let open = waiting.iter().position(|(_, effects)| !effects.must.is_empty());
    let within = open.map_or(waiting.len(), |open| open + 1);
    for index in 0..within {
        if take(&mut waiting[index].1.must, found) {
            waiting.drain(..index);
            return Ok(());
        }
    }
    for index in 0..within {
        if take(&mut waiting[index].1.may, found) {
            waiting.drain(..index);
            return Ok(());
        }
    }
    match open {
        Some(open) => {
            let (action, effects) = &waiting[open];
            Err(format!("{name} did not receive {:?} of {action}, but {found:?}", effects.must))
        }
        None => Err(format!("{name} got an event without a cause, {found:?}")),
    }
}

fn take(events: &mut Vec<(Who, Event)>, found: &Event) -> bool {
    let at = events.iter().position(|(_, event)| is_same(event, found));
    at.map(|at| events.swap_remove(at)).is_some()
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().expect("a list").iter().filter_map(Value::as_u64).collect()
}

/// An event in the terms of the model; none for types that are not compared.
pub fn parse(event: &Value) -> Vec<Event> {
    match event["type"].as_str().expect("a type") {
        "message" => {
            let id = event["message"]["id"].as_u64().expect("an id");
            vec![Event::Message(id, parse_flags(&event["flags"]))]
        }
        "update_message" => {
            vec![Event::Update(event["message_id"].as_u64().expect("an id"), numbers(&event["message_ids"]))]
        }
        "delete_message" => vec![Event::Delete(numbers(&event["message_ids"]))],
        "update_message_flags" => {
            let (is_star, adds) = (event["flag"] == "starred", event["op"] == "add");
            let ids = numbers(&event["messages"]).into_iter();
            ids.map(|id| Event::Flag { is_star, adds, id }).collect()
        }
        _ => Vec::new(),
    }
}

const FLAGS: [(&str, u8); 4] =
    [("read", READ), ("starred", STARRED), ("mentioned", MENTIONED), ("historical", HISTORICAL)];

pub fn parse_flags(list: &Value) -> u8 {
    let has = |name: &str| list.as_array().expect("flags").iter().any(|flag| flag == name);
    FLAGS.iter().filter(|(name, _)| has(name)).map(|(_, bit)| bit).sum()
}

pub fn flag_names(flags: u8) -> String {
    let names: Vec<&str> = FLAGS.iter().filter(|(_, bit)| flags & bit != 0).map(|(name, _)| *name).collect();
    format!("{names:?}")
}
