//! `/api` and `/api/{operation}`: the reference of the API for people, and `/api/v1/openapi.json` for programs
//! (docs/api/server-additions.md#reference).

use super::about::role_name;
use super::login::{active_realm, go_to};
use super::{calling_page, page};
use crate::http::accept_encoding::AcceptEncoding;
use crate::http::call::Handler;
use crate::http::conditions::{Conditions, Selected};
use crate::http::route::Route;
use crate::http::{ApiError, App, Audience, HandlerResult, Path, Realm, RealmUrl, Reply, no_realm};
use crate::reference::access::{permission, rate};
use crate::reference::document::{document as document_of, own_path, route_of};
use crate::reference::fields::{Field, Object, fields, objects};
use crate::reference::operation::{Answer, Operation};
use crate::reference::operations::{Family, families, operations};
use crate::reference::{curl, path_parameters, recorded};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actors::RealmHandle;
use askama::Template;
use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::sync::{Arc, OnceLock};

/// The path of the document.
pub const DOCUMENT_PATH: &str = "/api/v1/openapi.json";
/// The path of the script that sends calls from the pages of a development server.
pub const SCRIPT_PATH: &str = "/static/millstream/reference.js";
/// Accounts to choose from on a development server.
const ACCOUNTS_MAX: usize = 50;

/// Pages of Zulip's reference that have another name here, or that are about the API as a whole.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("rest", "/api"),
    ("rest-error-handling", "/api"),
    ("http-headers", "/api"),
    ("changelog", "/api"),
    ("roles-and-permissions", "/api"),
    ("group-setting-values", "/api"),
    ("message-formatting", "/api"),
    ("construct-narrow", "/api/get-messages"),
    ("real-time-events", "/api/register-queue"),
    ("api-keys", "/about"),
    ("installation-instructions", "/about"),
    ("configuring-python-bindings", "/about"),
    ("running-bots", "/about"),
    ("deploying-bots", "/about"),
    ("writing-bots", "/about"),
    ("non-webhook-integrations", "/integrations/"),
    ("integrations-overview", "/integrations/"),
    ("incoming-webhooks-overview", "/integrations/"),
    ("outgoing-webhooks", "/api/create-bot"),
    ("create-stream", "/api/create-channel"),
    ("get-user-by-email", "/api/get-user"),
    ("update-user-by-email", "/api/update-user"),
    ("get-raw-message", "/api/get-message"),
    ("subscribe-to-channel", "/api/subscribe"),
    ("get-channels", "/api/get-streams"),
    ("get-channel-by-id", "/api/get-stream-by-id"),
    ("reorder-channel-folders", "/api/patch-channel-folders"),
];

#[derive(Template)]
#[template(path = "reference.html", config = "src/pages/askama.toml")]
struct ListPage<'p> {
    organization: &'p str,
    families: Vec<Family>,
    document: &'static str,
}

/// A variable part of a path.
struct PathPart {
    name: String,
    /// What it is.
    text: &'static str,
    /// Whether it is the rest of the path, which may have slashes.
    has_parts: bool,
}

#[derive(Template)]
#[template(path = "operation.html", config = "src/pages/askama.toml")]
struct OperationPage<'p> {
    organization: &'p str,
    operation: &'p Operation,
    method: &'static str,
    path: String,
    permission: &'static str,
    /// The rate limit, as a sentence.
    rate: Option<String>,
    in_path: Vec<PathPart>,
    is_json: bool,
    /// What happens where the answer is not JSON with `result` and `msg`: the status and words.
    other_answers: Vec<(u16, &'static str)>,
    fields: Vec<Field>,
    objects: Vec<Object>,
    errors: Vec<ErrorRow>,
    request: String,
    answer: String,
    /// The accounts to try it as, on a development server.
    accounts: Vec<Account<'p>>,
    /// Whether it belongs to the protocol tus, whose headers the script sends.
    is_in_parts: bool,
    /// What the body of an incoming webhook is at first.
    webhook_document: &'static str,
    /// Headers that people fill in to try it, each with its first value.
    headers: Vec<(&'static str, &'static str)>,
    script: &'static str,
    document: &'static str,
}

struct ErrorRow {
    status: u64,
    code: String,
    text: String,
}

struct Account<'p> {
    email: &'p str,
    name: &'p str,
    role: &'static str,
}

/// Lists all operations.
pub async fn list(realm: Option<Realm>) -> HandlerResult {
    let realm = match active_realm(realm) {
        Ok(realm) => realm,
        Err(shown) => return *shown,
    };
    let directory = realm.directory();
    let organization = &directory.realm().name;
    page(StatusCode::OK, &ListPage { organization, families: families(), document: DOCUMENT_PATH })
}

/// Shows one operation of a table of routes.
pub fn operation(
    table: fn() -> Vec<Route>,
) -> impl Handler<(App, Audience, Option<Realm>, Option<RealmUrl>, Path<String>)> {
    move |app: App, audience, realm, url, Path(name): Path<String>| async move {
        match active_realm(realm) {
            Ok(realm) => show(&app, &table(), audience, (&realm, url), &name),
            Err(shown) => *shown,
        }
    }
}

fn show(
    app: &App,
    routes: &[Route],
    audience: Audience,
    (realm, url): (&RealmHandle, Option<RealmUrl>),
    name: &str,
) -> HandlerResult {
    let RealmUrl(url) = url.ok_or_else(no_realm)?;
    if let Some((_, other)) = OTHER_NAMES.iter().find(|(known, _)| *known == name) {
        return go_to(other, Vec::new());
    }
    let all = operations();
    let operation = all.iter().find(|operation| operation.id == name).ok_or_else(ApiError::not_found)?;
    let route = route_of(operation, routes).ok_or_else(ApiError::not_found)?;
    let (answers, example) = (recorded::answers(), recorded::example(operation.id));
    let schema = &answers["answers"][operation.id];
    let directory = realm.directory();
    // The page has no session of the account, and cannot read its token.
    let can_call = audience.is_developer && !operation.is_of_session();
    let people = directory.users().filter(|user| can_call && user.is_active && !user.is_system_bot());
    let accounts = people.take(ACCOUNTS_MAX).map(|user| Account {
        email: &user.delivery_email,
        name: &user.full_name,
        role: if user.is_bot() { "bot" } else { role_name(user.role) },
    });
    let shown = own_path(operation);
    let template = OperationPage {
        organization: &directory.realm().name,
        operation,
        method: operation.method(),
        permission: permission(route, Some(operation)),
        rate: rate(route, &app.limits),
        in_path: placeholders(&shown, operation.path()),
        path: shown,
        is_json: operation.answer == Answer::Json,
        other_answers: operation.other_answers(),
        fields: fields(schema),
        objects: objects(schema, &answers["components"]),
        errors: errors(&answers["errors"][operation.id]),
        request: curl::command(&url, operation, route.login, &example["request"]),
        answer: answer_text(&example["answer"]),
        accounts: accounts.collect(),
        is_in_parts: operation.answer == Answer::Tus,
        webhook_document: curl::WEBHOOK_DOCUMENT,
        headers: headers_to_fill(operation),
        script: SCRIPT_PATH,
        document: DOCUMENT_PATH,
    };
    match template.accounts.is_empty() {
        true => page(StatusCode::OK, &template),
        false => calling_page(StatusCode::OK, &template),
    }
}

/// The headers of an upload in parts that depend on the file.
fn headers_to_fill(operation: &Operation) -> Vec<(&'static str, &'static str)> {
    match (operation.answer, operation.method()) {
        (Answer::Tus, "POST") => vec![("Upload-Length", ""), ("Upload-Metadata", "")],
        (Answer::Tus, "PATCH") => vec![("Upload-Offset", "0")],
        _ => Vec::new(),
    }
}

/// The placeholders in a path, as it is shown and as it is routed.
fn placeholders(shown: &str, routed: &str) -> Vec<PathPart> {
    let names = shown.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let part = |name: &str| PathPart {
        name: name.to_owned(),
        text: path_parameters::text(name).unwrap_or_default(),
        has_parts: routed.contains(&format!("{{{name}:rest}}")),
    };
    names.map(part).collect()
}

fn errors(recorded: &Value) -> Vec<ErrorRow> {
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let rows = recorded.as_array().into_iter().flatten();
    rows.map(|row| ErrorRow {
        status: row["status"].as_u64().unwrap_or_default(),
        code: text(row, "code"),
        text: text(row, "msg"),
    })
    .collect()
}

/// A recorded answer: the body, or the status with the headers that matter where the body is no JSON.
fn answer_text(answer: &Value) -> String {
    let headers = answer["headers"].as_object().into_iter().flatten();
    let mut lines: Vec<String> =
        headers.map(|(name, value)| format!("{name}: {}", value.as_str().unwrap_or_default())).collect();
    if !lines.is_empty() {
        lines.insert(0, format!("HTTP status {}", answer["status"]));
    }
    if !answer["body"].is_null() {
        lines.push(serde_json::to_string_pretty(&answer["body"]).unwrap_or_default());
    }
    lines.join("\n")
}

/// The document, compressed, and its entity tag.
struct Made {
    compressed: Bytes,
    tag: String,
}

/// The OpenAPI document of a table of routes; made when it is asked for the first time.
pub fn document(table: fn() -> Vec<Route>) -> impl Handler<(Conditions, AcceptEncoding)> {
    let made = Arc::new(OnceLock::new());
    move |conditions: Conditions, accepted: AcceptEncoding| {
        let made = made.clone();
        async move {
            let made = made.get_or_init(|| make(&table()));
            answer(made, &conditions, accepted.accepts("gzip"))
        }
    }
}

fn make(routes: &[Route]) -> Made {
    let text = document_of(routes).to_string();
    let tag = Sha256::digest(&text)[..12].iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(text.as_bytes());
    Made { compressed: encoder.finish().unwrap_or_default().into(), tag }
}

fn answer(made: &Made, conditions: &Conditions, is_gzip: bool) -> HandlerResult {
    let tag = if is_gzip { format!("\"{}-gzip\"", made.tag) } else { format!("\"{}\"", made.tag) };
    let mut headers: Vec<(HeaderName, HeaderValue)> = vec![
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=300")),
        (header::VARY, HeaderValue::from_static("Accept-Encoding")),
        (header::ETAG, HeaderValue::from_str(&tag).map_err(|_| ApiError::internal())?),
    ];
    if conditions.select(&tag, 1) == Selected::NotModified {
        return Ok(Reply::bare(StatusCode::NOT_MODIFIED, headers));
    }
    if is_gzip {
        headers.push((header::CONTENT_ENCODING, HeaderValue::from_static("gzip")));
        return Ok(Reply::plain("application/json", "", made.compressed.clone()).with_headers(headers));
    }
    let mut text = Vec::new();
    GzDecoder::new(&made.compressed[..]).read_to_end(&mut text).map_err(|_| ApiError::internal())?;
    Ok(Reply::plain("application/json", "", text).with_headers(headers))
}

/// The script of the pages of a development server.
pub async fn script() -> HandlerResult {
    let script = include_str!("reference.js").as_bytes();
    Ok(Reply::plain("text/javascript; charset=utf-8", "public, max-age=3600", script))
}
