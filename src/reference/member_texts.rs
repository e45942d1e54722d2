//! What the members of answers and events are: one text for each name, where it means the same everywhere.

use super::meanings::{
    OF_CHANNEL_PERMISSIONS, OF_GROUP_PERMISSIONS, OF_ORGANIZATIONS, OF_PERMISSIONS, OF_USERS, meaning,
};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::OnceLock;

/// The texts, by name: a name, a tab and the text on each line. `owner.name` is a member of one object: of a component, of an
/// answer by its operation, or of what another member has; `owner.*` are all of its members.
const TEXTS: &str = include_str!("members.tsv");

/// Objects whose permissions are those of a channel.
const CHANNELS: [&str; 3] = ["Channel", "NeverSubscribedChannel", "Subscription"];

/// Adds a text to every member below a schema that is known; `owner` is the object that the schema is.
pub fn describe(owner: &str, schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    for (name, part) in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        describe(name, part);
        if let (Some(text), Some(part)) = (text(owner, name), part.as_object_mut()) {
            part.entry("description").or_insert_with(|| json!(text));
        }
    }
    for inside in ["items", "additionalProperties"] {
        if let Some(part) = schema.get_mut(inside) {
            describe(owner, part);
        }
    }
    schema
        .get_mut("anyOf")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .for_each(|part| describe(owner, part));
}

/// The text of an entry of the table.
fn known(wanted: &str) -> Option<String> {
    static BY_NAME: OnceLock<HashMap<&str, &str>> = OnceLock::new();
    let all = BY_NAME.get_or_init(|| TEXTS.lines().filter_map(|line| line.split_once('\t')).collect());
    all.get(wanted).map(|text| (*text).to_owned())
}

/// What a member of an object is.
fn text(owner: &str, name: &str) -> Option<String> {
    if name == "id" && owner.starts_with("Event") {
        return known("Event.id");
    }
    known(&format!("{owner}.{name}"))
        .or_else(|| known(&format!("{owner}.*")))
        .or_else(|| setting(owner, name))
        .or_else(|| known(name))
}

/// What a setting or a permission does, by the tables of those.
fn setting(owner: &str, name: &str) -> Option<String> {
    let of_realm = name.strip_prefix("realm_").unwrap_or(name);
    let found =
        |list: &[(&str, &'static str)], name: &str| Some(meaning(list, name)).filter(|text| !text.is_empty());
    let permission = match owner {
        _ if CHANNELS.contains(&owner) => found(OF_CHANNEL_PERMISSIONS, name),
        _ => found(OF_PERMISSIONS, of_realm).or_else(|| found(OF_GROUP_PERMISSIONS, name)),
    };
    if let Some(permission) = permission {
        return Some(format!("Who may do this: {permission}"));
    }
    if CHANNELS.contains(&owner) {
        return None;
    }
    let of_user = found(OF_USERS, name).filter(|_| owner != "data");
    of_user.or_else(|| found(OF_ORGANIZATIONS, of_realm)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::recorded;
    use std::collections::BTreeSet;

    /// The places of the members without a text, and the words of the others.
    fn members(place: &str, schema: &Value, found: &mut Vec<(String, Option<String>)>) {
        for (name, part) in schema["properties"].as_object().into_iter().flatten() {
            let place = format!("{place}.{name}");
            members(&place, part, found);
            found.push((place, part["description"].as_str().map(str::to_owned)));
        }
        for inside in ["items", "additionalProperties"] {
            schema.get(inside).into_iter().for_each(|part| members(place, part, found));
        }
        schema["anyOf"].as_array().into_iter().flatten().for_each(|part| members(place, part, found));
    }

    #[test]
    fn every_member_of_answers_and_events_has_a_text() {
        let answers = recorded::answers();
        let mut found = Vec::new();
        for part in ["answers", "components", "events"] {
            for (name, schema) in answers[part].as_object().into_iter().flatten() {
                members(name, schema, &mut found);
            }
        }
        assert!(found.len() > 1500, "{}", found.len());
        // The type and the operation of an event are in its schema as constants.
        let is_constant = |place: &str| place.ends_with(".type") || place.ends_with(".op");
        let missing: BTreeSet<&String> = found
            .iter()
            .filter(|(place, text)| text.is_none() && !is_constant(place))
            .map(|(place, _)| place)
            .collect();
        assert!(missing.is_empty(), "add these to src/reference/members.tsv: {missing:#?}");
        let used: BTreeSet<&str> = found.iter().filter_map(|(_, text)| text.as_deref()).collect();
        let rows: Vec<(&str, &str)> =
            TEXTS.lines().map(|line| line.split_once('\t').expect("a tab")).collect();
        let unused: Vec<_> = rows.iter().filter(|(_, text)| !used.contains(text)).collect();
        assert!(unused.is_empty(), "no answer has these: {unused:?}");
        assert!(rows.iter().all(|(_, text)| text.ends_with('.')));
        assert!(rows.is_sorted() && rows.windows(2).all(|pair| pair[0].0 != pair[1].0), "by name, each once");
    }

    #[test]
    fn the_most_exact_text_is_taken() {
        assert_eq!(text("EventMessage", "id"), text("EventTyping", "id"));
        assert_ne!(text("Message", "id"), text("EventMessage", "id"));
        assert_ne!(text("Channel", "can_resolve_topics_group"), text("data", "can_resolve_topics_group"));
        assert_eq!(text("authentication_methods", "github"), text("authentication_methods", "email"));
        assert_eq!(text("data", "unknown"), None);
    }
}
