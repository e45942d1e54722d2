//! The OpenAPI document: complete, consistent, the same from the server and from the command line.

#[cfg(debug_assertions)]
use crate::robustness::valid_calls;
use crate::support::TestServer;
#[cfg(debug_assertions)]
use crate::support::{as_params, contract};
use flate2::read::GzDecoder;
use millstream::reference::document::{document, path};
use millstream::reference::operations::operations;
use millstream::routes::table;
use model::EventKind;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Read;
use std::process::Command;

/// Paths outside `/api/v1` that the reference describes.
const OUTSIDE: [&str; 3] = ["/avatar/", "/user_uploads/", "/json/"];
/// The path of the document.
const PATH: &str = "/api/v1/openapi.json";
/// The only path below `/api/v1` that is no operation, and one that is for links in messages alone.
const NOT_DESCRIBED: [&str; 2] =
    ["GET /api/v1/openapi.json", "GET /user_uploads/temporary/{token:text}/{name:rest}"];

#[test]
fn every_route_of_the_api_is_declared_once() {
    let routes = table();
    let routes: Vec<String> = routes
        .iter()
        .filter(|route| {
            route.path.starts_with("/api/v1/") || OUTSIDE.iter().any(|start| route.path.starts_with(start))
        })
        .map(|route| format!("{route:?}"))
        .filter(|route| !NOT_DESCRIBED.contains(&route.as_str()))
        .collect();
    let all = operations();
    let declared: Vec<&str> = all.iter().flat_map(|operation| operation.routes.iter().copied()).collect();
    let missing: Vec<&String> = routes.iter().filter(|route| !declared.contains(&route.as_str())).collect();
    assert!(missing.is_empty(), "add these to src/reference/operations: {missing:#?}");
    let gone: Vec<&&str> = declared.iter().filter(|route| !routes.contains(&(**route).to_owned())).collect();
    assert!(gone.is_empty(), "these are no routes any more: {gone:#?}");
    assert_eq!(declared.iter().collect::<BTreeSet<_>>().len(), declared.len());
    let ids: BTreeSet<&str> = all.iter().map(|operation| operation.id).collect();
    assert_eq!(ids.len(), all.len());
}

#[test]
fn declarations_are_consistent() {
    for operation in operations() {
        for event in operation.events {
            assert!(EventKind::ALL.iter().any(|kind| kind.as_str() == *event), "{}: {event}", operation.id);
        }
        let names: BTreeSet<&str> = operation.parameters.iter().map(|one| one.name.as_ref()).collect();
        assert_eq!(names.len(), operation.parameters.len(), "{} declares a parameter twice", operation.id);
        for parameter in &operation.parameters {
            let is_sentence = parameter.text.ends_with('.') && parameter.text.len() > 3;
            assert!(is_sentence, "{} {}: {}", operation.id, parameter.name, parameter.text);
            if let Some(default) = &parameter.default {
                assert!(
                    serde_json::from_str::<Value>(default).is_ok(),
                    "{} {}",
                    operation.id,
                    parameter.name
                );
            }
        }
        assert!(operation.text.ends_with('.') && !operation.summary.ends_with('.'), "{}", operation.id);
    }
}

/// Every declared parameter is asked for by its handler. Forms with files are read after the handler has started.
#[cfg(debug_assertions)]
#[tokio::test]
async fn declared_parameters_are_read() {
    use millstream::reference::declared::asked;
    let t = TestServer::builder().development().start().await;
    // A poll without a queue makes one, with the parameters of a registration.
    t.user("iago").get("/events", &[("dont_block", &true)]).ok().await;
    let mut unread = Vec::new();
    let all = operations();
    for (row, method, path, pairs) in valid_calls() {
        let Some(operation) = all.iter().find(|operation| operation.routes.contains(&row)) else { continue };
        if operation.file.is_some() || operation.is_webhook {
            continue;
        }
        for name in ["desdemona", "iago"] {
            let person = t.user(name);
            let person = if path.starts_with("/json/") { t.with_session(&person).await } else { person };
            person.call(method.clone(), &path, &as_params(&pairs)).await;
        }
        let asked = asked(row);
        let is_read = |name: &str, old: Option<&str>| {
            asked.contains(name) || old.is_some_and(|old| asked.contains(old))
        };
        let of_row = operation.parameters.iter().filter(|one| !is_read(&one.name, one.old_name));
        unread.extend(of_row.map(|one| format!("{row}: {}", one.name)));
    }
    contract::check_asked();
    let conditional: Vec<&String> =
        unread.iter().filter(|one| !CONDITIONAL.iter().any(|known| one.contains(known))).collect();
    assert!(conditional.is_empty(), "declared, but not read: {conditional:#?}");
}

/// Rows whose parameter is read before the handler: the key in the URL of a file.
#[cfg(debug_assertions)]
const CONDITIONAL: &[&str] = &["GET /user_uploads/"];

#[test]
fn references_lead_to_schemas() {
    let document = document(&table());
    let mut links = Vec::new();
    collect(&document, &mut links);
    assert!(links.len() > 100);
    for link in links {
        let pointer = link.strip_prefix('#').expect("a place in the document");
        assert!(document.pointer(pointer).is_some(), "{link} leads nowhere");
    }
}

fn collect<'v>(value: &'v Value, links: &mut Vec<&'v str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, links)),
        Value::Object(members) => {
            links.extend(members.get("$ref").and_then(Value::as_str));
            members.values().for_each(|value| collect(value, links));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_list_of_the_document_has_items() {
    let document = document(&table());
    let (mut lists, mut without) = (0, Vec::new());
    let mut open = vec![(String::new(), &document)];
    while let Some((place, value)) = open.pop() {
        let kind = &value["type"];
        if kind == "array" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "array")) {
            lists += 1;
            if value.get("items").is_none() {
                without.push(place.clone());
            }
        }
        match value {
            Value::Array(parts) => open.extend(parts.iter().map(|part| (place.clone(), part))),
            Value::Object(members) => {
                open.extend(members.iter().map(|(name, part)| (format!("{place}/{name}"), part)))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    assert!(lists > 100 && without.is_empty(), "{lists} lists, without items: {without:#?}");
    let links = &document["components"]["schemas"]["EventUpdateMessage"]["properties"]["topic_links"];
    assert_eq!(links["items"]["required"], json!(["text", "url"]));
}

#[test]
fn choices_of_a_parameter_have_one_type() {
    let document = document(&table());
    let parameters = &document["paths"]["/api/v1/users/me/subscriptions"]["get"]["parameters"];
    let named = |name: &str| parameters.as_array().unwrap().iter().find(|one| one["name"] == name).unwrap();
    let expected = json!([{"type": "boolean"}, {"type": "string", "enum": ["partial"]}]);
    assert_eq!(named("include_subscribers")["schema"]["anyOf"], expected);
}

#[test]
fn examples_are_valid_by_their_schemas() {
    let document = document(&table());
    let mut found = Vec::new();
    collect_examples(&document["paths"], &mut found);
    assert!(found.len() > 200);
    for (schema, example) in found {
        let mut schema = schema.clone();
        schema["components"] = document["components"].clone();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator.iter_errors(example).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}: {example}");
    }
}

/// The schemas that have an example beside them, with it.
fn collect_examples<'v>(value: &'v Value, found: &mut Vec<(&'v Value, &'v Value)>) {
    match value {
        Value::Array(parts) => parts.iter().for_each(|part| collect_examples(part, found)),
        Value::Object(members) => match (members.get("schema"), members.get("example")) {
            (Some(schema), Some(example)) => found.push((schema, example)),
            (_, _) => members.values().for_each(|part| collect_examples(part, found)),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn operations_of_the_document_are_complete() {
    let document = document(&table());
    let paths = document["paths"].as_object().unwrap();
    let found: usize = paths.values().map(|methods| methods.as_object().unwrap().len()).sum();
    assert_eq!(found, operations().len());
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().unwrap() {
            assert!(operation["responses"].get("default").is_some(), "{method} {path}");
            for name in path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
                let parameters = operation["parameters"].as_array().expect("parameters");
                assert!(
                    parameters.iter().any(|one| one["name"] == name && one["in"] == "path"),
                    "{method} {path}"
                );
            }
        }
    }
}

#[tokio::test]
async fn document_is_served_with_a_tag_and_compressed() {
    let t = TestServer::start().await;
    let path = format!("{}{PATH}", t.url);
    let http = t.anonymous().http;
    let plain = http.get(&path).send().await.unwrap();
    assert_eq!(
        (plain.status().as_u16(), &plain.headers()["content-type"]),
        (200, &"application/json".parse().unwrap())
    );
    let tag = plain.headers()["etag"].clone();
    assert_eq!(plain.headers()["vary"], "Accept-Encoding");
    let text = plain.text().await.unwrap();
    let served: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(served, document(&table()));
    let again = http.get(&path).header("If-None-Match", &tag).send().await.unwrap();
    assert_eq!(
        (again.status().as_u16(), &again.headers()["vary"]),
        (304, &"Accept-Encoding".parse().unwrap())
    );
    let compressed = http.get(&path).header("Accept-Encoding", "br, gzip;q=0.5").send().await.unwrap();
    assert_eq!(compressed.headers()["content-encoding"], "gzip");
    assert_ne!(compressed.headers()["etag"], tag);
    let bytes = compressed.bytes().await.unwrap();
    assert!(bytes.len() * 4 < text.len());
    let mut unpacked = String::new();
    GzDecoder::new(&bytes[..]).read_to_string(&mut unpacked).unwrap();
    assert_eq!(unpacked, text);
}

fn routes_as(output: &str) -> Value {
    let printed =
        Command::new(env!("CARGO_BIN_EXE_millstream")).args(["routes", "--output", output]).output().unwrap();
    assert!(printed.status.success(), "{printed:?}");
    serde_json::from_slice(&printed.stdout).unwrap()
}

#[test]
fn command_line_prints_the_same_document() {
    assert_eq!(routes_as("openapi"), document(&table()));
}

#[test]
fn command_line_and_document_agree_on_who_may_call() {
    let document = document(&table());
    let listed = routes_as("json");
    let listed = listed.as_array().unwrap();
    for operation in operations() {
        let described = &document["paths"][path(&operation)][operation.method().to_lowercase()];
        let permission = described["x-permission"].as_str().unwrap();
        for row in &operation.routes {
            let (method, path) = row.split_once(' ').unwrap();
            let who = listed.iter().find(|one| one["method"] == method && one["path"] == path).unwrap();
            let who = who["who"].as_str().unwrap();
            assert_eq!(who.trim_start_matches("Development only. "), permission, "{row}");
        }
        let text = described["description"].as_str().unwrap();
        assert!(text.contains(permission), "{}: {text}", operation.id);
    }
    let permission =
        |path: &str, method: &str| document["paths"][path][method]["x-permission"].as_str().unwrap();
    assert_eq!(
        permission("/api/v1/users/{user_id}/status", "post"),
        "For administrators and owners.",
        "as the handler checks, not as the table of routes does"
    );
    assert_eq!(permission("/api/v1/users/me", "get"), "For every account.");
}
