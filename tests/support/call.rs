//! One request and its answer.

use super::PATIENCE;
use reqwest::RequestBuilder;
use reqwest::header::HeaderMap;
use serde_json::{Map, Value, json};
use std::fmt::Display;
use std::future::{Future, IntoFuture};
use std::pin::Pin;

/// Names and values, printed as they travel: strings as they are, JSON values as JSON.
pub type Params<'a> = &'a [(&'a str, &'a (dyn Display + Sync))];

/// The pairs of a form or query.
pub fn pairs(params: Params<'_>) -> Vec<(String, String)> {
    params.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect()
}

/// A request not yet sent. Awaiting it gives the [`Answer`], whatever it is.
pub struct Call {
    pub request: RequestBuilder,
    pub what: String,
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Answer {
    pub what: String,
    pub status: u16,
    pub headers: HeaderMap,
    /// The body, as JSON where it is some, else as a JSON string.
    pub body: Value,
}

impl Call {
    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    /// Adds parameters to the query, whatever the method.
    pub fn query(mut self, params: Params<'_>) -> Self {
        self.request = self.request.query(&pairs(params));
        self
    }

    /// Sends it and expects success.
    pub async fn ok(self) -> Value {
        self.await.ok()
    }

    /// Sends it and expects exactly this error; `body` is the answer without `result`.
    pub async fn refused(self, status: u16, body: Value) {
        self.await.refused(status, body);
    }

    /// Sends it and expects the everyday refusal: status 400, BAD_REQUEST, this text and nothing else.
    pub async fn bad(self, msg: &str) {
        self.await.refused(400, json!({"msg": msg, "code": "BAD_REQUEST"}));
    }
}

impl IntoFuture for Call {
    type Output = Answer;
    type IntoFuture = Pin<Box<dyn Future<Output = Answer> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Self { request, what } = self;
            // A poll may be held for as long as a heartbeat takes to come.
            let answered = tokio::time::timeout(PATIENCE * 3, request.send()).await;
            let response = answered.unwrap_or_else(|_| panic!("{what}: no answer"));
            let response = response.unwrap_or_else(|error| panic!("{what}: {error:?}"));
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            let text = response.text().await.unwrap_or_else(|error| panic!("{what}: {error:?}"));
            let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
            Answer { what, status, headers, body }
        })
    }
}

impl Answer {
    /// Expects success and gives the body.
    #[track_caller]
    pub fn ok(self) -> Value {
        let Self { what, status, body, .. } = self;
        assert!(status == 200 && body["result"] == "success" && body["msg"] == "", "{what}: {status} {body}");
        body
    }

    /// Expects exactly this error; `body` is the answer without `result`.
    #[track_caller]
    pub fn refused(self, status: u16, body: Value) {
        let mut expected = Map::from_iter([("result".to_owned(), json!("error"))]);
        expected.extend(body.as_object().expect("an error is described by an object").clone());
        let what = &self.what;
        assert_eq!((self.status, self.body), (status, Value::Object(expected)), "{what}");
    }

    /// A header's text; empty when there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
    }
}
