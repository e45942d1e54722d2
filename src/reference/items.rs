//! The items of lists that were empty in every recorded answer, so that every list of the document says what is in it.

use serde_json::{Map, Value, json};

/// The items of such a list, by the name of its member. What is not here may be anything: `realm_filters` is always empty.
fn of_member(name: &str) -> Value {
    let object = |properties: Value| {
        let required: Vec<&String> = properties.as_object().into_iter().flat_map(Map::keys).collect();
        json!({"type": "object", "properties": properties, "required": required})
    };
    match name {
        "allowed_system_groups" | "not_removed" | "stop_words" => json!({"type": "string"}),
        "ignored_because_not_subscribed_channels" => json!({"type": "integer"}),
        "config_options" | "external_authentication_methods" | "realm_embedded_bots" => {
            json!({"type": "object"})
        }
        "messages" => object(json!({"date_sent": {"type": "integer"}, "id": {"type": "integer"}})),
        "topic_links" => object(json!({"text": {"type": "string"}, "url": {"type": "string"}})),
        _ => json!({}),
    }
}

/// Adds items to every list below `value` that has none; `name` is the member that `value` is.
pub fn complete(name: &str, value: &mut Value) {
    match value {
        Value::Array(parts) => parts.iter_mut().for_each(|part| complete(name, part)),
        Value::Object(schema) => {
            for (inner, part) in schema.iter_mut() {
                // Items and alternatives of a member belong to that member.
                let is_same = matches!(inner.as_str(), "items" | "anyOf" | "additionalProperties");
                complete(if is_same { name } else { inner.as_str() }, part);
            }
            if is_list(schema) && !schema.contains_key("items") {
                schema.insert("items".to_owned(), of_member(name));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether a schema is one of lists, or of lists and something else.
fn is_list(schema: &Map<String, Value>) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind == "array",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
        Some(_) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_without_items_get_those_of_their_member() {
        let mut schema = json!({"type": "object", "properties": {
            "stop_words": {"type": "array"},
            "unknown": {"type": ["array", "null"]},
            "ids": {"type": "array", "items": {"type": "integer"}},
            "type": {"type": "string"},
            "bots": {"type": "array", "items": {"type": "object", "properties": {
                "topic_links": {"anyOf": [{"type": "null"}, {"type": "array"}]},
            }}},
        }});
        complete("", &mut schema);
        let properties = &schema["properties"];
        assert_eq!(properties["stop_words"], json!({"type": "array", "items": {"type": "string"}}));
        assert_eq!(properties["unknown"], json!({"type": ["array", "null"], "items": {}}));
        assert_eq!(properties["ids"], json!({"type": "array", "items": {"type": "integer"}}));
        assert_eq!(properties["type"], json!({"type": "string"}));
        let links = &properties["bots"]["items"]["properties"]["topic_links"]["anyOf"][1]["items"];
        assert_eq!(links["required"], json!(["text", "url"]));
        assert_eq!(links["properties"]["url"], json!({"type": "string"}));
    }
}
