//! The whole server, with its own table of routes, from logging in onwards.

use super::*;
use crate::config::Overrides;
use crate::routes::table;
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use tempfile::TempDir;

struct Started {
    server: Running,
    client: Client,
    _data: TempDir,
}

async fn start(is_development: bool, settings: &[(&'static str, &str)]) -> Started {
    let data = tempfile::tempdir().unwrap();
    let mut flags = Overrides::default().set("listen", "test", Some("127.0.0.1:0"));
    flags = flags.set("data", "test", Some(data.path().display()));
    for (option, value) in settings {
        flags = flags.set(option, "test", Some(value));
    }
    let config = Config::load(None, [], flags).unwrap();
    let setup = Setup { config, routes: table(), is_development, is_durable: false, seed: None };
    let server = serve(setup).await.unwrap();
    if !is_development {
        crate::dev::ensure_sample(&server.app().server).await.unwrap();
    }
    Started { server, client: Client::new(), _data: data }
}

impl Started {
    fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}/api/v1{path}", self.server.url()))
    }

    fn post(&self, path: &str, form: &[(&str, &str)]) -> RequestBuilder {
        self.client.post(format!("{}/api/v1{path}", self.server.url())).form(form)
    }

    async fn log_in(&self, username: &str, password: &str) -> (u16, Value) {
        read(self.post("/fetch_api_key", &[("username", username), ("password", password)])).await
    }

    async fn key(&self, username: &str) -> String {
        let (status, body) = self.log_in(username, username).await;
        assert_eq!(status, 200, "{body}");
        body["api_key"].as_str().unwrap().to_owned()
    }
}

async fn read(request: RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    (status, response.json().await.unwrap())
}

fn error(code: &str, msg: &str) -> Value {
    json!({"result": "error", "msg": msg, "code": code})
}

#[actix_web::test]
async fn server_settings_without_credentials() {
    let started = start(true, &[]).await;
    let (status, body) = read(started.get("/server_settings")).await;
    assert_eq!(status, 200);
    for name in [
        "external_authentication_methods",
        "zulip_version",
        "zulip_merge_base",
        "push_notifications_enabled",
        "is_incompatible",
        "email_auth_enabled",
        "require_email_format_usernames",
        "realm_uri",
        "realm_icon",
        "realm_web_public_access_enabled",
    ] {
        assert!(!body[name].is_null(), "{name}");
    }
    assert_eq!(body["zulip_feature_level"], 421);
    assert_eq!(body["realm_name"], "Zulip Dev");
    assert_eq!(body["realm_url"], started.server.url());
    assert_eq!(
        body["realm_description"],
        "<p>The sample organization of a development server. It is great for testing!</p>"
    );
    let methods = &body["authentication_methods"];
    assert_eq!(
        (&methods["password"], &methods["dev"], &methods["ldap"]),
        (&json!(true), &json!(true), &json!(false))
    );
    // A host that is no organization's hears only about the server.
    let (status, body) = read(started.get("/server_settings").header("Host", "acme.localhost")).await;
    assert_eq!((status, body.get("realm_name")), (200, None));
    assert_eq!(body["zulip_version"], "11.0");

    let url = format!("{}{}?v=1", started.server.url(), crate::api::emoji::EMOJI_PATH);
    let response = started.client.get(url).send().await.unwrap();
    assert!(response.headers()["Cache-Control"].to_str().unwrap().contains("immutable"));
    let body: Value = response.json().await.unwrap();
    assert_eq!(body["code_to_names"]["1f389"][0], "tada");
    started.server.stop().await.unwrap();
}

#[actix_web::test]
async fn password_login_returns_api_key() {
    let started = start(true, &[]).await;
    let (status, body) = started.log_in("HAMLET@zulip.com", "hamlet@zulip.com").await;
    assert_eq!((status, &body["email"], &body["user_id"]), (200, &json!("hamlet@zulip.com"), &json!(10)));
    let key = body["api_key"].as_str().unwrap();
    let (status, body) = read(started.get("/users/me").basic_auth("hamlet@zulip.com", Some(key))).await;
    assert_eq!((status, &body["full_name"], &body["user_id"]), (200, &json!("King Hamlet"), &json!(10)));

    let wrong = error("AUTHENTICATION_FAILED", "Your username or password is incorrect");
    for (username, password) in [
        ("hamlet@zulip.com", "wrong"),
        ("nobody@zulip.com", "x"),
        ("default-bot@zulip.com", ""),
        ("hamlet@zulip.com", ""),
    ] {
        assert_eq!(started.log_in(username, password).await, (401, wrong.clone()), "{username}");
    }
    assert_eq!(
        started.log_in("hamlet", "x").await,
        (400, error("BAD_REQUEST", "Enter a valid email address."))
    );
    let (status, body) = read(started.post("/fetch_api_key", &[("password", "x")])).await;
    assert_eq!((status, &body["var_name"]), (400, &json!("username")));
    let other_host = started.post("/fetch_api_key", &[("username", "x"), ("password", "x")]);
    let nowhere = error("NONEXISTENT_SUBDOMAIN", "Invalid subdomain");
    assert_eq!(read(other_host.header("Host", "acme.localhost")).await, (404, nowhere));
    started.server.stop().await.unwrap();
}

#[actix_web::test]
async fn password_guessing_is_rate_limited() {
    let started = start(true, &[("limits.enabled", "true")]).await;
    for _ in 0..4 {
        assert_eq!(started.log_in("iago@zulip.com", "guess").await.0, 401);
    }
    // A success clears the failures before it.
    assert_eq!(started.log_in("iago@zulip.com", "iago@zulip.com").await.0, 200);
    for _ in 0..5 {
        assert_eq!(started.log_in("iago@zulip.com", "guess").await.0, 401);
    }
    for password in ["guess", "iago@zulip.com"] {
        let (status, body) = started.log_in("IAGO@zulip.com", password).await;
        assert_eq!((status, &body["code"]), (429, &json!("RATE_LIMIT_HIT")));
    }
    assert_eq!(started.log_in("hamlet@zulip.com", "hamlet@zulip.com").await.0, 200);
    started.server.stop().await.unwrap();
}

#[actix_web::test]
async fn login_at_wrong_organization() {
    let started = start(true, &[]).await;
    let new = actors::NewRealm {
        subdomain: "acme".into(),
        name: "Acme".into(),
        email_domain: "acme.example".into(),
    };
    started.server.app().server.create_realm(new, |_| Vec::new()).await.unwrap();
    let at_acme = async |password| {
        let form = [("username", "hamlet@zulip.com"), ("password", password)];
        read(started.post("/fetch_api_key", &form).header("Host", "acme.localhost")).await
    };
    assert_eq!(at_acme("hamlet@zulip.com").await, (404, error("NONEXISTENT_SUBDOMAIN", "Invalid subdomain")));
    assert_eq!(at_acme("guess").await.0, 401);
    started.server.stop().await.unwrap();
}

#[actix_web::test]
async fn dev_fetch_api_key_requires_development() {
    let started = start(true, &[]).await;
    for address in ["polonius@zulip.com", "webhook-bot@zulip.com"] {
        let (status, body) = read(started.post("/dev_fetch_api_key", &[("username", address)])).await;
        assert_eq!((status, &body["email"]), (200, &json!(address)));
        assert_eq!(body["api_key"].as_str().unwrap().len(), 32);
    }
    let (status, body) = read(started.post("/dev_fetch_api_key", &[("username", "x@zulip.com")])).await;
    assert_eq!((status, &body["code"]), (401, &json!("AUTHENTICATION_FAILED")));
    let (_, body) = read(started.get("/dev_list_users")).await;
    let emails = |list: &str| -> Vec<&str> {
        body[list].as_array().unwrap().iter().map(|user| user["email"].as_str().unwrap()).collect()
    };
    assert_eq!(emails("direct_admins"), ["desdemona@zulip.com", "iago@zulip.com"]);
    assert_eq!(emails("direct_users").len(), 8);
    started.server.stop().await.unwrap();

    let started = start(false, &[]).await;
    let refused = error("BAD_REQUEST", "This endpoint is available on development servers only.");
    let request = started.post("/dev_fetch_api_key", &[("username", "iago@zulip.com")]);
    assert_eq!(read(request).await, (400, refused.clone()));
    assert_eq!(read(started.get("/dev_list_users")).await, (400, refused));
    assert_eq!(read(started.get("/server_settings")).await.1["authentication_methods"]["dev"], false);
    started.server.stop().await.unwrap();
}

#[actix_web::test]
async fn account_creation_requires_permission() {
    let started = start(true, &[]).await;
    let create = async |caller: &str, email: &str, full_name: &str| {
        let form = [("email", email), ("password", "correct horse"), ("full_name", full_name)];
        read(started.post("/users", &form).basic_auth(caller, Some(started.key(caller).await))).await
    };
    let (owner, email) = ("desdemona@zulip.com", "new@zulip.com");
    assert_eq!(create("hamlet@zulip.com", email, "New").await.1["code"], "UNAUTHORIZED_PRINCIPAL");
    let refused = error("BAD_REQUEST", "User not authorized to create users");
    assert_eq!(create("iago@zulip.com", email, "New").await, (400, refused));
    let (status, body) = create(owner, email, " New User ").await;
    assert_eq!((status, &body["user_id"]), (200, &json!(19)));
    assert_eq!(started.log_in(email, "correct horse").await.1["user_id"], 19);
    for (email, full_name, msg) in [
        ("NEW@zulip.com", "Other", "Email 'NEW@zulip.com' already in use"),
        ("new", "Other", "Bad name or username"),
        ("other@zulip.com", "x", "Name too short!"),
    ] {
        assert_eq!(create(owner, email, full_name).await, (400, error("BAD_REQUEST", msg)));
    }
    let realm = started.server.app().server.realm_by_subdomain("").unwrap();
    let directory = realm.directory();
    let user = directory.user_by_email(email).unwrap();
    assert_eq!((user.full_name.as_str(), user.role), ("New User", model::Role::Member));
    let channels: Vec<String> = directory
        .subscriptions_of_user(user.id)
        .map(|(id, _)| directory.channel(id).unwrap().name.clone())
        .collect();
    assert_eq!(channels, ["general", "sandbox"]);
    drop((directory, realm));
    started.server.stop().await.unwrap();
}
