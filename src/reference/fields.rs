//! The members of answers as rows of a table, for people.

use serde_json::Value;

/// One member of an answer, or of an object in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    /// Its type, in words.
    pub kind: String,
    /// What it is; empty if that is not known.
    pub text: String,
    /// Whether it is always there.
    pub is_always: bool,
}

/// An object of answers that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub name: String,
    pub fields: Vec<Field>,
}

/// The members of a schema, by name.
pub fn fields(schema: &Value) -> Vec<Field> {
    let is_always =
        |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let properties = schema["properties"].as_object().into_iter().flatten();
    let field = |name: &String, part: &Value| Field {
        name: name.clone(),
        kind: words(part),
        text: part["description"].as_str().unwrap_or_default().to_owned(),
        is_always: is_always(name),
    };
    properties.map(|(name, part)| field(name, part)).collect()
}

/// The named objects that a schema leads to, each once, in the order in which they are met.
pub fn objects(schema: &Value, components: &Value) -> Vec<Object> {
    let mut found: Vec<Object> = Vec::new();
    let mut open = vec![schema];
    while let Some(part) = open.pop() {
        if let Some(name) = part["$ref"].as_str().and_then(|link| link.rsplit('/').next()) {
            let component = &components[name];
            if found.iter().all(|known| known.name != name) && component.is_object() {
                found.push(Object { name: name.to_owned(), fields: fields(component) });
                open.push(component);
            }
        }
        open.extend(part["anyOf"].as_array().into_iter().flatten());
        open.extend(part["properties"].as_object().into_iter().flatten().map(|(_, part)| part));
        open.extend(["items", "additionalProperties"].iter().filter_map(|inside| part.get(inside)));
    }
    found
}

/// The type of a schema, in words.
fn words(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|link| link.rsplit('/').next()) {
        return name.to_owned();
    }
    if let Some(parts) = schema["anyOf"].as_array() {
        return parts.iter().map(words).collect::<Vec<_>>().join(" or ");
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    let word = |kind: &str| match kind {
        "array" => match schema.get("items") {
            Some(items) => format!("list of {}", plural(&words(items))),
            None => "list".to_owned(),
        },
        "object" => match schema.get("additionalProperties") {
            Some(values) => format!("object by id or name, of {}", words(values)),
            None => inner(schema),
        },
        kind => kind.to_owned(),
    };
    match &schema["type"] {
        Value::String(kind) => word(kind),
        Value::Array(kinds) => {
            kinds.iter().filter_map(Value::as_str).map(word).collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    }
}

/// The types of JSON in plural; names and what has members stay as they are.
fn plural(kind: &str) -> String {
    let is_simple = |kind: &str| ["string", "integer", "number", "boolean", "object", "list"].contains(&kind);
    let kinds =
        kind.split(" or ").map(|kind| if is_simple(kind) { format!("{kind}s") } else { kind.to_owned() });
    kinds.collect::<Vec<_>>().join(" or ")
}

/// An object without a name, with its members.
fn inner(schema: &Value) -> String {
    let names: Vec<&str> =
        schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    if names.is_empty() { "object".to_owned() } else { format!("object with {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_are_named_in_plural() {
        let kind = |items: Value| words(&json!({"type": "array", "items": items}));
        assert_eq!(kind(json!({"type": "string"})), "list of strings");
        assert_eq!(kind(json!({"type": ["integer", "string"]})), "list of integers or strings");
        assert_eq!(kind(json!({"$ref": "#/components/schemas/User"})), "list of User");
    }

    #[test]
    fn rows_of_an_answer() {
        let user = json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]});
        let schema = json!({
            "type": "object",
            "properties": {
                "users": {"type": "array", "items": {"$ref": "#/components/schemas/User"}},
                "by_id": {"type": "object", "additionalProperties": {"type": ["null", "string"]}},
            },
            "required": ["users"],
        });
        let rows = fields(&schema).into_iter().map(|field| (field.name, field.kind, field.is_always));
        assert_eq!(
            rows.collect::<Vec<_>>(),
            [
                ("by_id".to_owned(), "object by id or name, of null or string".to_owned(), false),
                ("users".to_owned(), "list of User".to_owned(), true),
            ]
        );
        let found = objects(&schema, &json!({"User": user}));
        assert_eq!((found.len(), found[0].name.as_str(), found[0].fields[0].is_always), (1, "User", true));
    }
}
