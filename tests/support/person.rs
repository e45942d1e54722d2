//! Somebody with an account, and the requests they can make.

use super::call::{Call, Params, pairs};
use super::channel::{Channel, ChannelBuilder};
use super::queue::Registration;
use reqwest::multipart::{Form, Part};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use std::sync::Arc;

/// Somebody who can make requests: an account, or a stranger.
#[derive(Clone, Debug)]
pub struct Person {
    pub http: Client,
    /// `http://address`, without a slash at the end.
    pub url: Arc<str>,
    pub id: u32,
    pub email: String,
    /// The address that others see.
    pub api_email: String,
    pub full_name: String,
    /// Empty for a stranger.
    pub key: String,
}

impl Person {
    fn start(&self, method: &Method, path: &str) -> RequestBuilder {
        let prefix = if path.starts_with("/api/") || self.is_outside(path) { "" } else { "/api/v1" };
        let request = self.http.request(method.clone(), format!("{}{prefix}{path}", self.url));
        if self.key.is_empty() { request } else { request.basic_auth(&self.email, Some(&self.key)) }
    }

    /// The few paths that are no part of the interface.
    fn is_outside(&self, path: &str) -> bool {
        [
            "/join/",
            "/health",
            "/metrics",
            "/static/",
            "/avatar/",
            "/user_avatars/",
            "/emails",
            "/confirm_email/",
        ]
        .iter()
        .any(|outside| path.starts_with(outside))
    }

    /// A request of any method, with its parameters where that method has them.
    pub fn call(&self, method: Method, path: &str, params: Params<'_>) -> Call {
        let request = self.start(&method, path);
        let params = pairs(params);
        let what = format!("{} {method} {path} {params:?}", self.email);
        let request = if method == Method::GET || method == Method::HEAD {
            request.query(&params)
        } else {
            request.form(&params)
        };
        Call { request, what }
    }

    /// A request with files (name, bytes) besides its parameters.
    pub fn upload(&self, path: &str, params: Params<'_>, files: &[(&str, Vec<u8>)]) -> Call {
        let what = format!("{} POST {path} with {} files", self.email, files.len());
        let mut form = Form::new();
        for (name, value) in pairs(params) {
            form = form.text(name, value);
        }
        for (position, (name, bytes)) in files.iter().enumerate() {
            let part = Part::bytes(bytes.clone()).file_name((*name).to_owned());
            form = form.part(format!("file-{position}"), part);
        }
        Call { request: self.start(&Method::POST, path).multipart(form), what }
    }

    /// The bytes at a path, and what they are said to be.
    pub async fn fetch(&self, path: &str) -> (u16, String, Vec<u8>) {
        let response = self.start(&Method::GET, path).send().await.expect("an answer");
        let status = response.status().as_u16();
        let content_type = response.headers().get("Content-Type").and_then(|value| value.to_str().ok());
        let content_type = content_type.unwrap_or("").to_owned();
        (status, content_type, response.bytes().await.expect("the bytes").to_vec())
    }

    /// A request with a body of one's own making.
    pub fn send_body(&self, method: Method, path: &str, content_type: &str, body: Vec<u8>) -> Call {
        let what = format!("{} {method} {path} with {} bytes of {content_type}", self.email, body.len());
        let request = self.start(&method, path).header("Content-Type", content_type).body(body);
        Call { request, what }
    }

    /// A request without any body or parameter.
    pub fn bare(&self, method: Method, path: &str) -> Call {
        let what = format!("{} {method} {path}", self.email);
        Call { request: self.start(&method, path), what }
    }

    pub fn get(&self, path: &str, params: Params<'_>) -> Call {
        self.call(Method::GET, path, params)
    }

    pub fn post(&self, path: &str, params: Params<'_>) -> Call {
        self.call(Method::POST, path, params)
    }

    pub fn delete(&self, path: &str, params: Params<'_>) -> Call {
        self.call(Method::DELETE, path, params)
    }

    pub fn patch(&self, path: &str, params: Params<'_>) -> Call {
        self.call(Method::PATCH, path, params)
    }

    /// An edit or a move of a message.
    pub fn edit(&self, message: u64, params: Params<'_>) -> Call {
        self.patch(&format!("/messages/{message}"), params)
    }

    /// A channel with its creator in it.
    pub fn create_channel(&self, name: &str) -> ChannelBuilder {
        ChannelBuilder::new(self.clone(), name)
    }

    /// Sends to a topic; gives the message's id.
    pub async fn send(&self, channel: &Channel, topic: &str, content: &str) -> u64 {
        let to = channel.id;
        let sent = self.post(
            "/messages",
            &[("type", &"channel"), ("to", &to), ("topic", &topic), ("content", &content)],
        );
        sent.ok().await["id"].as_u64().expect("a message id")
    }

    /// Sends to people; gives the message's id.
    pub async fn send_direct(&self, to: &[&Person], content: &str) -> u64 {
        let ids: Vec<u32> = to.iter().map(|person| person.id).collect();
        let sent = self.post("/messages", &[("type", &"direct"), ("to", &json!(ids)), ("content", &content)]);
        sent.ok().await["id"].as_u64().expect("a message id")
    }

    /// Starts a queue.
    pub fn register(&self) -> Registration {
        Registration::new(self.clone())
    }

    /// The newest messages of a narrow, oldest first.
    pub async fn messages(&self, narrow: Value) -> Vec<Value> {
        let window: Params<'_> =
            &[("anchor", &"newest"), ("num_before", &1000), ("num_after", &0), ("narrow", &narrow)];
        let body = self.get("/messages", window).ok().await;
        body["messages"].as_array().expect("messages").clone()
    }

    /// The ids of the same.
    pub async fn message_ids(&self, narrow: Value) -> Vec<u64> {
        ids(&self.messages(narrow).await)
    }

    pub async fn subscribe(&self, channel: &Channel) {
        let names = json!([{"name": channel.name}]);
        self.post("/users/me/subscriptions", &[("subscriptions", &names)]).ok().await;
    }

    pub async fn subscribe_others(&self, channel: &Channel, others: &[&Person]) {
        let principals: Vec<u32> = others.iter().map(|person| person.id).collect();
        let (names, principals) = (json!([{"name": channel.name}]), json!(principals));
        let params: Params<'_> = &[("subscriptions", &names), ("principals", &principals)];
        self.post("/users/me/subscriptions", params).ok().await;
    }

    pub async fn unsubscribe(&self, channel: &Channel) {
        let names = json!([channel.name]);
        self.delete("/users/me/subscriptions", &[("subscriptions", &names)]).ok().await;
    }

    /// Adds or removes a flag.
    pub async fn flag(&self, op: &str, flag: &str, messages: &[u64]) -> Value {
        let params: Params<'_> = &[("op", &op), ("flag", &flag), ("messages", &json!(messages))];
        self.post("/messages/flags", params).ok().await
    }
}

/// The ids of messages.
pub fn ids(messages: &[Value]) -> Vec<u64> {
    messages.iter().map(|message| message["id"].as_u64().expect("a message id")).collect()
}
