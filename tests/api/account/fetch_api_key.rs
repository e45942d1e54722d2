//! `POST /fetch_api_key`: logins with a password, and their errors and rate limit.

use crate::support::shape::fields;
use crate::support::{Params, TestServer, TestUser};
use actors::NewUser;
use actors::commands::CreateUser;
use model::Role;
use serde_json::{Value, json};

/// Creates the user rosa with this password.
async fn register(t: &TestServer, name: &str, password: &str) -> TestUser {
    let hash = actors::login::hash_password(password).expect("a hash");
    let user = NewUser {
        email: format!("{name}@zulip.com"),
        full_name: name.to_owned(),
        role: Role::Member,
        bot: None,
        password_hash: Some(hash),
        timezone: String::new(),
        channels: Vec::new(),
    };
    t.realm().execute(CreateUser { user, sends_messages: false }).await.expect("an account");
    t.user(name)
}

fn refusal(code: &str, msg: &str) -> Value {
    json!({"msg": msg, "code": code})
}

#[tokio::test]
async fn fetch_api_key_with_password() {
    let t = TestServer::start().await;
    let rosa = register(&t, "rosa", "correct horse").await;
    for username in ["rosa@zulip.com", "ROSA@zulip.com"] {
        let params: Params<'_> = &[("username", &username), ("password", &"correct horse")];
        let body = t.anonymous().post("/fetch_api_key", params).ok().await;
        assert_eq!(fields(&body), ["api_key", "email", "user_id"]);
        assert_eq!(
            (&body["api_key"], &body["email"], &body["user_id"]),
            (&json!(rosa.key), &json!("rosa@zulip.com"), &json!(rosa.id))
        );
        assert_eq!(rosa.key.len(), 32);
    }
}

#[tokio::test]
async fn fetch_api_key_errors() {
    let t = TestServer::start().await;
    register(&t, "rosa", "correct horse").await;
    let anonymous = t.anonymous();
    let wrong = refusal("AUTHENTICATION_FAILED", "Your username or password is incorrect");
    for (username, password) in [
        ("rosa@zulip.com", "wrong"),
        ("nobody@zulip.com", "wrong"),
        ("iago@zulip.com", ""),
        ("ghost@zulip.com", "wrong"),
        ("rosa@zulip.com", ""),
    ] {
        let params: Params<'_> = &[("username", &username), ("password", &password)];
        anonymous.post("/fetch_api_key", params).refused(401, wrong.clone()).await;
    }
    let params: Params<'_> = &[("username", &"rosa"), ("password", &"x")];
    anonymous.post("/fetch_api_key", params).bad("Enter a valid email address.").await;
    for (given, missing) in [("password", "username"), ("username", "password")] {
        let body = json!({
            "msg": format!("Missing '{missing}' argument"),
            "code": "REQUEST_VARIABLE_MISSING", "var_name": missing,
        });
        anonymous.post("/fetch_api_key", &[(given, &"rosa@zulip.com")]).refused(400, body).await;
    }
    let call = anonymous.post("/fetch_api_key", &[("username", &"rosa@zulip.com"), ("password", &"x")]);
    let call = call.header("Host", "nowhere.localhost");
    call.refused(404, refusal("NONEXISTENT_SUBDOMAIN", "Invalid subdomain")).await;
    let answer = anonymous.get("/fetch_api_key", &[]).await;
    let allowed = json!({"msg": "Method Not Allowed", "allowed_methods": ["POST"]});
    answer.refused(405, allowed);
}

#[tokio::test]
async fn login_rate_limit_after_five_failures() {
    let t = TestServer::builder().set("limits.enabled", true).start().await;
    register(&t, "rosa", "correct horse").await;
    let anonymous = t.anonymous();
    let guess: Params<'_> = &[("username", &"rosa@zulip.com"), ("password", &"wrong")];
    for _ in 0..5 {
        assert_eq!(anonymous.post("/fetch_api_key", guess).await.status, 401);
    }
    let right: Params<'_> = &[("username", &"rosa@zulip.com"), ("password", &"correct horse")];
    for params in [guess, right] {
        let answer = anonymous.post("/fetch_api_key", params).await;
        assert_eq!((answer.status, &answer.body["code"]), (429, &json!("RATE_LIMIT_HIT")));
        let wait = answer.body["retry-after"].as_f64().expect("seconds to wait");
        assert!(wait > 0.0 && !answer.header("Retry-After").is_empty());
    }
    // Other accounts are not affected.
    let other: Params<'_> = &[("username", &"iago@zulip.com"), ("password", &"wrong")];
    assert_eq!(anonymous.post("/fetch_api_key", other).await.status, 401);
}

#[tokio::test]
async fn jwt_fetch_api_key_is_disabled() {
    let t = TestServer::start().await;
    let msg = "JWT authentication is not enabled for this organization";
    t.anonymous().post("/jwt/fetch_api_key", &[("token", &"x")]).bad(msg).await;
    t.anonymous().post("/jwt/fetch_api_key", &[]).bad(msg).await;
    let call =
        t.anonymous().post("/jwt/fetch_api_key", &[("token", &"x")]).header("Host", "nowhere.localhost");
    call.refused(404, refusal("NONEXISTENT_SUBDOMAIN", "Invalid subdomain")).await;
}
