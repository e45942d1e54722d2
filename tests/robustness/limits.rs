//! Rate limits by IP address and by account: anonymous requests do not lock users out, and guessing passwords stays
//! slow.

use crate::support::{ApiResponse, Params, ServerProcess, TestServer, TestUser, people};
use actors::ManualClock;
use model::{Bot, BotKind, Role, Timestamp, UserId};
use reqwest::Method;
use serde_json::json;

const BEHIND_PROXY: &str = r#"["127.0.0.1", "10.0.0.0/8"]"#;

/// Starts a server with these limits; the password of `hamlet` is his email address.
async fn limited(settings: &[(&'static str, &str)]) -> TestServer {
    let mut plan = TestServer::builder().development().set("limits.enabled", true);
    for (option, value) in settings {
        plan = plan.set(option, value);
    }
    plan.start().await
}

/// A login through a trusted proxy, with the IP address of its client.
async fn login(anonymous: &TestUser, name: &str, password: &str, address: &str) -> ApiResponse {
    let params: Params<'_> = &[("username", &name), ("password", &password)];
    anonymous.post("/fetch_api_key", params).header("X-Forwarded-For", address).await
}

async fn statuses(count: usize, call: impl AsyncFn() -> ApiResponse) -> Vec<u16> {
    let mut statuses = Vec::new();
    for _ in 0..count {
        statuses.push(call().await.status);
    }
    statuses
}

#[tokio::test]
async fn unauthenticated_limit_does_not_block_login_or_join() {
    let t = limited(&[("limits.api_by_ip", "[[3600, 100]]")]).await;
    let (anonymous, hamlet) = (t.anonymous(), t.user("hamlet"));
    let settings = statuses(101, || async { anonymous.get("/server_settings", &[]).await }).await;
    assert_eq!(settings, [[200; 100].as_slice(), &[429]].concat());
    let answer = login(&anonymous, "hamlet@zulip.com", "hamlet@zulip.com", "").await;
    assert_eq!(answer.ok()["user_id"], hamlet.id);
    assert_eq!(anonymous.get("/join/unknown/", &[]).await.status, 404);
    hamlet.get("/users/me", &[]).ok().await;
}

#[tokio::test]
async fn login_page_and_picture_limits_per_ip_are_separate() {
    let t = limited(&[
        ("limits.logins_by_ip", "[[3600, 3]]"),
        ("limits.joins_by_ip", "[[3600, 2]]"),
        ("limits.pictures_by_ip", "[[3600, 4]]"),
        ("limits.unknown_paths_by_ip", "[[3600, 1]]"),
    ])
    .await;
    let (anonymous, hamlet) = (t.anonymous(), t.user("hamlet"));
    let logins = statuses(4, || login(&anonymous, "nobody@zulip.com", "x", "")).await;
    assert_eq!(logins, [401, 401, 401, 429]);
    let pages = statuses(3, || async { anonymous.get("/join/unknown/", &[]).await }).await;
    assert_eq!(pages, [404, 404, 429]);
    let picture = "/user_avatars/2/unknown.png";
    let pictures = statuses(5, || async { anonymous.get(picture, &[]).await }).await;
    assert_eq!(pictures, [404, 404, 404, 404, 429]);
    assert_eq!(anonymous.get("/metrics", &[]).await.status, 429);
    // Requests with credentials are not limited by this.
    let pictures = statuses(6, || async { hamlet.get(picture, &[]).await }).await;
    assert_eq!(pictures, [404; 6]);
    let unknown = statuses(2, || async { anonymous.get("/nowhere", &[]).await }).await;
    assert_eq!(unknown, [404, 429]);
    assert_eq!(anonymous.get("/server_settings", &[]).await.status, 200);
}

#[tokio::test]
async fn wrong_api_key_limit_per_ip_lets_valid_keys_through() {
    let t = limited(&[("limits.unauthorized_by_ip", "[[3600, 4]]")]).await;
    let (anonymous, hamlet) = (t.anonymous(), t.user("hamlet"));
    let wrong = TestUser { key: "abcdefghijklmnopqrstuvwxyzABCDE9".to_owned(), ..hamlet.clone() };
    let short = TestUser { key: "abc".to_owned(), ..hamlet.clone() };
    for person in [&wrong, &short, &anonymous, &wrong] {
        assert_eq!(person.get("/users/me", &[]).await.status, 401);
    }
    for person in [&wrong, &short, &anonymous] {
        let answer = person.get("/users/me", &[]).await;
        assert_eq!((answer.status, &answer.body["code"]), (429, &json!("RATE_LIMIT_HIT")));
        assert!(!answer.header("Retry-After").is_empty());
    }
    hamlet.get("/users/me", &[]).ok().await;
}

#[tokio::test]
async fn keys_of_other_organizations_count_as_wrong_ones() {
    let plan = TestServer::builder().set("limits.enabled", true);
    let t = plan.set("limits.unauthorized_by_ip", "[[3600, 2]]").start().await;
    let acme = people::create_second(t.server(), "acme").await;
    let olga = t.user_of(&acme, "olga");
    for _ in 0..2 {
        olga.get("/users/me", &[]).bad("Account is not associated with this subdomain").await;
    }
    // The other organizations are not searched any more.
    let answer = olga.get("/users/me", &[]).await;
    assert_eq!((answer.status, &answer.body["code"]), (429, &json!("RATE_LIMIT_HIT")));
    let own = olga.get("/users/me", &[]).header("Host", "acme.localhost:9991").ok().await;
    assert_eq!(own["full_name"], "Olga");
}

#[tokio::test]
async fn bots_of_an_owner_share_a_limit_of_calls() {
    let t = limited(&[("limits.api_by_user", "[[3600, 1]]")]).await;
    let (iago, hamlet) = (t.user("iago"), t.user("hamlet"));
    let mut bots = Vec::new();
    for number in 0..11 {
        let (name, owner) = (format!("crew{number}"), Some(UserId(iago.id)));
        let bot = Bot { kind: BotKind::Generic, owner, is_system: false };
        people::add(t.realm(), &name, &name, Role::Member, Some(bot)).await;
        bots.push(t.user(&name));
    }
    for bot in &bots[..10] {
        bot.get("/users/me", &[]).ok().await;
    }
    let refused = bots[10].get("/users/me", &[]).await;
    assert_eq!((refused.status, &refused.body["code"]), (429, &json!("RATE_LIMIT_HIT")));
    assert_eq!(refused.header("X-RateLimit-Limit"), "10");
    // The owner and other accounts have their own.
    iago.get("/users/me", &[]).ok().await;
    hamlet.get("/users/me", &[]).ok().await;
}

#[tokio::test]
async fn trusted_proxy_clients_have_separate_limits() {
    let t = limited(&[("http.trusted_proxies", BEHIND_PROXY), ("limits.api_by_ip", "[[3600, 2]]")]).await;
    let anonymous = t.anonymous();
    let call = |header: &'static str, value: &'static str| {
        statuses(1, async || anonymous.get("/server_settings", &[]).header(header, value).await)
    };
    for _ in 0..2 {
        assert_eq!(call("X-Forwarded-For", "203.0.113.1").await, [200]);
    }
    // The same client through another trusted proxy, with a port, and with a forged additional entry.
    for (header, value) in [
        ("X-Forwarded-For", "203.0.113.1"),
        ("X-Forwarded-For", "198.51.100.7, 203.0.113.1, 10.2.3.4"),
        ("X-Forwarded-For", "203.0.113.1:5678"),
        ("Forwarded", "for=198.51.100.7, for=\"203.0.113.1:99\";proto=https"),
    ] {
        assert_eq!(call(header, value).await, [429], "{header}: {value}");
    }
    for other in ["203.0.113.2", "2001:db8::1", "unknown"] {
        assert_eq!(call("X-Forwarded-For", other).await, [200], "{other}");
    }
    // A site with one IPv6 network counts as one client.
    assert_eq!(call("Forwarded", "for=\"[2001:db8::2]\"").await, [200]);
    assert_eq!(call("Forwarded", "for=\"[2001:db8::3]\"").await, [429]);
}

#[tokio::test]
async fn forwarded_header_ignored_from_direct_clients() {
    let t =
        limited(&[("http.trusted_proxies", r#"["10.0.0.1"]"#), ("limits.api_by_ip", "[[3600, 2]]")]).await;
    let anonymous = t.anonymous();
    let mut statuses = Vec::new();
    for address in ["203.0.113.1", "203.0.113.2", "203.0.113.3"] {
        let call = anonymous.get("/server_settings", &[]).header("X-Forwarded-For", address);
        statuses.push(call.header("Forwarded", &format!("for={address}")).await.status);
    }
    assert_eq!(statuses, [200, 200, 429]);
}

#[tokio::test]
async fn login_failure_limit_ignores_wall_clock_changes() {
    let clock = ManualClock::new(Timestamp(1_800_000_000_000));
    let t = TestServer::builder().development().clock(&clock).set("limits.enabled", true).start().await;
    let anonymous = t.anonymous();
    let mut answers = Vec::new();
    for minutes in [0, 1, 1, 1, 1, 6, 6, 6, 6] {
        clock.advance_secs(minutes * 60);
        answers.push(login(&anonymous, "hamlet@zulip.com", "wrong", "").await.status);
    }
    assert_eq!(answers, [401, 401, 401, 401, 401, 429, 429, 429, 429]);
    // The first failure expires in two minutes, whatever the wall clock is set to.
    for shift in [-3600, 7200] {
        clock.shift_wall_secs(shift);
        let answer = login(&anonymous, "hamlet@zulip.com", "wrong", "").await;
        assert_eq!((answer.status, answer.header("Retry-After")), (429, "120.0"));
    }
    clock.advance_secs(120);
    for status in [401, 429] {
        assert_eq!(login(&anonymous, "hamlet@zulip.com", "wrong", "").await.status, status);
    }
}

#[tokio::test]
async fn login_failure_limit_is_per_account() {
    let t = limited(&[]).await;
    let (anonymous, hamlet) = (t.anonymous(), t.user("hamlet"));
    // The artificial address is a name like any other, or its limit would tell whose the real one is.
    let made_up = t.realm().directory().made_up_email(model::UserId(hamlet.id));
    assert_eq!(login(&anonymous, &made_up, "hamlet@zulip.com", "").await.status, 401);
    let names =
        ["hamlet@zulip.com", "HAMLET@zulip.com", "Hamlet@Zulip.Com", "hamlet@ZULIP.com", "hAmlet@zulip.com"];
    for name in names {
        assert_eq!(login(&anonymous, name, "wrong", "").await.status, 401, "{name}");
    }
    for name in names {
        assert_eq!(login(&anonymous, name, "wrong", "").await.status, 429, "{name}");
    }
    for expected in [401, 401, 401, 401, 429] {
        assert_eq!(login(&anonymous, &made_up, "wrong", "").await.status, expected);
    }
    // The current password of a password change counts as the same secret.
    let params: Params<'_> =
        &[("old_password", &"hamlet@zulip.com"), ("new_password", &"correct horse battery")];
    let answer = hamlet.call(Method::PATCH, "/settings", params).await;
    assert!(
        answer.body["msg"].as_str().unwrap().starts_with("You're making too many attempts!"),
        "{answer:?}"
    );
    assert_eq!(login(&anonymous, "iago@zulip.com", "iago@zulip.com", "").await.status, 200);
}

#[tokio::test]
async fn login_failure_limit_across_ips_without_lockout() {
    let t = limited(&[
        ("http.trusted_proxies", BEHIND_PROXY),
        ("limits.authenticate_from_anywhere", "[[1800, 12]]"),
    ])
    .await;
    let (anonymous, hamlet) = (t.anonymous(), t.user("hamlet"));
    let right = "hamlet@zulip.com";
    // A user logs in from one IP address, and uses a client at another.
    assert_eq!(login(&anonymous, right, right, "203.0.113.1").await.status, 200);
    hamlet.get("/users/me", &[]).header("X-Forwarded-For", "203.0.113.2").ok().await;
    let mut guesses = Vec::new();
    for number in 0..16 {
        let address = format!("198.51.100.{number}");
        guesses.push(login(&anonymous, right, "wrong", &address).await.status);
    }
    assert_eq!(guesses, [[401; 12].as_slice(), &[429; 4]].concat());
    // From a new IP address even the correct password is refused now, as it could be a guess.
    assert_eq!(login(&anonymous, right, right, "198.51.100.99").await.status, 429);
    for own in ["203.0.113.1", "203.0.113.2"] {
        assert_eq!(login(&anonymous, right, right, own).await.status, 200, "{own}");
    }
    // An attack does not prevent the user from changing the password.
    let params: Params<'_> = &[("old_password", &right), ("new_password", &"correct horse battery")];
    hamlet.call(Method::PATCH, "/settings", params).header("X-Forwarded-For", "203.0.113.2").ok().await;
    // From a known IP address the limit of five failures still applies.
    let known = statuses(6, || login(&anonymous, right, "wrong", "203.0.113.1")).await;
    assert_eq!(known, [401, 401, 401, 401, 401, 429]);
}

#[tokio::test]
async fn access_log_has_client_ip() {
    let folder = tempfile::tempdir().expect("a folder");
    let environment = [
        ("MILLSTREAM_HTTP_TRUSTED_PROXIES", r#"["127.0.0.1"]"#),
        ("MILLSTREAM_LOG_FILTER", "info"),
        ("MILLSTREAM_LOG_FORMAT", "json"),
    ];
    let data = folder.path().join("data").display().to_string();
    let server = ServerProcess::start(&["serve", "--data", &data, "--listen", "127.0.0.1:0"], &environment);
    let anonymous = server.anonymous();
    anonymous.get("/health", &[]).header("X-Forwarded-For", "1.1.1.1, 203.0.113.77").ok().await;
    let log = server.log.clone();
    server.terminate();
    assert!(server.wait().success());
    let log = log.lock().expect("the lock").clone();
    let line = log.lines().find(|line| line.contains("GET /health")).expect("a line");
    let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(line["address"], "203.0.113.77");
}
