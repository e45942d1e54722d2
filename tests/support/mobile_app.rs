//! What the mobile app requires of answers and events: `tests/clients/mobile_app/fields.json` has its models with the types
//! of their fields. A field without `?` must be there and must not be null; `[T]` is a list, `{T}` an object used as a map.

use serde_json::{Map, Value};
use std::sync::LazyLock;

static FIELDS: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../clients/mobile_app/fields.json")).expect("the fields are JSON")
});

/// The places at which a value does not have a type.
pub fn misfits(value: &Value, kind: &str) -> Vec<String> {
    let mut found = Vec::new();
    compare(value, kind, kind, &mut found);
    found
}

/// The misfits of an event; none for types that the app does not know.
pub fn event_misfits(event: &Value) -> Vec<String> {
    let kind = event["type"].as_str().unwrap_or_default();
    let of_op = format!("{kind}/{}", event["op"].as_str().unwrap_or_default());
    let events = &FIELDS["events"];
    // Only queues with the capability `simplified_presence_events`, which the app does not have, get this form.
    if event.get("presences").is_some() {
        return Vec::new();
    }
    match events.get(kind).or_else(|| events.get(&of_op)).and_then(Value::as_str) {
        Some(model) => misfits(event, model),
        None => Vec::new(),
    }
}

/// The names of all events that the app knows: the type, or type and operation.
pub fn known_events() -> Vec<&'static str> {
    FIELDS["events"].as_object().expect("an object").keys().map(String::as_str).collect()
}

fn compare(value: &Value, kind: &str, place: &str, found: &mut Vec<String>) {
    let inner = |kind: &'_ str| kind[1..kind.len() - 1].to_owned();
    let fits = match kind {
        "any" => true,
        "int" => value.is_i64() || value.is_u64(),
        "num" => value.is_number(),
        "str" => value.is_string(),
        "bool" => value.is_boolean(),
        "Message" => {
            let model = if value["type"] == "stream" { "StreamMessage" } else { "DmMessage" };
            return compare(value, model, place, found);
        }
        list if list.starts_with('[') => value.as_array().is_some_and(|items| {
            for (index, item) in items.iter().enumerate() {
                compare(item, &inner(list), &format!("{place}[{index}]"), found);
            }
            true
        }),
        map if map.starts_with('{') => value.as_object().is_some_and(|entries| {
            for (name, entry) in entries {
                compare(entry, &inner(map), &format!("{place}.{name}"), found);
            }
            true
        }),
        model => value.as_object().is_some_and(|fields| {
            compare_model(fields, model, place, found);
            true
        }),
    };
    if !fits {
        found.push(format!("{place} is not {kind}: {value}"));
    }
}

fn compare_model(fields: &Map<String, Value>, model: &str, place: &str, found: &mut Vec<String>) {
    let wanted = FIELDS["models"][model].as_object().unwrap_or_else(|| panic!("no model {model}"));
    for (name, kind) in wanted {
        let kind = kind.as_str().expect("a type");
        let (kind, is_optional) = match kind.strip_suffix('?') {
            Some(kind) => (kind, true),
            None => (kind, false),
        };
        let place = format!("{place}.{name}");
        match fields.get(name) {
            None | Some(Value::Null) if is_optional => {}
            // The app reads these itself, and knows what null means.
            Some(Value::Null) if kind == "any" => {}
            None => found.push(format!("{place} is missing")),
            Some(value) => compare(value, kind, &place, found),
        }
    }
}
