//! One request and its response.

use super::{TIMEOUT, contract};
use reqwest::RequestBuilder;
use reqwest::header::HeaderMap;
use serde_json::{Map, Value, json};
use std::fmt::Display;
use std::future::{Future, IntoFuture};
use std::pin::Pin;

/// Names and values of parameters, formatted as sent: strings unquoted, JSON values as JSON.
pub type Params<'a> = &'a [Param<'a>];

/// One parameter of [`Params`].
pub type Param<'a> = (&'a str, &'a (dyn Display + Sync));

/// Owned pairs as [`Params`].
pub fn as_params<N: AsRef<str>, V: Display + Sync>(pairs: &[(N, V)]) -> Vec<Param<'_>> {
    pairs.iter().map(|(name, value)| (name.as_ref(), value as _)).collect()
}

/// The parameters as pairs of strings.
pub fn pairs(params: Params<'_>) -> Vec<(String, String)> {
    params.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect()
}

/// A request not yet sent. Awaiting it sends it and returns the [`ApiResponse`], whatever its status.
pub struct Call {
    pub request: RequestBuilder,
    pub what: String,
}

/// A response. [`Self::ok`] and [`Self::refused`] check it.
#[derive(Clone, Debug)]
pub struct ApiResponse {
    pub what: String,
    pub status: u16,
    pub headers: HeaderMap,
    /// The body parsed as JSON; a body that is not JSON is a JSON string.
    pub body: Value,
}

impl Call {
    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    /// Adds parameters to the query string, whatever the method.
    pub fn query(mut self, params: Params<'_>) -> Self {
        self.request = self.request.query(&pairs(params));
        self
    }

    /// Sends it, expects success, and returns the body.
    pub async fn ok(self) -> Value {
        self.await.ok()
    }

    /// Sends it and expects exactly this error; `body` is the response without `result`.
    pub async fn refused(self, status: u16, body: Value) {
        self.await.refused(status, body);
    }

    /// Sends it and expects status 400 with code BAD_REQUEST, this text and no other field.
    pub async fn bad(self, msg: &str) {
        self.await.bad(msg);
    }
}

impl IntoFuture for Call {
    type Output = ApiResponse;
    type IntoFuture = Pin<Box<dyn Future<Output = ApiResponse> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Self { request, what } = self;
            // A poll may be held until the next heartbeat.
            let (client, request) = request.build_split();
            let request = request.unwrap_or_else(|error| panic!("{what}: {error:?}"));
            let sent = contract::Sent::of(&request);
            let answered = tokio::time::timeout(TIMEOUT * 3, client.execute(request)).await;
            let response = answered.unwrap_or_else(|_| panic!("{what}: no response"));
            let response = response.unwrap_or_else(|error| panic!("{what}: {error:?}"));
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            let text = response.text().await.unwrap_or_else(|error| panic!("{what}: {error:?}"));
            let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
            contract::check(&what, &sent, status, &body);
            ApiResponse { what, status, headers, body }
        })
    }
}

impl ApiResponse {
    /// Expects success and returns the body.
    #[track_caller]
    pub fn ok(self) -> Value {
        let Self { what, status, body, .. } = self;
        assert!(status == 200 && body["result"] == "success" && body["msg"] == "", "{what}: {status} {body}");
        body
    }

    /// Expects exactly this error; `body` is the response without `result`.
    #[track_caller]
    pub fn refused(self, status: u16, body: Value) {
        let mut expected = Map::from_iter([("result".to_owned(), json!("error"))]);
        expected.extend(body.as_object().expect("an error is described by an object").clone());
        let what = &self.what;
        assert_eq!((self.status, self.body), (status, Value::Object(expected)), "{what}");
    }

    /// Expects status 400 with code BAD_REQUEST, this text and no other field.
    #[track_caller]
    pub fn bad(self, msg: &str) {
        self.refused(400, json!({"msg": msg, "code": "BAD_REQUEST"}));
    }

    /// The value of a header; empty if there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
    }
}
