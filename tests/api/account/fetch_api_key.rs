//! `POST /fetch_api_key`: logins with a password, and their errors and rate limit.

use crate::support::shape::fields;
use crate::support::{ApiResponse, Params, TestServer, TestUser, people};
use actors::commands::CreateUser;
use actors::{NewUser, RealmHandle};
use model::Role;
use serde_json::{Value, json};

/// Creates a user with this password.
async fn register(t: &TestServer, name: &str, password: &str) -> TestUser {
    register_in(t.realm(), name, password).await;
    t.user(name)
}

/// Registers an account with a password in any organization.
async fn register_in(realm: &RealmHandle, name: &str, password: &str) {
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
    realm.execute(CreateUser { user, sends_messages: false }).await.expect("an account");
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

async fn log_in(t: &TestServer, username: &str, password: &str) -> ApiResponse {
    let params: Params<'_> = &[("username", &username), ("password", &password)];
    t.anonymous().post("/fetch_api_key", params).await
}

/// Only the right password says that the account exists, also after a restart.
#[tokio::test]
async fn account_of_another_organization_is_found_by_its_address() {
    let t = TestServer::start().await;
    let acme = people::create_second(t.server(), "acme").await;
    register_in(&acme, "rosa", "correct horse").await;
    let status =
        async |t: &TestServer, username: &str, password: &str| log_in(t, username, password).await.status;
    assert_eq!(status(&t, "Rosa@zulip.com", "correct horse").await, 404);
    assert_eq!(status(&t, "rosa@zulip.com", "wrong").await, 401);
    let t = TestServer::builder().on(t.stop().await).start().await;
    assert_eq!(status(&t, "rosa@zulip.com", "correct horse").await, 404);
    assert_eq!(status(&t, "rosalind@zulip.com", "correct horse").await, 401);
}

/// Guesses at the host of any organization count on the account.
#[tokio::test]
async fn guesses_through_another_organization_count() {
    let t = TestServer::builder().set("limits.enabled", true).start().await;
    let acme = people::create_second(t.server(), "acme").await;
    register_in(&acme, "rosa", "correct horse").await;
    for _ in 0..5 {
        assert_eq!(log_in(&t, "rosa@zulip.com", "wrong").await.status, 401);
    }
    let params: Params<'_> = &[("username", &"rosa@zulip.com"), ("password", &"correct horse")];
    let refused = t.anonymous().post("/fetch_api_key", params).header("Host", "acme.localhost").await;
    assert_eq!((refused.status, &refused.body["code"]), (429, &json!("RATE_LIMIT_HIT")), "{refused:?}");
}
