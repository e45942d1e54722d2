//! `POST /fetch_api_key`.

use crate::support::shape::fields;
use crate::support::{Params, Person, TestServer};
use actors::NewUser;
use model::Role;
use serde_json::{Value, json};

/// Somebody with a password.
async fn register(t: &TestServer, name: &str, password: &str) -> Person {
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
    t.realm().create_user(user).await.expect("an account");
    t.user(name)
}

fn refusal(code: &str, msg: &str) -> Value {
    json!({"msg": msg, "code": code})
}

#[tokio::test]
async fn a_password_gives_a_key() {
    let t = TestServer::start().await;
    let rosa = register(&t, "rosa", "correct horse").await;
    for username in ["rosa@zulip.com", "ROSA@zulip.com"] {
        let params: Params<'_> = &[("username", &username), ("password", &"correct horse")];
        let body = t.stranger().post("/fetch_api_key", params).ok().await;
        assert_eq!(fields(&body), ["api_key", "email", "user_id"]);
        assert_eq!(
            (&body["api_key"], &body["email"], &body["user_id"]),
            (&json!(rosa.key), &json!("rosa@zulip.com"), &json!(rosa.id))
        );
        assert_eq!(rosa.key.len(), 32);
    }
}

#[tokio::test]
async fn refusals() {
    let t = TestServer::start().await;
    register(&t, "rosa", "correct horse").await;
    let stranger = t.stranger();
    let wrong = refusal("AUTHENTICATION_FAILED", "Your username or password is incorrect");
    for (username, password) in [
        ("rosa@zulip.com", "wrong"),
        ("nobody@zulip.com", "wrong"),
        ("iago@zulip.com", ""),
        ("ghost@zulip.com", "wrong"),
        ("rosa@zulip.com", ""),
    ] {
        let params: Params<'_> = &[("username", &username), ("password", &password)];
        stranger.post("/fetch_api_key", params).refused(401, wrong.clone()).await;
    }
    let params: Params<'_> = &[("username", &"rosa"), ("password", &"x")];
    stranger.post("/fetch_api_key", params).bad("Enter a valid email address.").await;
    for (given, missing) in [("password", "username"), ("username", "password")] {
        let body = json!({
            "msg": format!("Missing '{missing}' argument"),
            "code": "REQUEST_VARIABLE_MISSING", "var_name": missing,
        });
        stranger.post("/fetch_api_key", &[(given, &"rosa@zulip.com")]).refused(400, body).await;
    }
    let call = stranger.post("/fetch_api_key", &[("username", &"rosa@zulip.com"), ("password", &"x")]);
    let call = call.header("Host", "nowhere.localhost");
    call.refused(404, refusal("NONEXISTENT_SUBDOMAIN", "Invalid subdomain")).await;
    let answer = stranger.get("/fetch_api_key", &[]).await;
    let allowed = json!({"msg": "Method Not Allowed", "allowed_methods": ["POST"]});
    answer.refused(405, allowed);
}

#[tokio::test]
async fn guessing_ends_after_five() {
    let t = TestServer::plan().set("limits.enabled", true).start().await;
    register(&t, "rosa", "correct horse").await;
    let stranger = t.stranger();
    let guess: Params<'_> = &[("username", &"rosa@zulip.com"), ("password", &"wrong")];
    for _ in 0..5 {
        assert_eq!(stranger.post("/fetch_api_key", guess).await.status, 401);
    }
    let right: Params<'_> = &[("username", &"rosa@zulip.com"), ("password", &"correct horse")];
    for params in [guess, right] {
        let answer = stranger.post("/fetch_api_key", params).await;
        assert_eq!((answer.status, &answer.body["code"]), (429, &json!("RATE_LIMIT_HIT")));
        let wait = answer.body["retry-after"].as_f64().expect("seconds to wait");
        assert!(wait > 0.0 && !answer.header("Retry-After").is_empty());
    }
    // Somebody else is not concerned.
    let other: Params<'_> = &[("username", &"iago@zulip.com"), ("password", &"wrong")];
    assert_eq!(stranger.post("/fetch_api_key", other).await.status, 401);
}

#[tokio::test]
async fn nobody_signs_tokens_for_others_here() {
    let t = TestServer::start().await;
    let msg = "JWT authentication is not enabled for this organization";
    t.stranger().post("/jwt/fetch_api_key", &[("token", &"x")]).bad(msg).await;
    t.stranger().post("/jwt/fetch_api_key", &[]).bad(msg).await;
    let call =
        t.stranger().post("/jwt/fetch_api_key", &[("token", &"x")]).header("Host", "nowhere.localhost");
    call.refused(404, refusal("NONEXISTENT_SUBDOMAIN", "Invalid subdomain")).await;
}
