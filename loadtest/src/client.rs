//! The API calls that a load test makes outside of measured loops: accounts, channels, event queues.
//! Measured requests are built by the drivers from `http::Template`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;

use crate::error::LoadError;
use crate::http::{
    Connection, HttpError, Reply, Target, Template, basic_authorization, bodiless_request, encode_form,
    is_redirect, refuse_redirect, retry_after_secs, without_parameters,
};
use crate::output::note;
use crate::rate_limit::RateLimitWaits;
use crate::text::one_line;

/// The status of a request above the rate limit.
const TOO_MANY: u16 = 429;
/// Characters of the name of a failure that is a sentence.
pub const NAME_CHARS_MAX: usize = 100;
/// Characters of a code or a message of the server in such a name.
const WORDS_CHARS_MAX: usize = 60;
/// Characters of a reply in an error.
const REPLY_CHARS_MAX: usize = 300;

/// How long a call outside of measured time waits for its reply, and after which time a line says that it waits.
pub const REPLY_WAIT: Duration = Duration::from_secs(120);
const REPLY_WAIT_SILENT: Duration = Duration::from_secs(5);

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
    /// Of calls that are repeated when the server limits the rate of requests; none in measured time.
    waits: Option<RateLimitWaits>,
    /// How long the header of the last reply asks to wait.
    retry_after: Option<Duration>,
    /// Where the last reply leads.
    location: Option<String>,
    /// How long to wait for a reply; calls in measured time have bounds of their own.
    reply_wait: Duration,
}

impl Api {
    /// Opens a connection to the server.
    pub async fn open(target: &Arc<Target>) -> Result<Self, LoadError> {
        let connection = Connection::open(target)
            .await
            .map_err(|source| LoadError::Http { call: format!("connect to {}", target.host), source })?;
        let (target, request) = (target.clone(), Vec::new());
        let waits = Some(RateLimitWaits::default());
        let (retry_after, location) = (None, None);
        Ok(Self { target, connection, request, waits, retry_after, location, reply_wait: REPLY_WAIT })
    }

    /// For calls in measured time: a call above the rate limit fails at once.
    pub fn measured(mut self) -> Self {
        self.waits = None;
        self
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
        self.check(&name_call("POST", path, caller), status, value)
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
        self.check(&call, status, value)
    }

    /// GETs JSON, and expects success.
    pub async fn get_ok(&mut self, path: &str, caller: Option<&Account>) -> Result<Value, LoadError> {
        let (status, value) = self.call("GET", path, caller).await?;
        self.check(&name_call("GET", path, caller), status, value)
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
        let read = |reply: &Reply<'_>| (reply.status, String::from_utf8_lossy(reply.body).into_owned());
        match self.exchange(&call, read).await? {
            (200, body) => Ok(body),
            (status, body) => Err(self.refused(call, status, &body)),
        }
    }

    /// The error of the last reply, which is no success.
    fn refused(&self, call: String, status: u16, body: &str) -> LoadError {
        if !is_redirect(status) {
            return refused(call, status, body, None);
        }
        refuse_redirect(call, status, self.location.as_deref(), &self.target)
    }

    /// The JSON of the last reply if it is a success.
    fn check(&self, call: &str, status: u16, value: Value) -> Result<Value, LoadError> {
        let checked = check_success(call, status, value);
        checked.map_err(|error| match error {
            LoadError::Refused { call, status, body, retry_after } => {
                let retry_after = self.retry_after.or(retry_after);
                LoadError::Refused { call, status, body, retry_after }
            }
            error => error,
        })
    }

    async fn run(&mut self, call: String) -> Result<(u16, Value), LoadError> {
        let read = |reply: &Reply<'_>| {
            let value = serde_json::from_slice::<Value>(reply.body);
            (reply.status, value.map_err(|_| String::from_utf8_lossy(reply.body).into_owned()))
        };
        match self.exchange(&call, read).await? {
            (status, Ok(value)) if !is_redirect(status) => Ok((status, value)),
            (status, Ok(value)) => Err(self.refused(call, status, &value.to_string())),
            (status, Err(body)) => Err(self.refused(call, status, &body)),
        }
    }

    /// Sends the request, again if the server limits the rate and says when, and reads the reply.
    async fn exchange<T>(&mut self, call: &str, read: impl Fn(&Reply<'_>) -> T) -> Result<T, LoadError> {
        let begun = Instant::now();
        loop {
            let exchange = self.connection.exchange_rested(&self.request);
            let exchanged = match self.waits.is_some() {
                true => within(self.reply_wait, call, exchange).await,
                false => exchange.await,
            };
            let reply = exchanged.map_err(|source| LoadError::Http { call: call.to_owned(), source })?;
            (self.retry_after, self.location) = (reply.retry_after, reply.location.clone());
            let Some(waits) = self.waits.as_mut().filter(|_| reply.status == TOO_MANY) else {
                return Ok(read(&reply));
            };
            if !waits.wait(call, begun, Failure::of(&reply).retry_after).await {
                return Ok(read(&reply));
            }
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

/// Awaits the reply of a call for so long, and says when that takes a while.
pub async fn within<T, E: From<HttpError>>(
    wait: Duration,
    call: &str,
    exchange: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let mut exchange = std::pin::pin!(exchange);
    let silent = REPLY_WAIT_SILENT.min(wait);
    if let Ok(exchanged) = tokio::time::timeout(silent, &mut exchange).await {
        return exchanged;
    }
    let (waited, most) = (silent.as_secs_f64(), wait.as_secs_f64());
    note(format!("{call}: no reply for {waited} s; waiting for up to {most} s"));
    let exchanged = tokio::time::timeout(wait.saturating_sub(silent), exchange).await;
    exchanged.unwrap_or_else(|_| Err(HttpError::NoReply(wait).into()))
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
    let retry_after = value["retry-after"].as_f64().and_then(retry_after_secs);
    Err(refused(call.to_owned(), status, &value.to_string(), retry_after))
}

fn refused(call: String, status: u16, body: &str, retry_after: Option<Duration>) -> LoadError {
    let body = one_line(body, REPLY_CHARS_MAX);
    LoadError::Refused { call, status, body, retry_after }
}

fn read_as<T: serde::de::DeserializeOwned>(call: &str, value: Value) -> Result<T, LoadError> {
    serde_json::from_value(value)
        .map_err(|error| one_line(&error.to_string(), REPLY_CHARS_MAX))
        .map_err(|reason| LoadError::Server(format!("{call}: malformed reply: {reason}")))
}

/// Why a request has no successful reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What it is counted as: status and code, or what is wrong with the connection or the reply.
    pub name: String,
    /// How long the server asks to wait before the next request.
    pub retry_after: Option<Duration>,
}

/// The body of a failed reply.
#[derive(Debug, Default, Deserialize)]
struct Refusal {
    code: Option<String>,
    msg: Option<String>,
    /// Seconds.
    #[serde(rename = "retry-after")]
    retry_after: Option<f64>,
}

impl Failure {
    /// That of a failed reply. Its header says how long to wait, and without one its body.
    pub fn of(reply: &Reply<'_>) -> Self {
        if let Some(location) = &reply.location {
            return Self::of_redirect(reply.status, location);
        }
        let mut failure = Self::of_body(reply.status, reply.body);
        failure.retry_after = reply.retry_after.or(failure.retry_after);
        failure
    }

    /// Without parameters, which differ between requests and are not for reports, as those of a login.
    fn of_redirect(status: u16, location: &str) -> Self {
        let location = without_parameters(location);
        one_line(&format!("{status} redirect to {location}"), NAME_CHARS_MAX).into()
    }

    fn of_body(status: u16, body: &[u8]) -> Self {
        let refusal = serde_json::from_slice::<Refusal>(body).unwrap_or_default();
        let words = |text: Option<String>| text.map(|text| one_line(&text, WORDS_CHARS_MAX));
        let name = match (words(refusal.code), words(refusal.msg)) {
            (Some(code), Some(msg)) if code == "BAD_REQUEST" => {
                format!("{status} {code} {msg}")
            }
            (Some(code), _) => format!("{status} {code}"),
            (None, _) if status == 200 => "200 without success".to_owned(),
            (None, _) => format!("{status}"),
        };
        let wait = refusal.retry_after.filter(|_| status == TOO_MANY);
        Self { name, retry_after: wait.and_then(retry_after_secs) }
    }
}

impl From<String> for Failure {
    fn from(name: String) -> Self {
        Self { name, retry_after: None }
    }
}

impl From<&str> for Failure {
    fn from(name: &str) -> Self {
        name.to_owned().into()
    }
}

impl From<HttpError> for Failure {
    fn from(error: HttpError) -> Self {
        error.code().into()
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Refused { call: _, status, body, retry_after } => {
                Self { retry_after, ..Self::of_body(status, body.as_bytes()) }
            }
            LoadError::Redirected { call: _, status, location, advice: _ } => {
                Self::of_redirect(status, &location)
            }
            LoadError::Http { call: _, source } => source.into(),
            error @ (LoadError::Usage(_)
            | LoadError::File { .. }
            | LoadError::Server(_)
            | LoadError::Interrupted(_)) => one_line(&error.to_string(), NAME_CHARS_MAX).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{self, Faults};

    #[test]
    fn failures_are_named_by_status_and_code() {
        let name = |status: u16, body: &[u8]| {
            let failure = Failure::of(&Reply { status, retry_after: None, location: None, body });
            (failure.name, failure.retry_after)
        };
        let limited = br#"{"result":"error","msg":"slow down","code":"RATE_LIMIT_HIT","retry-after":0.25}"#;
        assert_eq!(name(429, limited), ("429 RATE_LIMIT_HIT".to_owned(), Some(Duration::from_millis(250))));
        let bad = br#"{"result":"error","msg":"Missing topic","code":"BAD_REQUEST"}"#;
        assert_eq!(name(400, bad), ("400 BAD_REQUEST Missing topic".to_owned(), None));
        let (retry_after, location) = (Some(Duration::from_secs(2)), None);
        let headed = Reply { status: 429, retry_after, location, body: limited };
        assert_eq!(Failure::of(&headed).retry_after, headed.retry_after, "the header comes first");
        let forged = br#"{"result":"error","msg":"x\n   met    p50_ms_max\u001b[2J","code":"BAD_REQUEST"}"#;
        assert_eq!(name(400, forged).0, "400 BAD_REQUEST x    met    p50_ms_max\u{fffd}[2J");
        let long = format!(r#"{{"code":"{}"}}"#, "A".repeat(1_000));
        assert_eq!(name(400, long.as_bytes()).0.chars().count(), "400 ".len() + WORDS_CHARS_MAX + 1);
        let location = Some("/login/?next=/api/v1/messages&token=4711".to_owned());
        let redirect = Reply { status: 302, retry_after: None, location, body: b"" };
        assert_eq!(Failure::of(&redirect).name, "302 redirect to /login/");
        assert_eq!(name(502, b"<html>").0, "502");
        assert_eq!(name(200, b"<html>").0, "200 without success");
    }

    #[tokio::test]
    async fn call_above_the_rate_limit_is_repeated_unless_it_is_measured() {
        let target = fake::start(Faults { limit_profiles: 2, production: true, ..Faults::default() });
        let authorization = basic_authorization("a@x", "7");
        let account = Account { user_id: 7, email: "a@x".to_owned(), authorization };
        let path = "/api/v1/users/me";
        let mut measured = Api::open(&target).await.unwrap().measured();
        let failure = Failure::from(measured.get_ok(path, Some(&account)).await.unwrap_err());
        assert_eq!(failure.name, "429 RATE_LIMIT_HIT");
        assert_eq!(
            failure.retry_after,
            Some(Duration::from_millis(20)),
            "by the header: the body says a day"
        );
        let mut api = Api::open(&target).await.unwrap();
        assert_eq!(api.get_ok(path, Some(&account)).await.unwrap()["user_id"], 7);
    }

    #[tokio::test]
    async fn server_that_accepts_and_does_not_answer_ends_the_preparation() {
        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", silent.local_addr().unwrap());
        let mut api = Api::open(&Arc::new(Target::local(&url).unwrap())).await.unwrap();
        api.reply_wait = Duration::from_millis(20);
        let error = api.get_ok("/api/v1/server_settings", None).await.unwrap_err();
        assert_eq!(error.to_string(), "GET /api/v1/server_settings: no reply within 0.02 s");
    }

    #[tokio::test]
    async fn redirect_is_not_followed_and_its_error_says_where_it_leads() {
        let target = fake::start(Faults { redirects: true, ..Faults::default() });
        let mut api = Api::open(&target).await.unwrap();
        let error = api.get_ok("/api/v1/server_settings", None).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "GET /api/v1/server_settings: the server answered 301, a redirect to https://localhost/api/v1/server_settings: \
             use https://localhost as the URL"
        );
        let name = "301 redirect to https://localhost/api/v1/server_settings";
        assert_eq!(Failure::from(error).name, name);
        let mut connection = Connection::open(&target).await.unwrap();
        let request = bodiless_request("GET", &target.host, "/api/v1/server_settings", None);
        assert_eq!(Failure::of(&connection.exchange(&request).await.unwrap()).name, name, "in a phase");
    }

    #[test]
    fn reply_that_is_no_json_is_quoted_in_one_line() {
        let error = refused("GET /x".to_owned(), 502, "\u{1f}\u{8b}\u{8}\n<html>", None).to_string();
        assert_eq!(error, "GET /x: the server answered 502: \u{fffd}\u{fffd}\u{fffd} <html>");
    }

    #[test]
    fn a_200_that_is_not_a_success_is_refused() {
        let odd = serde_json::json!({"result": "error", "msg": "no"});
        assert!(matches!(check_success("GET /x", 200, odd), Err(LoadError::Refused { status: 200, .. })));
        assert!(check_success("GET /x", 200, serde_json::json!({"result": "success"})).is_ok());
    }
}
