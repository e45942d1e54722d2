//! Schemas of the document: of parameters, answers, errors and events.

use super::operation::{Kind, Operation, Parameter};
use crate::http::Code;
use serde_json::{Map, Value, json};

/// The schema of a parameter's value.
pub fn of_kind(kind: Kind) -> Value {
    let group = json!({"anyOf": [{"type": "integer"}, {"$ref": "#/components/schemas/GroupMembers"}]});
    match kind {
        Kind::Text | Kind::LooseText | Kind::TextOrJson => json!({"type": "string"}),
        Kind::Word(words) => json!({"type": "string", "enum": words}),
        Kind::Bool => json!({"type": "boolean"}),
        Kind::Int | Kind::Id => json!({"type": "integer"}),
        Kind::Choice(numbers) => json!({"type": "integer", "enum": numbers}),
        Kind::Range(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
        Kind::IdOrNull => json!({"type": ["integer", "null"]}),
        Kind::Ids | Kind::Ints => json!({"type": "array", "items": {"type": "integer"}}),
        Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
        Kind::Object => json!({"type": "object"}),
        Kind::Objects => json!({"type": "array", "items": {"type": "object"}}),
        Kind::Json => json!({}),
        Kind::BoolOrPartial => {
            json!({"anyOf": [{"type": "boolean"}, {"type": "string", "enum": ["partial"]}]})
        }
        Kind::Limit => json!({"type": ["integer", "string"]}),
        Kind::Group => group,
        Kind::GroupChange => {
            json!({"type": "object", "properties": {"new": group, "old": group}, "required": ["new"]})
        }
    }
}

/// The schema of a parameter, with its text and default.
pub fn of_parameter(parameter: &Parameter) -> Value {
    let mut schema = of_kind(parameter.kind);
    schema["description"] = json!(parameter.text);
    let default = parameter.default.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    if let Some(default) = default.filter(|default| !default.is_null()) {
        schema["default"] = default;
    }
    schema
}

/// The schema of a successful answer: what was recorded, and what all answers have.
pub fn of_answer(operation: &Operation, answers: &Value) -> Value {
    let recorded = &answers["answers"][operation.id];
    let mut properties = Map::from_iter([
        ("result".to_owned(), json!({"const": "success"})),
        (
            "msg".to_owned(),
            json!({"type": "string", "description": "Empty, except where it is for the user."}),
        ),
        (
            "ignored_parameters_unsupported".to_owned(),
            json!({
                "type": "array",
                "items": {"type": "string"},
                "description": "The names of parameters that were sent and not read.",
            }),
        ),
    ]);
    properties.extend(recorded["properties"].as_object().cloned().unwrap_or_default());
    let mut required = vec![json!("result"), json!("msg")];
    required.extend(recorded["required"].as_array().cloned().unwrap_or_default());
    json!({"type": "object", "properties": properties, "required": required})
}

/// All named schemas: objects of answers, errors, and events.
pub fn components(answers: &Value) -> Value {
    let mut all = answers["components"].as_object().cloned().unwrap_or_default();
    let mut events = Vec::new();
    for (name, schema) in answers["events"].as_object().into_iter().flatten() {
        let component = event_component(name);
        events.push(json!({"$ref": format!("#/components/schemas/{component}")}));
        all.insert(component, of_event(name, schema));
    }
    all.insert(
        "Event".to_owned(),
        json!({"anyOf": events, "description": "An event of a queue, by its type and operation."}),
    );
    all.insert("Error".to_owned(), error());
    Value::Object(all)
}

/// The name of the schema of an event: `realm_user/add` is `EventRealmUserAdd`.
pub fn event_component(name: &str) -> String {
    let mut component = String::from("Event");
    for word in name.split(['_', '/', '-']) {
        let mut letters = word.chars();
        component.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        component.push_str(letters.as_str());
    }
    component
}

fn of_event(name: &str, schema: &Value) -> Value {
    let mut schema = schema.clone();
    let (kind, op) = name.split_once('/').map_or((name, None), |(kind, op)| (kind, Some(op)));
    schema["properties"]["type"] = json!({"const": kind});
    if let Some(op) = op {
        schema["properties"]["op"] = json!({"const": op});
    }
    schema
}

fn error() -> Value {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.name()).collect();
    json!({
        "type": "object",
        "description": "An error. Some codes add members.",
        "properties": {
            "result": {"const": "error"},
            "msg": {"type": "string", "description": "What is wrong, to be shown to people."},
            "code": {"type": "string", "enum": codes, "description": "What is wrong, for programs."},
        },
        "required": ["result", "msg"],
    })
}
