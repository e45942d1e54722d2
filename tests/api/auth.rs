//! Authentication: every check of docs/api/conventions.md#authentication, with its status, text and headers.

use crate::support::{Params, TestServer, TestUser, people};
use base64::Engine;
use reqwest::Method;
use serde_json::{Value, json};

fn unauthorized(msg: &str, code: &str) -> Value {
    json!({"msg": msg, "code": code})
}

async fn with_header(person: &TestUser, value: &str) -> crate::support::ApiResponse {
    let anonymous = TestUser { key: String::new(), ..person.clone() };
    anonymous.bare(Method::GET, "/users/me").header("Authorization", value).await
}

fn basic(text: impl AsRef<[u8]>) -> String {
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(text))
}

#[tokio::test]
async fn missing_authorization_header_is_401() {
    let t = TestServer::start().await;
    let answer = t.anonymous().get("/users/me", &[]).await;
    assert_eq!(answer.header("WWW-Authenticate"), "Basic realm=\"zulip\"");
    let msg = "Not logged in: API authentication or user session required";
    answer.refused(401, unauthorized(msg, "UNAUTHORIZED"));
}

/// A realm with web-public channels lists its users without an account, and nothing else.
#[tokio::test]
async fn web_public_realm_still_requires_api_credentials() {
    let t = TestServer::start().await;
    let (desdemona, anonymous) = (t.user("desdemona"), t.anonymous());
    desdemona.patch("/realm", &[("enable_spectator_access", &true)]).ok().await;
    let window = desdemona.create_channel("window").set("is_web_public", json!(true)).await;
    let id = desdemona.send(&window, "t", "seen").await;
    anonymous.get("/users", &[]).ok().await;
    let narrow = json!([["channels", "web-public"]]);
    let newest: Params<'_> = &[("anchor", &"newest"), ("num_before", &9), ("narrow", &narrow)];
    let quiet: Params<'_> = &[("client_gravatar", &false)];
    for (method, path, params) in [
        (Method::GET, "/messages".to_owned(), newest),
        (Method::GET, format!("/messages/{id}"), &[]),
        (Method::GET, format!("/users/me/{}/topics", window.id), &[]),
        (Method::POST, "/register".to_owned(), quiet),
    ] {
        let answer = anonymous.call(method, &path, params).await;
        assert_eq!(answer.header("WWW-Authenticate"), "Basic realm=\"zulip\"", "{path}");
        let msg = "Not logged in: API authentication or user session required";
        answer.refused(401, unauthorized(msg, "UNAUTHORIZED"));
    }
}

#[tokio::test]
async fn malformed_authorization_header_is_401() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    for header in ["Bearer abc", "Digest x y", "Bearer"] {
        let answer = with_header(&iago, header).await;
        assert_eq!(answer.header("WWW-Authenticate"), "", "{header}");
        let msg = "This endpoint requires HTTP basic authentication.";
        answer.refused(400, unauthorized(msg, "BAD_REQUEST"));
    }
    let three = basic(format!("{}:{}:x", iago.email, iago.key));
    let not_text = basic([0xff, 0xfe, b':', b'a']);
    for header in ["Basic", "Basic a b", "Basic ???", &basic("no colon"), &three, &not_text] {
        let answer = with_header(&iago, header).await;
        assert_eq!(answer.header("WWW-Authenticate"), "Basic realm=\"zulip\"", "{header}");
        answer.refused(401, unauthorized("Invalid authorization header for basic auth", "UNAUTHORIZED"));
    }
}

#[tokio::test]
async fn wrong_api_key_is_401() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    for key in ["short", &format!("{}x", iago.key), &format!("{}_", &iago.key[1..])] {
        let answer = with_header(&iago, &basic(format!("{}:{key}", iago.email))).await;
        assert_eq!(answer.header("WWW-Authenticate"), "Basic realm=\"zulip\"");
        answer.refused(401, unauthorized("Malformed API key", "UNAUTHORIZED"));
    }
    let invalid = unauthorized("Invalid API key", "UNAUTHORIZED");
    let unknown = "A".repeat(32);
    for (email, key) in [(&iago.email, &unknown), (&iago.email, &hamlet.key), (&"nobody@x".into(), &iago.key)]
    {
        let answer = with_header(&iago, &basic(format!("{email}:{key}"))).await;
        assert_eq!(answer.header("WWW-Authenticate"), "Basic realm=\"zulip\"");
        answer.refused(401, invalid.clone());
    }
    // The email may be in upper case or the API-visible address, and spaces around the key are ignored.
    let upper = format!("{}: {} ", iago.email.to_uppercase(), iago.key);
    for text in [upper, format!("{}:{}", iago.api_email, iago.key)] {
        assert_eq!(with_header(&iago, &basic(text)).await.ok()["user_id"], iago.id);
    }
    let header = basic(format!("{}:{}", iago.email, iago.key)).replace("Basic", "bAsIC");
    assert_eq!(with_header(&iago, &header).await.ok()["user_id"], iago.id);
}

#[tokio::test]
async fn deactivated_account_or_realm_is_401() {
    let t = TestServer::start().await;
    let refusal = unauthorized("Account is deactivated", "USER_DEACTIVATED");
    t.user("ghost").get("/users/me", &[]).refused(401, refusal).await;
    let closed = people::create_closed(t.server(), "closed").await;
    let olga = t.user_of(&closed, "olga");
    let call = olga.get("/users/me", &[]).header("Host", "closed.localhost");
    call.refused(401, unauthorized("This organization has been deactivated", "REALM_DEACTIVATED")).await;
}

#[tokio::test]
async fn account_of_another_realm_is_401() {
    let t = TestServer::start().await;
    let acme = people::create_second(t.server(), "acme").await;
    let (olga, iago) = (t.user_of(&acme, "olga"), t.user("iago"));
    olga.get("/users/me", &[]).bad("Account is not associated with this subdomain").await;
    let elsewhere = iago.get("/users/me", &[]).header("Host", "acme.localhost");
    elsewhere.bad("Account is not associated with this subdomain").await;
    let own = olga.get("/users/me", &[]).header("Host", "acme.localhost:9991").ok().await;
    assert_eq!(own["full_name"], "Olga");
}

#[tokio::test]
async fn incoming_webhooks_may_only_send() {
    let t = TestServer::start().await;
    let (iago, webhook) = (t.user("iago"), t.user("webhook-bot"));
    let channel = iago.create_channel("alerts").with(&webhook).await;
    let msg = "This API is not available to incoming webhook bots.";
    for path in ["/users/me", "/messages", "/streams", "/events", "/users/me/subscriptions"] {
        webhook.get(path, &[]).bad(msg).await;
    }
    webhook.post("/register", &[]).bad(msg).await;
    webhook.post("/messages/flags", &[]).bad(msg).await;
    webhook.send(&channel, "disk", "full").await;
}

#[tokio::test]
async fn wrong_credentials_are_401_on_public_endpoints() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let wrong = TestUser { key: "A".repeat(32), ..iago };
    for path in ["/messages", "/users"] {
        wrong.get(path, &[]).refused(401, unauthorized("Invalid API key", "UNAUTHORIZED")).await;
    }
}
