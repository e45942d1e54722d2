//! Comparing answers with the schemas of the document. In the document objects may have more members, for later versions; here they
//! must not, so that a new member is declared.

use jsonschema::Validator;
use millstream::reference::document::document;
use millstream::reference::operation::Operation;
use millstream::reference::schemas::event_component;
use millstream::routes::table;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The name of an event's schema: its type, and its operation if it has one.
pub fn event_name(event: &Value) -> String {
    let kind = event["type"].as_str().unwrap_or_default();
    match event["op"].as_str() {
        Some(op) => format!("{kind}/{op}"),
        None => kind.to_owned(),
    }
}

/// A successful answer.
#[track_caller]
pub fn success(what: &str, operation: &Operation, body: &Value) {
    let events = body["events"].as_array().filter(|_| operation.id == "get-events");
    let Some(events) = events else { return valid(what, operation.id, body) };
    for event in events {
        let name = event_component(&event_name(event));
        assert!(schemas().contains_key(&name), "{what}: the document does not have {name}: {event}");
        valid(what, &name, event);
    }
    let mut rest = body.clone();
    rest["events"] = json!([]);
    valid(what, operation.id, &rest);
}

/// An error.
#[track_caller]
pub fn error(what: &str, _: &Operation, body: &Value) {
    valid(what, "Error", body);
}

#[track_caller]
fn valid(what: &str, name: &str, value: &Value) {
    let validator = validator(name);
    let Some(found) = validator.iter_errors(value).next() else { return };
    let place = found.instance_path().to_string();
    let shown: String =
        value.pointer(&place).map(Value::to_string).unwrap_or_default().chars().take(300).collect();
    panic!(
        "{what}: the answer is not what the document says about {name}: at {place:?}: {found} (expected by {}): {shown}\n\
         src/reference/answers has the forms of answers; MILLSTREAM_RECORD_ANSWERS=1 adds what the tests see",
        found.schema_path()
    );
}

/// Compiled once each.
fn validator(name: &str) -> Arc<Validator> {
    static COMPILED: Mutex<BTreeMap<String, Arc<Validator>>> = Mutex::new(BTreeMap::new());
    if let Some(known) = COMPILED.lock().unwrap_or_else(PoisonError::into_inner).get(name) {
        return known.clone();
    }
    let all = schemas();
    let schema = all.get(name).unwrap_or_else(|| panic!("the document has no answer of {name}"));
    let validator = Arc::new(jsonschema::validator_for(schema).expect("a schema"));
    COMPILED.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), validator.clone());
    validator
}

/// The schema of each answer by operation, and of each component, with all that it refers to.
fn schemas() -> &'static BTreeMap<String, Value> {
    static SCHEMAS: OnceLock<BTreeMap<String, Value>> = OnceLock::new();
    SCHEMAS.get_or_init(|| {
        let document = document(&table());
        let mut components = document["components"]["schemas"].as_object().expect("schemas").clone();
        components.iter_mut().filter(|(name, _)| *name != "Error").for_each(|(_, schema)| close(schema));
        let mut answers: Map<String, Value> =
            components.keys().map(|name| (name.clone(), link(name))).collect();
        for operation in
            document["paths"].as_object().into_iter().flatten().flat_map(|(_, one)| one.as_object()).flatten()
        {
            let schema = operation.1.pointer("/responses/200/content/application~1json/schema");
            if let (Some(id), Some(schema)) = (operation.1["operationId"].as_str(), schema) {
                let mut schema = schema.clone();
                close(&mut schema);
                answers.insert(id.to_owned(), schema);
            }
        }
        let with_components = |(name, schema): (String, Value)| {
            let mut schema = schema;
            let used = used_by(&schema, &components);
            schema["components"] = json!({"schemas": used});
            (name, schema)
        };
        answers.into_iter().map(with_components).collect()
    })
}

fn link(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// The components that a schema leads to.
fn used_by(schema: &Value, components: &Map<String, Value>) -> Map<String, Value> {
    let mut used = Map::new();
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                open.extend(members.values());
                let name =
                    members.get("$ref").and_then(Value::as_str).and_then(|link| link.rsplit('/').next());
                if let Some((name, component)) = name.and_then(|name| components.get_key_value(name))
                    && !used.contains_key(name)
                {
                    used.insert(name.clone(), component.clone());
                    open.push(component);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    used
}

/// Refuses members that a schema does not name.
fn close(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(close),
        Value::Object(members) => {
            members.values_mut().for_each(close);
            let is_object = members.get("properties").is_some_and(|all| all.is_object());
            if is_object && members.contains_key("type") && !members.contains_key("additionalProperties") {
                members.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
