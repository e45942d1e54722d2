//! The edge over a real socket: methods, order of refusals, bodies of every kind, and stopping.

mod accounts;

use super::*;
use crate::config::Overrides;
use crate::http::caller::{Caller, Login};
use crate::http::metrics_listener::metrics;
use crate::http::operations::health;
use crate::http::route::Limit;
use crate::http::{
    Address, ApiError, BodyStream, ClientName, Envelope, Fields, FromFields, HandlerResult, Params, Path,
    Realm, reply, reply_ok,
};
use actix_web::http::Method;
use actors::RealmHandle;
use futures_util::StreamExt;
use model::MessageId;
use reqwest::{Client, RequestBuilder, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

thread_local! {
    /// The data folder of this test's server, and the keys of its people.
    static STARTED: RefCell<Option<(TempDir, RealmHandle)>> = const { RefCell::new(None) };
}

/// The API key of a user of the sample organization.
fn key(address: &str) -> String {
    STARTED.with_borrow(|started| {
        let (_, realm) = started.as_ref().unwrap();
        realm.api_key(realm.directory().user_by_email(address).unwrap())
    })
}

struct Send {
    content: String,
    times: u8,
}

impl FromFields for Send {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { content: fields.required("content")?, times: fields.int_or("times", 1)? })
    }
}

#[derive(Serialize)]
struct Sent {
    user: u32,
    content: String,
    times: u8,
    client: String,
    local: bool,
}

async fn send(
    caller: Caller,
    client: ClientName,
    address: Address,
    Params(request): Params<Send>,
) -> HandlerResult {
    let Send { content, times } = request;
    let local = address.0.is_some_and(|address| address.is_loopback());
    reply(&Sent { user: caller.user.id.0, content, times, client: client.0, local })
}

async fn fetch(Path(id): Path<MessageId>, caller: Option<Caller>) -> HandlerResult {
    Envelope::with_capacity(64)
        .raw_field("messages", b"[]")
        .field("id", &id.0)?
        .field("known", &caller.is_some())?
        .reply()
}

async fn delete(Path(id): Path<MessageId>, _: Params<()>) -> HandlerResult {
    reply(&json!({ "deleted": id.0 }))
}

async fn member(_: Path<(u32, String)>) -> HandlerResult {
    reply_ok()
}

async fn poll(app: App) -> HandlerResult {
    tokio::select! {
        _ = app.stopping().wait() => reply(&json!({ "events": [] })),
        _ = tokio::time::sleep(Duration::from_secs(60)) => Err(ApiError::internal()),
    }
}

/// Finishes requests of [`slow`], one for each permit.
static FINISH_SLOW: Semaphore = Semaphore::const_new(0);
/// Requests that [`slow`] has begun.
static SLOW_BEGUN: AtomicUsize = AtomicUsize::new(0);

async fn slow(_: Params<()>) -> HandlerResult {
    SLOW_BEGUN.fetch_add(1, Ordering::SeqCst);
    FINISH_SLOW.acquire().await.unwrap().forget();
    reply_ok()
}

async fn upload(BodyStream(mut payload): BodyStream) -> HandlerResult {
    let mut bytes = 0;
    while let Some(chunk) = payload.next().await {
        bytes += chunk.map_err(|_| ApiError::bad_request("cut"))?.len();
    }
    reply(&json!({ "bytes": bytes }))
}

async fn whose(Realm(realm): Realm) -> HandlerResult {
    reply(&json!({ "subdomain": realm.directory().realm().subdomain }))
}

fn routes() -> Vec<Route> {
    vec![
        Route::new(Method::GET, "/health", Login::None, Limit::Free, health),
        Route::new(Method::GET, "/metrics", Login::None, Limit::Free, metrics),
        Route::new(Method::GET, "/api/v1/whose", Login::None, Limit::Free, whose),
        Route::new(Method::GET, "/api/v1/messages/{message_id:int}", Login::Spectator, Limit::Api, fetch),
        Route::new(Method::DELETE, "/api/v1/messages/{message_id:int}", Login::Account, Limit::Api, delete),
        Route::new(Method::GET, "/api/v1/users/me", Login::Account, Limit::Api, || async { reply_ok() }),
        Route::new(Method::POST, "/api/v1/messages", Login::Account, Limit::Api, send),
        Route::new(Method::PATCH, "/api/v1/messages", Login::Human, Limit::Api, send),
        Route::new(Method::PUT, "/api/v1/streams/{id:int}/{name:text}", Login::NotGuest, Limit::Free, member),
        Route::new(Method::GET, "/api/v1/events", Login::Account, Limit::Events, poll),
        Route::new(Method::GET, "/api/v1/park", Login::None, Limit::Free, park),
        Route::new(Method::POST, "/api/v1/slow", Login::None, Limit::Free, slow),
        Route::new(Method::POST, "/api/v1/uploads", Login::Account, Limit::Free, upload).streaming(),
    ]
}

async fn start(settings: &[(&'static str, &str)]) -> (Running, Client) {
    let data = tempfile::tempdir().unwrap();
    let mut flags = Overrides::default().set("listen", "test", Some("127.0.0.1:0"));
    flags = flags.set("data", "test", Some(data.path().display()));
    flags = flags.set("limits.enabled", "test", Some("false"));
    for (option, value) in settings {
        flags = flags.set(option, "test", Some(value));
    }
    let config = Config::load(None, [], flags).unwrap();
    let running = serve(setup(config)).await.unwrap();
    let realm = running.app().server.realm_by_subdomain("").unwrap();
    STARTED.set(Some((data, realm)));
    (running, Client::new())
}

fn setup(config: Config) -> Setup {
    Setup { config, routes: routes(), is_development: true, is_durable: false, seed: None }
}

async fn read(request: RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

trait AsHamlet {
    fn hamlet(self) -> Self;
}

impl AsHamlet for RequestBuilder {
    fn hamlet(self) -> Self {
        self.basic_auth("hamlet@zulip.com", Some(key("hamlet@zulip.com")))
    }
}

#[actix_web::test]
async fn order_of_refusals() {
    let (server, client) = start(&[]).await;
    let url = |path: &str| format!("{}/api/v1{path}", server.url());

    let response = client.put(url("/messages/1")).send().await.unwrap();
    assert_eq!(response.status(), 405);
    assert_eq!(response.headers()["Allow"], "GET, DELETE, HEAD");
    assert_eq!(response.headers()["Access-Control-Allow-Origin"], "*");
    let body: Value = response.json().await.unwrap();
    let allowed =
        json!({"result": "error", "msg": "Method Not Allowed", "allowed_methods": ["GET", "DELETE", "HEAD"]});
    assert_eq!(body, allowed);

    let not_found = json!({"result": "error", "msg": "Not Found", "code": "NOT_FOUND"});
    for path in ["/nowhere", "/messages/abc", "/messages/1/"] {
        assert_eq!(read(client.get(url(path)).hamlet()).await, (404, not_found.clone()), "{path}");
    }
    let response =
        client.request(Method::OPTIONS.as_str().parse().unwrap(), url("/messages/1")).send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["Allow"]),
        (204, &"GET, DELETE, HEAD".parse().unwrap())
    );
    assert_eq!(response.text().await.unwrap(), "");

    let response = client.head(url("/messages/7")).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let length = response.headers()["Content-Length"].clone();
    assert_eq!(response.text().await.unwrap(), "");
    assert_eq!(client.get(url("/messages/7")).send().await.unwrap().headers()["Content-Length"], length);
    let (status, body) = read(client.get(url("/messages/7"))).await;
    assert_eq!((status, &body["id"], &body["known"]), (200, &json!(7), &json!(false)));
    assert_eq!(read(client.get(url("/messages/7")).hamlet()).await.1["known"], true);

    let response = client.get(url("/users/me")).send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["WWW-Authenticate"]),
        (401, &"Basic realm=\"zulip\"".parse().unwrap())
    );
    assert_eq!(response.headers()["X-Request-Id"].len(), 16);
    let (status, body) = read(client.get(url("/users/me")).bearer_auth("abc")).await;
    assert_eq!((status, &body["msg"]), (400, &json!("This endpoint requires HTTP basic authentication.")));
    // Credentials are checked if present, also where none are required.
    let (status, body) =
        read(client.get(url("/messages/7")).basic_auth("hamlet@zulip.com", Some("b".repeat(32)))).await;
    assert_eq!((status, &body["code"]), (401, &json!("UNAUTHORIZED")));
    let (status, body) = read(
        client.put(url("/streams/3/x")).basic_auth("polonius@zulip.com", Some(key("polonius@zulip.com"))),
    )
    .await;
    assert_eq!((status, &body["msg"]), (400, &json!("Not allowed for guest users")));
    assert_eq!(read(client.put(url("/streams/3/x")).hamlet()).await.0, 200);
    server.stop().await.unwrap();
}

#[actix_web::test]
async fn parameters_of_every_form_and_method() {
    let (server, client) = start(&[]).await;
    let url = |path: &str| format!("{}/api/v1{path}", server.url());
    let hi = |times: u8, client: &str| {
        json!({
            "result": "success", "msg": "", "user": 10, "content": "hi", "times": times, "client": client, "local": true,
        })
    };

    let form = [("content", "hi"), ("times", "2")];
    let agent = "ZulipMobile/30.0 (iOS 17)";
    let request = client.post(url("/messages?content=query&client=cli")).hamlet().form(&form);
    assert_eq!(read(request).await, (200, hi(2, "cli")));
    let multipart = reqwest::multipart::Form::new().text("content", "hi");
    let request = client.patch(url("/messages")).header("User-Agent", agent).hamlet().multipart(multipart);
    assert_eq!(read(request).await, (200, hi(1, "ZulipMobile")));
    let request =
        client.patch(url("/messages?content=hi&zeta=1&alpha=2")).header("User-Agent", agent).hamlet();
    let mut expected = hi(1, "ZulipMobile");
    expected["ignored_parameters_unsupported"] = json!(["alpha", "zeta"]);
    assert_eq!(read(request).await, (200, expected));

    // JSON is not read, so its parameters are missing.
    let request = client.post(url("/messages")).hamlet().json(&json!({"content": "hi"}));
    let (status, body) = read(request).await;
    assert_eq!((status, &body["code"]), (400, &json!("REQUEST_VARIABLE_MISSING")));
    let msg = body["msg"].as_str().unwrap();
    assert!(msg.starts_with("Missing 'content' argument") && msg.contains("sent form-encoded"), "{msg}");
    let missing = json!({"result": "error", "msg": "Missing 'content' argument", "code": "REQUEST_VARIABLE_MISSING", "var_name": "content"});
    // Authentication precedes parameters; ignored parameters are reported on success only.
    assert_eq!(read(client.post(url("/messages")).form(&[("x", "y")])).await.0, 401);
    assert_eq!(read(client.post(url("/messages")).hamlet().form(&[("x", "y")])).await, (400, missing));
    let bad =
        client.post(url("/messages")).hamlet().header("Content-Type", "application/x-www-form-urlencoded");
    assert_eq!(read(bad.body("content=%ff")).await.1["msg"], "content is not valid UTF-8");
    let bad =
        client.post(url("/messages")).hamlet().header("Content-Type", "multipart/form-data; boundary=x");
    assert_eq!(read(bad.body("content")).await.1["msg"], "Malformed multipart body");

    // Endpoints that take no parameters, and those whose parameters are in the path, report all.
    assert_eq!(
        read(client.get(url("/users/me?x=1")).hamlet()).await.1,
        json!({"result": "success", "msg": "", "ignored_parameters_unsupported": ["x"]})
    );
    let (_, body) = read(client.delete(url("/messages/5?message_id=5")).hamlet()).await;
    assert_eq!(
        (&body["deleted"], &body["ignored_parameters_unsupported"]),
        (&json!(5), &json!(["message_id"]))
    );
    server.stop().await.unwrap();
}

#[actix_web::test]
async fn post_with_method_parameter_is_that_method() {
    let (server, client) = start(&[]).await;
    let url = |path: &str| format!("{}/api/v1{path}", server.url());
    // The path offers no POST at all, but its body makes it a DELETE.
    let (status, body) = read(client.post(url("/messages/5")).hamlet().form(&[("method", "DELETE")])).await;
    assert_eq!((status, &body["deleted"]), (200, &json!(5)));
    assert!(body.get("ignored_parameters_unsupported").is_none());
    // PATCH is for people, POST is not: the gate is that of the method asked for.
    let form = [("content", "hi"), ("method", "PATCH")];
    let bot =
        client.post(url("/messages")).basic_auth("default-bot@zulip.com", Some(key("default-bot@zulip.com")));
    assert_eq!(read(bot.form(&form)).await.1["msg"], "This endpoint does not accept bot requests.");
    for (form, query) in
        [([("method", "BOGUS")], ""), ([("method", "")], ""), ([("x", "y")], "?method=DELETE")]
    {
        let (status, _) = read(client.post(url(&format!("/messages/5{query}"))).hamlet().form(&form)).await;
        assert_eq!(status, 405, "{form:?} {query}");
    }
    // Only a POST may.
    let request = client.patch(url("/messages")).hamlet().form(&[("content", "hi"), ("method", "DELETE")]);
    assert_eq!(read(request).await.0, 200);
    server.stop().await.unwrap();
}

#[actix_web::test]
async fn body_size_limits() {
    let (server, client) = start(&[("http.body_secs_max", "1")]).await;
    let url = |path: &str| format!("{}/api/v1{path}", server.url());
    let content = format!("content={}", "x".repeat(10 << 20));
    for kind in ["application/x-www-form-urlencoded", "application/json"] {
        let request =
            client.post(url("/messages")).hamlet().header("Content-Type", kind).body(content.clone());
        let (status, body) = read(request).await;
        assert_eq!((status, &body["code"]), (413, &json!("BAD_REQUEST")));
        assert_eq!(body["msg"], "Request body is too large (limit: 1048576 bytes)");
    }
    let (status, body) = read(client.post(url("/uploads")).hamlet().body(content)).await;
    assert_eq!((status, &body["bytes"]), (200, &json!((10 << 20) + 8)));

    // Half a request: its sender gets 408, and other requests are served.
    let mut half = TcpStream::connect(server.address()).await.unwrap();
    let head = "POST /api/v1/slow HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\ncontent=";
    half.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(read(client.get(url("/messages/7"))).await.0, 200);
    let mut answer = String::new();
    half.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("Request body took too long"), "{answer}");
    server.stop().await.unwrap();
}

#[actix_web::test]
async fn rate_limits_by_account_and_address() {
    let (server, client) = start(&[
        ("limits.enabled", "true"),
        ("limits.api_by_user", "[[60, 2]]"),
        ("limits.api_by_ip", "[[60, 1]]"),
    ])
    .await;
    let url = |path: &str| format!("{}/api/v1{path}", server.url());
    for remaining in ["1", "0"] {
        let response = client.get(url("/users/me")).hamlet().send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), &response.headers()["X-RateLimit-Remaining"]),
            (200, &remaining.parse().unwrap())
        );
        assert_eq!(response.headers()["X-RateLimit-Limit"], "2");
    }
    let response = client.get(url("/users/me")).hamlet().send().await.unwrap();
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    let wait: f64 = response.headers()["Retry-After"].to_str().unwrap().parse().unwrap();
    assert!(wait > 25.0 && wait <= 30.0, "{wait}");
    assert_eq!(response.headers()["X-RateLimit-Remaining"], "0");
    let body: Value = response.json().await.unwrap();
    assert_eq!((&body["code"], body["retry-after"].as_f64()), (&json!("RATE_LIMIT_HIT"), Some(wait)));
    // Other accounts, and calls without one, have limits of their own.
    assert_eq!(
        read(
            client
                .get(url("/users/me"))
                .basic_auth("default-bot@zulip.com", Some(key("default-bot@zulip.com")))
        )
        .await
        .0,
        200
    );
    assert_eq!(read(client.get(url("/messages/7"))).await.0, 200);
    assert_eq!(read(client.get(url("/messages/7"))).await.0, 429);
    assert_eq!(read(client.get(format!("{}/health", server.url()))).await.0, 200);
    server.stop().await.unwrap();
}

#[actix_web::test]
async fn health_and_metrics() {
    let (server, client) = start(&[]).await;
    let (status, body) = read(client.get(format!("{}/health", server.url()))).await;
    assert_eq!((status, &body["result"], &body["storage"]["status"]), (200, &json!("success"), &json!("ok")));
    assert!(body["storage"]["free_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{body}");
    let response = client.get(format!("{}/metrics", server.url())).send().await.unwrap();
    assert_eq!(response.headers()["Content-Type"], "text/plain; version=0.0.4; charset=utf-8");
    assert!(response.text().await.unwrap().contains("route=\"/health\""));
    let data = tempfile::tempdir().unwrap();
    let second = |data: &std::path::Path| {
        let flags = Overrides::default().set("listen", "test", Some(server.address()));
        let flags = flags.set("data", "test", Some(data.display()));
        serve(setup(Config::load(None, [], flags).unwrap()))
    };
    let taken = second(data.path()).await.err().unwrap().to_string();
    assert!(taken.starts_with(&format!("cannot listen on {}: ", server.address())), "{taken}");
    let taken = second(&server.app().config.data).await.err().unwrap().to_string();
    assert!(taken.contains("in use by another millstream process"), "{taken}");
    server.stop().await.unwrap();
}

#[actix_web::test]
async fn shutdown_finishes_accepted_requests() {
    let (server, client) = start(&[]).await;
    let base = format!("{}/api/v1", server.url());
    let address = server.address();
    // An idle kept-alive connection, a waiting poll, a request in progress, and one whose body is incomplete.
    assert_eq!(read(client.get(format!("{base}/users/me")).hamlet()).await.0, 200);
    let poll = actix_rt::spawn(read(client.get(format!("{base}/events")).hamlet()));
    let slow = actix_rt::spawn(read(client.post(format!("{base}/slow"))));
    let mut half = TcpStream::connect(address).await.unwrap();
    half.write_all(b"POST /api/v1/slow HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab").await.unwrap();
    while SLOW_BEGUN.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Time for the other heads to arrive.
    tokio::time::sleep(Duration::from_millis(150)).await;
    let stopping = actix_rt::spawn(server.stop());
    let (status, body) = poll.await.unwrap();
    assert_eq!((status, body["events"].clone()), (200, json!([])));
    // It was answered while other requests are in progress.
    FINISH_SLOW.add_permits(2);
    half.write_all(b"cd").await.unwrap();
    let mut answer = String::new();
    half.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("}\n"), "{answer}");
    assert_eq!(slow.await.unwrap().0, 200);
    stopping.await.unwrap().unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

static PARKED: AtomicUsize = AtomicUsize::new(0);

struct Parked;

impl Drop for Parked {
    fn drop(&mut self) {
        PARKED.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn park() -> HandlerResult {
    PARKED.fetch_add(1, Ordering::SeqCst);
    let _parked = Parked;
    std::future::pending().await
}

async fn parked_becomes(count: usize) {
    let deadline = Instant::now() + Duration::from_secs(5);
    while PARKED.load(Ordering::SeqCst) != count {
        assert!(Instant::now() < deadline, "{} parked, not {count}", PARKED.load(Ordering::SeqCst));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[actix_web::test]
async fn disconnected_client_frees_its_poll() {
    let (server, _) = start(&[]).await;
    let request = b"GET /api/v1/park HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut first = TcpStream::connect(server.address()).await.unwrap();
    let mut second = TcpStream::connect(server.address()).await.unwrap();
    first.write_all(request).await.unwrap();
    second.write_all(request).await.unwrap();
    parked_becomes(2).await;
    drop(first);
    parked_becomes(1).await;
    second.shutdown().await.unwrap();
    parked_becomes(0).await;
    server.stop().await.unwrap();
}
