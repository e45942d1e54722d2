//! The OpenAPI document: the declarations, the table of routes, and what tests recorded.

use super::access::{counted, permission, schemes, security};
use super::operation::{Answer, File, Operation, PART_TYPE, Parameter};
use super::operations::families;
use super::path_parameters;
use super::recorded;
use super::schemas::{components, of_answer, of_kind, of_parameter};
use crate::http::route::Route;
use crate::version::{ZULIP_FEATURE_LEVEL, ZULIP_VERSION};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// What the document says about the API as a whole.
const ABOUT: &str = "The API of Millstream, a team chat server that speaks the HTTP API of Zulip.\n\n\
    Parameters are sent in the query, or form-encoded in the body; the server reads both for every method. Texts are sent as they \
    are; lists, objects, numbers and booleans are JSON. Parameters that an endpoint does not read are listed in \
    `ignored_parameters_unsupported`. Answers may get new members at any time.\n\n\
    `x-permission` says who may call an operation, and `x-rate-limit` what its calls count as: every answer that was counted says in \
    `X-RateLimit-Limit` how many are allowed, in `X-RateLimit-Remaining` how many are left, and in `X-RateLimit-Reset` when all are \
    allowed again, in seconds since 1970.\n\n\
    Every operation may also answer with status 429 when there are too many calls, with 503 while the server is busy or stopping, \
    and with 404 where the host is no organization.";

/// The whole document.
pub fn document(routes: &[Route]) -> Value {
    let answers = recorded::answers();
    let mut paths = Map::new();
    let mut tags = Vec::new();
    for family in families() {
        tags.push(json!({"name": family.name, "description": family.text}));
        for operation in &family.operations {
            let Some(route) = route_of(operation, routes) else { continue };
            let described = describe(operation, route, family.name, answers);
            let path = paths.entry(path(operation)).or_insert_with(|| json!({}));
            path[operation.method().to_lowercase()] = described;
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Millstream",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "A team chat server that speaks the Zulip HTTP API",
            "description": ABOUT,
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
            "x-zulip-version": ZULIP_VERSION,
            "x-zulip-feature-level": ZULIP_FEATURE_LEVEL,
        },
        "servers": [{"url": "/", "description": "The server that this document comes from"}],
        "tags": tags,
        "paths": paths,
        "components": {
            "schemas": components(answers),
            "securitySchemes": schemes(),
            "responses": {
                "Error": {
                    "description": "An error.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
                },
                "FileError": {"description": "An error, which may be a page or a picture.", "content": error_content(true)},
            },
        },
    })
}

/// The forms of an error. For files that browsers show it may be a page or a picture.
fn error_content(is_of_file: bool) -> Value {
    let mut content = json!({"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}});
    if is_of_file {
        content["text/html"] = json!({"schema": {"type": "string"}});
        content["image/png"] = json!({"schema": {}});
    }
    content
}

/// The row of the table of routes that an operation describes.
pub fn route_of<'r>(operation: &Operation, routes: &'r [Route]) -> Option<&'r Route> {
    routes.iter().find(|route| route.method.as_str() == operation.method() && route.path == operation.path())
}

/// The path as the document has it. Where two rows differ in the form of a placeholder only, it stands for both.
pub fn path(operation: &Operation) -> String {
    let path = ["int", "text", "rest"]
        .iter()
        .fold(operation.path().to_owned(), |path, kind| path.replace(&format!(":{kind}}}"), "}"));
    let is_of_user = path.starts_with("/api/v1/users/{user_id}") || path.starts_with("/avatar/{user_id}");
    let rest = path.split_once("{user_id}").map_or("", |(_, rest)| rest);
    let has_both = ["", "/presence"].contains(&rest) || path.starts_with("/avatar/");
    if is_of_user && has_both { path.replacen("{user_id}", "{user_id_or_email}", 1) } else { path }
}

/// The path as it is shown for this operation alone, which may take an id only where others also take an address.
pub fn own_path(operation: &Operation) -> String {
    let path = path(operation);
    let is_by_id = operation.routes.len() == 1;
    if is_by_id { path.replacen("{user_id_or_email}", "{user_id}", 1) } else { path }
}

fn describe(operation: &Operation, route: &Route, family: &str, answers: &Value) -> Value {
    let example = recorded::example(operation.id);
    let permission = permission(route, Some(operation));
    let mut text = format!("{}\n\n{permission}", operation.text);
    if !operation.events.is_empty() {
        text.push_str(&format!("\n\nEvents: {}.", operation.events.join(", ")));
    }
    let mut described = json!({
        "operationId": operation.id,
        "summary": operation.summary,
        "description": text,
        "tags": [family],
        "security": security(route),
        "responses": responses(operation, answers, &example["answer"]),
        "x-permission": permission,
        "x-events": operation.events,
    });
    if operation.is_deprecated {
        described["deprecated"] = json!(true);
    }
    if let Some(counted) = counted(route) {
        described["x-rate-limit"] = json!(counted.what);
    }
    let mut parameters = path_parameters(operation);
    if operation.answer == Answer::Tus {
        parameters.extend(tus_headers(operation));
    }
    if in_query(operation) {
        parameters.extend(operation.parameters.iter().flat_map(query_parameters));
    } else if let Some(body) = body(operation, &example["request"]["parameters"]) {
        described["requestBody"] = body;
    }
    if let Some(File { is_body: true, .. }) = operation.file {
        let bytes = json!({PART_TYPE: {"schema": {"type": "string", "format": "binary"}}});
        described["requestBody"] = json!({"content": bytes});
    }
    if operation.is_webhook {
        described["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": {}}}});
    }
    if !parameters.is_empty() {
        described["parameters"] = Value::Array(parameters);
    }
    described
}

/// Whether parameters are described in the query; otherwise they are in the body.
fn in_query(operation: &Operation) -> bool {
    matches!(operation.method(), "GET" | "HEAD") || operation.is_webhook
}

fn path_parameters(operation: &Operation) -> Vec<Value> {
    let path = path(operation);
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    // The name is that of the other operations of the path, of which a document has only one.
    let both = operation.routes.len() > 1;
    let parameter = |name: &str| {
        let is_number = operation.path().contains(&format!("{{{name}:int}}"));
        let schema = match name {
            "user_id_or_email" if both => json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
            "user_id_or_email" => json!({"type": "integer"}),
            _ if is_number => json!({"type": "integer"}),
            _ => json!({"type": "string"}),
        };
        let text = match name {
            "user_id_or_email" if !both => path_parameters::text("user_id"),
            _ => path_parameters::text(name),
        };
        json!({"name": name, "in": "path", "required": true, "description": text, "schema": schema})
    };
    names.map(parameter).collect()
}

fn tus_headers(operation: &Operation) -> Vec<Value> {
    let header = |name: &str, text: &str, schema: Value| json!({"name": name, "in": "header", "required": true, "description": text, "schema": schema});
    let bytes = || json!({"type": "integer", "minimum": 0});
    let version = json!({"type": "string", "enum": ["1.0.0"]});
    let mut all =
        vec![header("Tus-Resumable", "The version of the protocol for resumable uploads.", version)];
    match operation.method() {
        "POST" => all.push(header("Upload-Length", "The size of the whole file, in bytes.", bytes())),
        "PATCH" => all.push(header("Upload-Offset", "How many bytes were sent before this part.", bytes())),
        _ => {}
    }
    all
}

fn query_parameters(parameter: &Parameter) -> Vec<Value> {
    let described = |name: &str, is_old: bool| {
        let mut schema = of_parameter(parameter);
        let text = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        let mut described = json!({"name": name, "in": "query", "description": text});
        if parameter.is_required && parameter.old_name.is_none() {
            described["required"] = json!(true);
        }
        if is_old {
            described["deprecated"] = json!(true);
        }
        match parameter.kind.is_json() {
            true => described["content"] = json!({"application/json": {"schema": schema}}),
            false => described["schema"] = schema,
        }
        described
    };
    let old = parameter.old_name.map(|name| described(name, true));
    std::iter::once(described(&parameter.name, false)).chain(old).collect()
}

/// The form of the body.
fn body(operation: &Operation, example: &Value) -> Option<Value> {
    let (mut properties, mut encoding, mut required) = (Map::new(), Map::new(), BTreeSet::new());
    for parameter in &operation.parameters {
        let mut names = vec![parameter.name.as_ref()];
        names.extend(parameter.old_name);
        for name in &names {
            let mut schema = of_parameter(parameter);
            if Some(*name) == parameter.old_name {
                schema["deprecated"] = json!(true);
            }
            properties.insert((*name).to_owned(), schema);
            if parameter.kind.is_json() {
                encoding.insert((*name).to_owned(), json!({"contentType": "application/json"}));
            }
        }
        if parameter.is_required && parameter.old_name.is_none() {
            required.insert(parameter.name.to_string());
        }
    }
    let file = operation.file.filter(|file| !file.is_body);
    if let Some(file) = file {
        properties.insert(
            file.name.to_owned(),
            json!({"type": "string", "format": "binary", "description": "The file."}),
        );
        if file.is_required {
            required.insert(file.name.to_owned());
        }
    }
    if properties.is_empty() {
        return None;
    }
    let mut schema = json!({"type": "object", "properties": properties});
    let is_required = !required.is_empty();
    if is_required {
        schema["required"] = json!(required);
    }
    let mut form = json!({"schema": schema});
    if !encoding.is_empty() {
        form["encoding"] = Value::Object(encoding);
    }
    // An example does not show the bytes of a file.
    let is_complete = file.is_none_or(|file| !file.is_required);
    if let Some(example) = example.as_object().filter(|example| is_complete && !example.is_empty()) {
        form["example"] = Value::Object(example_values(operation, example));
    }
    let kind = if file.is_some() { "multipart/form-data" } else { "application/x-www-form-urlencoded" };
    Some(json!({"required": is_required, "content": {kind: form}}))
}

/// The parameters of an example as values of their schemas. Recorded are the texts that were sent.
fn example_values(operation: &Operation, example: &Map<String, Value>) -> Map<String, Value> {
    let value = |name: &str, sent: &Value| {
        let is_it = |one: &&Parameter| one.name == name || one.old_name == Some(name);
        let kind = operation.parameters.iter().find(is_it)?.kind;
        let is_text = of_kind(kind)["type"] == "string";
        let value = serde_json::from_str::<Value>(sent.as_str().filter(|_| !is_text)?).ok()?;
        // Words beside numbers and booleans are sent as they are.
        (kind.is_json() || !value.is_string()).then_some(value)
    };
    let all = example.iter();
    all.map(|(name, sent)| (name.clone(), value(name, sent).unwrap_or_else(|| sent.clone()))).collect()
}

/// A success that is not JSON with `result` and `msg`.
fn other_answer(operation: &Operation, text: &str) -> Value {
    let described = json!({"description": text});
    let with = |name: &str, value: Value| json!({"description": text, name: value});
    match operation.answer {
        Answer::Document => with("content", json!({"application/json": {"schema": {}}})),
        Answer::File => with("content", json!({"*/*": {"schema": {}}})),
        Answer::Picture => with("content", json!({"image/webp": {"schema": {}}})),
        Answer::Redirect => with("headers", json!({"Location": {"schema": {"type": "string"}}})),
        Answer::Json | Answer::Tus => described,
    }
}

fn responses(operation: &Operation, answers: &Value, example: &Value) -> Value {
    let mut all = Map::new();
    let is_of_file = operation.path().contains("/user_uploads/");
    let error = if is_of_file { "FileError" } else { "Error" };
    match operation.answer {
        Answer::Json => {
            let mut content = json!({"schema": of_answer(operation, answers)});
            if example["status"] == 200 {
                content["example"] = example["body"].clone();
            }
            all.insert(
                "200".to_owned(),
                json!({"description": "Success.", "content": {"application/json": content}}),
            );
        }
        Answer::Document | Answer::File | Answer::Picture | Answer::Redirect | Answer::Tus => {}
    }
    for (status, text) in operation.other_answers() {
        all.insert(status.to_string(), other_answer(operation, text));
    }
    for row in answers["errors"][operation.id].as_array().into_iter().flatten() {
        let Some(status) = row["status"].as_u64() else { continue };
        let text = format!(
            "{}: {}",
            row["code"].as_str().unwrap_or_default(),
            row["msg"].as_str().unwrap_or_default()
        );
        let described = all
            .entry(status.to_string())
            .or_insert_with(|| json!({"description": "", "content": error_content(is_of_file)}));
        let known = described["description"].as_str().unwrap_or_default();
        let joined = if known.is_empty() { text } else { format!("{known}\n{text}") };
        described["description"] = json!(joined);
    }
    all.insert("default".to_owned(), json!({"$ref": format!("#/components/responses/{error}")}));
    Value::Object(all)
}
