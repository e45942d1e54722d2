//! The client of a user, and the requests that it can make.

use super::call::{Call, Params, pairs};
use super::channel::{Channel, ChannelBuilder};
use super::queue::Registration;
use base64::Engine;
use reqwest::multipart::{Form, Part};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use std::sync::Arc;

/// A client: the credentials of an account, or none.
#[derive(Clone, Debug)]
pub struct TestUser {
    pub http: Client,
    /// `http://address`, without a trailing slash.
    pub url: Arc<str>,
    pub id: u32,
    /// The address to log in with.
    pub email: String,
    /// The address that the API shows to other users.
    pub api_email: String,
    pub full_name: String,
    /// The API key; empty for an anonymous client.
    pub key: String,
    /// The web session: used instead of the API key if that is empty, and for paths below `/json`.
    pub browser: Option<Browser>,
}

/// What a browser that is logged in sends.
#[derive(Clone, Debug, Default)]
pub struct Browser {
    /// The value of the session's cookie.
    pub secret: String,
    pub csrf_token: String,
}

impl Browser {
    /// A browser with the session of a secret.
    pub fn new(secret: &str) -> Self {
        Self { secret: secret.to_owned(), csrf_token: actors::login::csrf_token(secret) }
    }

    /// The value of the `Cookie` header.
    pub fn cookie(&self) -> String {
        format!("sessionid={}", self.secret)
    }
}

impl TestUser {
    /// A client without credentials.
    pub fn anonymous(http: &Client, url: &str) -> Self {
        Self {
            http: http.clone(),
            url: url.into(),
            id: 0,
            email: "anonymous".to_owned(),
            api_email: String::new(),
            full_name: String::new(),
            key: String::new(),
            browser: None,
        }
    }

    fn start(&self, method: &Method, path: &str) -> RequestBuilder {
        let browser = self.browser.as_ref();
        let browser = browser.filter(|_| self.key.is_empty() || path.starts_with("/json/"));
        let (prefix, path) = match path {
            path if self.is_outside(path) => ("", path),
            path => {
                let inside = path.strip_prefix("/api/v1").unwrap_or(path);
                if browser.is_some() { ("/json", inside) } else { ("/api/v1", inside) }
            }
        };
        let request = self.http.request(method.clone(), format!("{}{prefix}{path}", self.url));
        match browser {
            Some(browser) => {
                let request = request.header("Cookie", browser.cookie());
                let is_reading = [Method::GET, Method::HEAD].contains(method);
                if is_reading { request } else { request.header("X-CSRFToken", &browser.csrf_token) }
            }
            None if self.key.is_empty() => request,
            None => request.basic_auth(&self.email, Some(&self.key)),
        }
    }

    /// Whether a path is not one of the API, which are below `/api/v1` and `/json`.
    fn is_outside(&self, path: &str) -> bool {
        path == "/"
            || path == "/api"
            || (path.starts_with("/api/") && !path.starts_with("/api/v1"))
            || [
                "/json/",
                "/login",
                "/accounts/",
                "/devlogin",
                "/help",
                "/register/",
                "/about",
                "/integrations",
                "/compatibility",
                "/desktop_home",
                "/plans/",
                "/join/",
                "/health",
                "/metrics",
                "/favicon",
                "/static/",
                "/avatar/",
                "/user_avatars/",
                "/user_uploads/",
                "/emails",
                "/confirm_email/",
                "/dev/",
            ]
            .iter()
            .any(|outside| path.starts_with(outside))
    }

    /// The value of the `Authorization` header.
    pub fn authorization(&self) -> String {
        let credentials = format!("{}:{}", self.email, self.key);
        format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(credentials))
    }

    /// A request with parameters in the query string (GET, HEAD) or in a form body (all other methods).
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

    /// A multipart POST request with parameters and files (name, bytes).
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

    /// GETs a path; returns status, content type and body.
    pub async fn fetch(&self, path: &str) -> (u16, String, Vec<u8>) {
        let response = self.start(&Method::GET, path).send().await.expect("an answer");
        let status = response.status().as_u16();
        let content_type = response.headers().get("Content-Type").and_then(|value| value.to_str().ok());
        let content_type = content_type.unwrap_or("").to_owned();
        (status, content_type, response.bytes().await.expect("the bytes").to_vec())
    }

    /// A request with this body.
    pub fn send_body(&self, method: Method, path: &str, content_type: &str, body: Vec<u8>) -> Call {
        let what = format!("{} {method} {path} with {} bytes of {content_type}", self.email, body.len());
        let request = self.start(&method, path).header("Content-Type", content_type).body(body);
        Call { request, what }
    }

    /// A request without body and parameters.
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

    /// Edits or moves a message.
    pub fn edit(&self, message: u64, params: Params<'_>) -> Call {
        self.patch(&format!("/messages/{message}"), params)
    }

    /// A channel to create, with its creator subscribed.
    pub fn create_channel(&self, name: &str) -> ChannelBuilder {
        ChannelBuilder::new(self.clone(), name)
    }

    /// Sends to a topic; returns the id of the message.
    pub async fn send(&self, channel: &Channel, topic: &str, content: &str) -> u64 {
        let to = channel.id;
        let sent = self.post(
            "/messages",
            &[("type", &"channel"), ("to", &to), ("topic", &topic), ("content", &content)],
        );
        sent.ok().await["id"].as_u64().expect("a message id")
    }

    /// Sends a direct message; returns its id.
    pub async fn send_direct(&self, to: &[&TestUser], content: &str) -> u64 {
        let ids: Vec<u32> = to.iter().map(|person| person.id).collect();
        let sent = self.post("/messages", &[("type", &"direct"), ("to", &json!(ids)), ("content", &content)]);
        sent.ok().await["id"].as_u64().expect("a message id")
    }

    /// A registration of an event queue.
    pub fn register(&self) -> Registration {
        Registration::new(self.clone())
    }

    /// The newest 1,000 messages of a narrow, oldest first.
    pub async fn messages(&self, narrow: Value) -> Vec<Value> {
        let window: Params<'_> =
            &[("anchor", &"newest"), ("num_before", &1000), ("num_after", &0), ("narrow", &narrow)];
        let body = self.get("/messages", window).ok().await;
        body["messages"].as_array().expect("messages").clone()
    }

    /// The ids of the newest 1,000 messages of a narrow, oldest first.
    pub async fn message_ids(&self, narrow: Value) -> Vec<u64> {
        ids(&self.messages(narrow).await)
    }

    pub async fn subscribe(&self, channel: &Channel) {
        let names = json!([{"name": channel.name}]);
        self.post("/users/me/subscriptions", &[("subscriptions", &names)]).ok().await;
    }

    pub async fn subscribe_others(&self, channel: &Channel, others: &[&TestUser]) {
        let principals: Vec<u32> = others.iter().map(|person| person.id).collect();
        let (names, principals) = (json!([{"name": channel.name}]), json!(principals));
        let params: Params<'_> = &[("subscriptions", &names), ("principals", &principals)];
        self.post("/users/me/subscriptions", params).ok().await;
    }

    pub async fn unsubscribe(&self, channel: &Channel) {
        let names = json!([channel.name]);
        self.delete("/users/me/subscriptions", &[("subscriptions", &names)]).ok().await;
    }

    /// Adds (`op` "add") or removes ("remove") a flag of messages.
    pub async fn flag(&self, op: &str, flag: &str, messages: &[u64]) -> Value {
        let params: Params<'_> = &[("op", &op), ("flag", &flag), ("messages", &json!(messages))];
        self.post("/messages/flags", params).ok().await
    }
}

/// The ids of messages.
pub fn ids(messages: &[Value]) -> Vec<u64> {
    messages.iter().map(|message| message["id"].as_u64().expect("a message id")).collect()
}
