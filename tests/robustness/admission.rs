//! Admission by the request head, before the body is read: unauthorized callers get no body read, and requests without
//! credentials may have small bodies only.

use super::{assert_healthy, stage};
use crate::support::raw_connection::RawConnection;
use crate::support::{Params, ServerProcess, TIMEOUT, TestServer, TestUser};
use base64::Engine;
use reqwest::Method;
use serde_json::json;

fn basic(email: &str, key: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(format!("{email}:{key}"))
}

/// A request head without its body.
fn head(line: &str, credentials: &str, rest: &str) -> String {
    format!(
        "{line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic {credentials}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\n{rest}\r\n"
    )
}

async fn answer(t: &TestServer, request: &str) -> String {
    let mut wire = RawConnection::connect(&t.url).await;
    wire.write(request).await;
    wire.read_until("}\n").await
}

#[tokio::test]
async fn refusal_before_body_is_read() {
    // Bodies may take longer than any test waits.
    let t = stage(&[("http.body_secs_max", "300"), ("limits.enabled", "true")]).await;
    let hamlet = t.user("hamlet");
    let (good, bad) = (basic(&hamlet.email, &hamlet.key), basic(&hamlet.email, &"x".repeat(32)));
    let cases = [
        ("POST /api/v1/messages", bad.as_str(), "Content-Length: 1000000\r\n", "401"),
        ("POST /api/v1/users/me/avatar", &bad, "Content-Length: 1000000\r\n", "401"),
        ("POST /api/v1/nowhere", &good, "Content-Length: 1000000\r\n", "404"),
        ("PUT /api/v1/messages", &good, "Content-Length: 1000000\r\n", "405"),
        ("PATCH /api/v1/settings", "e", "Transfer-Encoding: chunked\r\n", "401"),
        ("POST /api/v1/messages", &good, "Content-Length: 1048577\r\n", "413"),
        ("POST /api/v1/fetch_api_key", &good, "Content-Length: 65537\r\n", "413"),
    ];
    for (line, credentials, length, status) in cases {
        let answer = answer(&t, &format!("{}username=", head(line, credentials, length))).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{line}: {answer}");
    }
    assert_healthy(&hamlet).await;
}

#[tokio::test]
async fn rate_limit_before_body_is_read() {
    let t = stage(&[
        ("http.body_secs_max", "300"),
        ("limits.enabled", "true"),
        ("limits.api_by_user", "[[3600, 1]]"),
    ])
    .await;
    let hamlet = t.user("hamlet");
    hamlet.get("/users/me", &[]).ok().await;
    let head =
        head("POST /api/v1/messages", &basic(&hamlet.email, &hamlet.key), "Content-Length: 1000000\r\n");
    let answer = answer(&t, &head).await;
    assert!(answer.starts_with("HTTP/1.1 429 ") && answer.contains("retry-after"), "{answer}");
}

#[tokio::test]
async fn unauthenticated_body_size_limit() {
    let t = stage(&[("http.anonymous_body_bytes_max", "1000")]).await;
    let anonymous = t.anonymous();
    let form = |bytes: usize| {
        let mut body = b"username=a@b.example&password=".to_vec();
        body.resize(bytes, b'x');
        body
    };
    let form_type = "application/x-www-form-urlencoded";
    let post = |path, bytes| anonymous.send_body(Method::POST, path, form_type, form(bytes));
    assert_eq!(post("/fetch_api_key", 1000).await.status, 401);
    for path in ["/fetch_api_key", "/join/unknown/"] {
        let too_large =
            json!({"msg": "Request body is too large (limit: 1000 bytes)", "code": "BAD_REQUEST"});
        post(path, 1001).refused(413, too_large).await;
    }
    // Without a declared length, the limit applies while reading.
    let chunk = format!("Transfer-Encoding: chunked\r\n\r\n600\r\n{}\r\n", "x".repeat(0x600));
    let line = "POST /api/v1/fetch_api_key HTTP/1.1\r\nHost: localhost\r\n";
    let answer = answer(&t, &format!("{line}{chunk}")).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    // Callers with a valid key may send more, including where the route is determined by the body.
    let iago = t.user("iago");
    let content = "x".repeat(5000);
    let params: Params<'_> = &[("content", &content)];
    iago.post("/messages/render", params).ok().await;
}

#[tokio::test]
async fn unfinished_bodies_per_ip_are_bounded() {
    let t = stage(&[("http.body_secs_max", "300")]).await;
    let hamlet = t.user("hamlet");
    let piece = format!("f000\r\n{}\r\n", "x".repeat(0xf000));
    let head = "POST /api/v1/fetch_api_key HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut wires = Vec::new();
    for _ in 0..64 {
        let mut wire = RawConnection::connect(&t.url).await;
        wire.write(format!("{head}{piece}")).await;
        wires.push(wire);
    }
    let held = || t.server().budget().used_bytes();
    let deadline = tokio::time::Instant::now() + TIMEOUT;
    while held() < 4 << 20 {
        assert!(tokio::time::Instant::now() < deadline, "{} bytes are held", held());
        assert_healthy(&hamlet).await;
    }
    // 4 MiB are held for this IP address: another body is refused, however long the others take.
    let mut late = RawConnection::connect(&t.url).await;
    late.write(format!("{head}{piece}")).await;
    let answer = late.read_until("}\n").await;
    assert!(answer.starts_with("HTTP/1.1 429 "), "{answer}");
    assert_eq!(held(), 4 << 20);
    // Other clients and small bodies are still served.
    assert_healthy(&hamlet).await;
    let name = "hamlet@zulip.com";
    let params: Params<'_> = &[("username", &name), ("password", &name)];
    t.anonymous().post("/fetch_api_key", params).ok().await;
    drop(wires);
}

#[tokio::test]
async fn connection_is_reusable_after_refusal() {
    let t = stage(&[]).await;
    let hamlet = t.user("hamlet");
    let mut wire = RawConnection::connect(&t.url).await;
    let body = "type=stream";
    let length = format!("Content-Length: {}\r\n", body.len());
    wire.write(format!("{}{body}", head("POST /api/v1/messages", "e", &length))).await;
    let answer = wire.read_until("}\n").await;
    assert!(answer.starts_with("HTTP/1.1 401 ") && !answer.contains("connection: close"), "{answer}");
    wire.write(head("GET /api/v1/users/me", &basic(&hamlet.email, &hamlet.key), "")).await;
    let answer = wire.read_until("}\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn upgrade_header_is_ignored() {
    let t = stage(&[("http.body_secs_max", "300")]).await;
    let hamlet = t.user("hamlet");
    let credentials = basic(&hamlet.email, &hamlet.key);
    for protocol in ["websocket", "h2c", "WebSocket", "TLS/1.2"] {
        let upgrade = format!("Connection: Upgrade\r\nUpgrade: {protocol}\r\n");
        let got = answer(&t, &head("GET /api/v1/users/me", &credentials, &upgrade)).await;
        assert!(got.starts_with("HTTP/1.1 200 ") && got.contains("hamlet@zulip.com"), "{protocol}: {got}");
        assert!(got.to_lowercase().contains("connection: close"), "{got}");
        let body = "content=hello";
        let length = format!("{upgrade}Content-Length: {}\r\n", body.len());
        let posted = head("POST /api/v1/messages/render", &credentials, &length);
        let rendered = answer(&t, &format!("{posted}{body} and nothing of this")).await;
        assert!(rendered.contains("<p>hello</p>"), "{protocol}: {rendered}");
        let refused = answer(&t, &head("GET /api/v1/users/me", "e", &upgrade)).await;
        assert!(refused.starts_with("HTTP/1.1 401 "), "{protocol}: {refused}");
        let nowhere = answer(&t, &head("GET /nowhere", &credentials, &upgrade)).await;
        assert!(nowhere.starts_with("HTTP/1.1 404 "), "{protocol}: {nowhere}");
    }
}

#[tokio::test]
async fn method_override_in_body_is_authorized() {
    let t = stage(&[]).await;
    let (polonius, anonymous) = (t.user("polonius"), t.anonymous());
    // A guest may not subscribe others, but may unsubscribe.
    let names = json!(["Verona"]);
    let leave: Params<'_> = &[("method", &"DELETE"), ("subscriptions", &names)];
    polonius.post("/users/me/subscriptions", leave).ok().await;
    polonius.post("/users/me/subscriptions", &[]).bad("Not allowed for guest users").await;
    // A path without a POST route.
    let me: Params<'_> = &[("method", &"GET")];
    assert_eq!(polonius.post("/users/me", me).ok().await["user_id"], polonius.id);
    assert_eq!(anonymous.post("/users/me", me).await.status, 401);
    // The method override does not bypass authentication.
    let delete: Params<'_> = &[("method", &"DELETE")];
    assert_eq!(anonymous.post("/messages/1", delete).await.status, 401);
    assert_eq!(anonymous.post("/messages/1", &[]).await.status, 405);
}

#[tokio::test]
async fn json_body_error_explains_form_encoding() {
    let t = stage(&[]).await;
    let iago = t.user("iago");
    let json_call =
        |method, path, body: &str| iago.send_body(method, path, "application/json", body.as_bytes().to_vec());
    let answer = json_call(Method::POST, "/messages", r#"{"type": "stream", "to": "Verona"}"#).await;
    let msg = answer.body["msg"].as_str().unwrap();
    assert!(msg.starts_with("Missing 'type' argument") && msg.contains("form-encoded"), "{msg}");
    assert_eq!(answer.body["code"], "REQUEST_VARIABLE_MISSING");
    // Some clients always send an empty JSON object.
    for body in ["{}", "", "null"] {
        let registered = json_call(Method::POST, "/register", body).ok().await;
        assert!(registered.get("ignored_parameters_unsupported").is_none(), "{registered}");
        let missing = json!({
            "msg": "Missing 'content' argument", "code": "REQUEST_VARIABLE_MISSING", "var_name": "content"
        });
        json_call(Method::POST, "/messages/render", body).refused(400, missing).await;
    }
    let registered = json_call(Method::POST, "/register", r#"{"event_types": ["message"]}"#).ok().await;
    assert_eq!(registered["ignored_parameters_unsupported"], json!(["event_types"]));
}

#[tokio::test]
async fn cors_headers_on_api_but_not_pages() {
    let t = stage(&[]).await;
    let (anonymous, iago) = (t.anonymous(), t.user("iago"));
    let allowed =
        |answer: &crate::support::ApiResponse| answer.header("Access-Control-Allow-Origin").to_owned();
    for path in ["/join/unknown/", "/confirm_email/unknown", "/emails", "/metrics"] {
        let answer = anonymous.get(path, &[]).await;
        assert_eq!(allowed(&answer), "", "{path}");
        assert_eq!(answer.header("X-Content-Type-Options"), "nosniff", "{path}");
        let options = anonymous.bare(Method::OPTIONS, path).header("Origin", "https://evil.example").await;
        assert_eq!(allowed(&options), "", "{path}");
        assert_eq!(options.header("Access-Control-Allow-Headers"), "", "{path}");
    }
    for answer in [
        iago.get("/users/me", &[]).await,
        anonymous.get("/users/me", &[]).await,
        anonymous.get("/server_settings", &[]).await,
        iago.get("/users/me/subscriptions", &[]).header("Origin", "https://app.example").await,
    ] {
        assert_eq!(allowed(&answer), "*", "{}", answer.what);
        assert_eq!(answer.header("X-Content-Type-Options"), "nosniff", "{}", answer.what);
    }
}

#[tokio::test]
async fn malformed_requests_are_not_logged_as_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = ServerProcess::dev(&folder.path().join("data"));
    for bytes in [&b"HELO there\r\n\r\n"[..], b"GET / HTTP/1.1\r\n\r\n", &[0xff; 4096]] {
        let mut wire = RawConnection::connect(&server.url).await;
        wire.write(bytes).await;
        let answer = wire.read_to_end().await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    let anonymous: TestUser = server.anonymous();
    anonymous.get("/health", &[]).ok().await;
    let log = server.log.clone();
    server.terminate();
    assert!(server.wait().success());
    let log = log.lock().expect("the lock").clone();
    assert!(log.contains("answered") && !log.contains("ERROR"), "{log}");
}

/// There is one engine for formulas. What waits for it is bounded and holds up no other request.
#[tokio::test]
async fn texts_with_formulas_wait_in_a_bounded_line() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let channel = hamlet.create_channel("math").await;
    let id = hamlet.send(&channel, "t", "no formula").await;
    let mut places = Vec::new();
    while let Ok(place) = t.app().formulas.enter() {
        places.push(place);
    }
    let formula = "the sum $$a + b$$";
    let send = |content: &'static str| {
        hamlet.post("/messages", &[("type", &"direct"), ("to", &json!([hamlet.id])), ("content", &content)])
    };
    let later = 4_000_000_000_u64;
    let schedule = |content: &'static str| {
        let to = json!([hamlet.id]);
        let scheduled: Params<'_> = &[
            ("type", &"direct"),
            ("to", &to),
            ("content", &content),
            ("scheduled_delivery_timestamp", &later),
        ];
        hamlet.post("/scheduled_messages", scheduled)
    };
    let scheduled = schedule("no formula").await.ok()["scheduled_message_id"].clone();
    let remind: Params<'_> =
        &[("message_id", &id), ("scheduled_delivery_timestamp", &later), ("note", &formula)];
    for refused in [
        send(formula).await,
        schedule(formula).await,
        hamlet.patch(&format!("/scheduled_messages/{scheduled}"), &[("content", &formula)]).await,
        hamlet.post("/reminders", remind).await,
        hamlet.edit(id, &[("content", &formula)]).await,
        hamlet.post("/messages/render", &[("content", &formula)]).await,
        hamlet.patch(&format!("/streams/{}", channel.id), &[("description", &formula)]).await,
    ] {
        assert_eq!(
            (refused.status, &refused.body["code"]),
            (503, &json!("SERVER_OVERLOADED")),
            "{refused:?}"
        );
        assert_eq!(refused.header("Retry-After"), "1.0");
    }
    // Texts without formulas do not wait, and neither do values that are refused for another reason.
    send("costs $5").ok().await;
    let field: Params<'_> = &[("name", &"Motto"), ("field_type", &1)];
    let field = t.user("iago").post("/realm/profile_fields", field).ok().await["id"].clone();
    let data = json!([{"id": field, "value": format!("$$x$$ {}", "x".repeat(60))}]);
    let refused = hamlet.patch("/users/me/profile_data", &[("data", &data)]).await;
    assert_eq!((refused.status, &refused.body["code"]), (400, &json!("BAD_REQUEST")), "{refused:?}");
    hamlet.post("/messages/render", &[("content", &"```rust\nx\n```")]).ok().await;
    places.clear();
    send(formula).ok().await;
    let rendered = hamlet.post("/messages/render", &[("content", &formula)]).ok().await;
    assert!(rendered["rendered"].as_str().unwrap().contains("katex"), "{rendered}");
}

/// Of channels that exist, and of people who may not create any.
#[tokio::test]
async fn descriptions_that_nothing_renders_wait_for_no_formula() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let channel = hamlet.create_channel("math").await;
    let mut places = Vec::new();
    while let Ok(place) = t.app().formulas.enter() {
        places.push(place);
    }
    let described = |name: &str| json!([{"name": name, "description": "the sum $$a + b$$"}]);
    let (old, new) = (described(&channel.name), described("new"));
    hamlet.post("/users/me/subscriptions", &[("subscriptions", &old)]).ok().await;
    let refused = t.user("polonius").post("/users/me/subscriptions", &[("subscriptions", &new)]).await;
    assert_eq!(refused.status, 400, "{refused:?}");
    let refused = hamlet.post("/users/me/subscriptions", &[("subscriptions", &new)]).await;
    assert_eq!(refused.body["code"], "SERVER_OVERLOADED", "{refused:?}");
}

#[tokio::test]
async fn texts_with_formulas_of_one_request_are_bounded() {
    let t = TestServer::start().await;
    let formula = "the sum $$a + b$$";
    let channel = |number: usize| json!({"name": format!("math {number}"), "description": formula});
    let many = json!((0..65).map(channel).collect::<Vec<_>>());
    let many: Params<'_> = &[("subscriptions", &many)];
    t.user("hamlet")
        .post("/users/me/subscriptions", many)
        .bad("Too many texts with formulas (limit: 64)")
        .await;
}
