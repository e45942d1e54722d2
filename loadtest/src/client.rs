//! The API calls that a load test makes outside of measured loops: accounts, channels, event queues.
//! Measured requests are built by the drivers from `http::Template`.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::error::LoadError;
use crate::http::{Connection, Target, Template, basic_authorization, bodiless_request, encode_form};

/// Credentials of a user.
#[derive(Debug, Clone)]
pub struct Account {
    pub user_id: u64,
    pub email: String,
    /// Value of the `Authorization` header.
    pub authorization: String,
}

/// An event queue as registered.
#[derive(Debug, Deserialize)]
pub struct Registered {
    pub queue_id: String,
    /// The event id after which polling starts.
    pub last_event_id: i64,
}

/// A connection for calls whose replies are parsed as a whole.
#[derive(Debug)]
pub struct Api {
    target: Arc<Target>,
    connection: Connection,
    request: Vec<u8>,
}

impl Api {
    /// Opens a connection to the server.
    pub async fn open(target: &Arc<Target>) -> Result<Self, LoadError> {
        let connection = Connection::open(target)
            .await
            .map_err(|source| LoadError::Http { call: format!("connect to {}", target.address), source })?;
        Ok(Self { target: target.clone(), connection, request: Vec::new() })
    }

    /// Sends a form and returns the reply's status and JSON.
    pub async fn post(
        &mut self,
        path: &str,
        caller: Option<&Account>,
        fields: &[(&str, &str)],
    ) -> Result<(u16, Value), LoadError> {
        let authorization = caller.map(|account| account.authorization.as_str());
        let template = Template::new("POST", &self.target.host, path, authorization);
        template.fill(&mut self.request, encode_form(fields).as_bytes());
        self.run(name_call("POST", path, caller)).await
    }

    /// Like `post`, and expects success.
    pub async fn post_ok(
        &mut self,
        path: &str,
        caller: Option<&Account>,
        fields: &[(&str, &str)],
    ) -> Result<Value, LoadError> {
        let (status, value) = self.post(path, caller, fields).await?;
        check_success(&name_call("POST", path, caller), status, value)
    }

    /// PATCHes a form, and expects success.
    pub async fn patch_ok(
        &mut self,
        path: &str,
        caller: Option<&Account>,
        fields: &[(&str, &str)],
    ) -> Result<Value, LoadError> {
        let authorization = caller.map(|account| account.authorization.as_str());
        let template = Template::new("PATCH", &self.target.host, path, authorization);
        template.fill(&mut self.request, encode_form(fields).as_bytes());
        let call = name_call("PATCH", path, caller);
        let (status, value) = self.run(call.clone()).await?;
        check_success(&call, status, value)
    }

    /// GETs JSON, and expects success.
    pub async fn get_ok(&mut self, path: &str, caller: Option<&Account>) -> Result<Value, LoadError> {
        let (status, value) = self.call("GET", path, caller).await?;
        check_success(&name_call("GET", path, caller), status, value)
    }

    /// A call without a body.
    pub async fn call(
        &mut self,
        method: &str,
        path: &str,
        caller: Option<&Account>,
    ) -> Result<(u16, Value), LoadError> {
        let authorization = caller.map(|account| account.authorization.as_str());
        self.request = bodiless_request(method, &self.target.host, path, authorization);
        self.run(name_call(method, path, caller)).await
    }

    /// GETs a body as text.
    pub async fn get_text(&mut self, path: &str) -> Result<String, LoadError> {
        let call = format!("GET {path}");
        self.request = bodiless_request("GET", &self.target.host, path, None);
        let reply = self
            .connection
            .exchange_rested(&self.request)
            .await
            .map_err(|source| LoadError::Http { call: call.clone(), source })?;
        let body = String::from_utf8_lossy(reply.body).into_owned();
        match reply.status {
            200 => Ok(body),
            status => Err(LoadError::Refused { call, status, body: shorten(&body) }),
        }
    }

    async fn run(&mut self, call: String) -> Result<(u16, Value), LoadError> {
        let reply = self
            .connection
            .exchange_rested(&self.request)
            .await
            .map_err(|source| LoadError::Http { call: call.clone(), source })?;
        match serde_json::from_slice(reply.body) {
            Ok(value) => Ok((reply.status, value)),
            Err(_) => Err(LoadError::Refused {
                call,
                status: reply.status,
                body: shorten(&String::from_utf8_lossy(reply.body)),
            }),
        }
    }

    /// Logs in by email address, without a password, on a development server.
    pub async fn login(&mut self, email: &str) -> Result<Account, LoadError> {
        #[derive(Deserialize)]
        struct Key {
            api_key: String,
            email: String,
            user_id: u64,
        }
        let path = "/api/v1/dev_fetch_api_key";
        let value = self.post_ok(path, None, &[("username", email)]).await?;
        let key: Key = read_as(path, value)?;
        let authorization = basic_authorization(&key.email, &key.api_key);
        Ok(Account { user_id: key.user_id, email: key.email, authorization })
    }

    /// Logs in with a password, and checks that the returned key is the expected one.
    pub async fn login_by_password(&mut self, email: &str, password: &str) -> Result<(), LoadError> {
        let path = "/api/v1/fetch_api_key";
        let reply = self.post_ok(path, None, &[("username", email), ("password", password)]).await?;
        if reply["api_key"].is_string() {
            return Ok(());
        }
        Err(LoadError::Server(format!("{email} logged in and got no key")))
    }

    /// Registers a queue of message events with raw content.
    pub async fn register(&mut self, caller: &Account) -> Result<Registered, LoadError> {
        let path = "/api/v1/register";
        let fields = [
            ("event_types", r#"["message"]"#),
            ("fetch_event_types", r#"["message"]"#),
            ("apply_markdown", "false"),
        ];
        let value = self.post_ok(path, Some(caller), &fields).await?;
        read_as(path, value)
    }

    /// Gives the connection to a caller that writes its own requests.
    pub fn into_connection(self) -> Connection {
        self.connection
    }
}

/// A call for messages, with the account that makes it.
fn name_call(method: &str, path: &str, caller: Option<&Account>) -> String {
    match caller {
        Some(account) => format!("{method} {path} as {}", account.email),
        None => format!("{method} {path}"),
    }
}

/// The reply's JSON if it is a success; the error otherwise contains the server's message.
pub fn check_success(call: &str, status: u16, value: Value) -> Result<Value, LoadError> {
    if status == 200 && value["result"] == "success" {
        return Ok(value);
    }
    Err(LoadError::Refused { call: call.to_owned(), status, body: shorten(&value.to_string()) })
}

fn read_as<T: serde::de::DeserializeOwned>(call: &str, value: Value) -> Result<T, LoadError> {
    serde_json::from_value(value)
        .map_err(|error| LoadError::Server(format!("{call}: malformed reply: {error}")))
}

fn shorten(body: &str) -> String {
    body.chars().take(300).collect()
}

/// The name under which a failed reply is counted: its status, and its code if it has one.
pub fn failure_name(status: u16, body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Refusal {
        code: Option<String>,
        msg: Option<String>,
    }
    match serde_json::from_slice::<Refusal>(body) {
        Ok(Refusal { code: Some(code), msg: Some(msg) }) if code == "BAD_REQUEST" => {
            format!("{status} {code} {}", msg.chars().take(60).collect::<String>())
        }
        Ok(Refusal { code: Some(code), .. }) => format!("{status} {code}"),
        _ if status == 200 => "200 without success".to_owned(),
        _ => format!("{status}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_named_by_status_and_code() {
        let limited = br#"{"result":"error","msg":"slow down","code":"RATE_LIMIT_HIT"}"#;
        assert_eq!(failure_name(429, limited), "429 RATE_LIMIT_HIT");
        let bad = br#"{"result":"error","msg":"Missing topic","code":"BAD_REQUEST"}"#;
        assert_eq!(failure_name(400, bad), "400 BAD_REQUEST Missing topic");
        assert_eq!(failure_name(502, b"<html>"), "502");
        assert_eq!(failure_name(200, b"<html>"), "200 without success");
    }

    #[test]
    fn a_200_that_is_not_a_success_is_refused() {
        let odd = serde_json::json!({"result": "error", "msg": "no"});
        assert!(matches!(check_success("GET /x", 200, odd), Err(LoadError::Refused { status: 200, .. })));
        assert!(check_success("GET /x", 200, serde_json::json!({"result": "success"})).is_ok());
    }
}
