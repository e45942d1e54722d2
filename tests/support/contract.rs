//! Every answer that a test gets is compared with the OpenAPI document, and every parameter that a test sends with its declarations.
//!
//! With MILLSTREAM_RECORD_ANSWERS set, the answers are recorded instead: `src/reference/answers` then has what is in them.

mod components;
mod record;
mod shape;
mod validate;

use millstream::http::router::Router;
use millstream::reference::operation::{Answer, Operation};
use millstream::reference::operations::operations;
use millstream::routes::development_table;
use reqwest::Method;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// Set to record the answers of the tests.
const RECORD: &str = "MILLSTREAM_RECORD_ANSWERS";

/// What was sent, as far as the document says something about it.
pub struct Sent {
    method: Method,
    path: String,
    names: BTreeSet<String>,
}

impl Sent {
    /// Of a request before it is sent.
    pub fn of(request: &reqwest::Request) -> Self {
        let mut pairs: Vec<(String, String)> = request.url().query_pairs().into_owned().collect();
        let content_type = request.headers().get("Content-Type").and_then(|value| value.to_str().ok());
        if content_type.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"))
            && let Some(body) = request.body().and_then(|body| body.as_bytes())
        {
            pairs.extend(form_urlencoded::parse(body).into_owned());
        }
        let replaced =
            pairs.iter().find(|(name, _)| name == "method").map(|(_, method)| method.to_uppercase());
        let is_post = *request.method() == Method::POST;
        let replaced = replaced.filter(|_| is_post).and_then(|method| method.parse().ok());
        Self {
            method: replaced.unwrap_or_else(|| request.method().clone()),
            path: request.url().path().to_owned(),
            names: pairs.into_iter().map(|(name, _)| name).collect(),
        }
    }

    /// The operation, if the document has it.
    fn operation(&self) -> Option<&'static Operation> {
        static ROUTER: OnceLock<Router> = OnceLock::new();
        static ROWS: OnceLock<BTreeMap<&'static str, Operation>> = OnceLock::new();
        let router = ROUTER.get_or_init(|| Router::new(development_table()));
        let rows = ROWS.get_or_init(|| {
            let all = operations().into_iter();
            all.flat_map(|one| one.routes.clone().into_iter().map(move |row| (row, one.clone()))).collect()
        });
        let found = router.find(&self.path)?;
        let method = self.method.as_str().parse().ok()?;
        let (_, route) = found.route(&method)?;
        rows.get(format!("{route:?}").as_str())
    }
}

/// Compares an answer with the document. Fails with the place of the first difference.
#[track_caller]
pub fn check(what: &str, sent: &Sent, status: u16, body: &Value) {
    let Some(operation) = sent.operation() else { return };
    if !body.is_object() || sent.method == Method::HEAD {
        return;
    }
    if std::env::var_os(RECORD).is_some() {
        return record::answer(operation, status, body);
    }
    check_asked();
    if status < 400 {
        check_names(what, sent, operation, body);
    }
    if status == 200 && operation.answer == Answer::Json {
        validate::success(what, operation, body);
    } else if status >= 400 {
        validate::error(what, operation, body);
    }
}

/// What handlers asked for must be declared.
#[cfg(debug_assertions)]
#[track_caller]
pub fn check_asked() {
    let undeclared = millstream::reference::declared::undeclared();
    assert!(
        undeclared.is_empty(),
        "handlers read parameters that src/reference/operations does not declare: {undeclared:#?}"
    );
}

/// Only debug builds record what handlers ask for.
#[cfg(not(debug_assertions))]
pub fn check_asked() {}

/// What was sent and not reported as ignored must be declared.
#[track_caller]
fn check_names(what: &str, sent: &Sent, operation: &Operation, body: &Value) {
    let ignored = body["ignored_parameters_unsupported"].as_array();
    let is_ignored = |name: &str| ignored.is_some_and(|all| all.iter().any(|one| one == name));
    // Endpoints that take no parameters at all report none.
    let reads = !operation.parameters.is_empty();
    let undeclared = sent.names.iter().find(|name| reads && !operation.declares(name) && !is_ignored(name));
    assert!(
        undeclared.is_none(),
        "{what}: {undeclared:?} is not ignored, but {} does not declare it",
        operation.id
    );
}
