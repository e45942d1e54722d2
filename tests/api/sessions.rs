//! Web sessions: the API below `/json`, CSRF tokens, how sessions end and expire (docs/api/sessions.md).

use crate::support::user::Browser;
use crate::support::{ApiResponse, Params, TestServer, TestUser, people, wait_until};
use actors::ManualClock;
use model::{Timestamp, UserId};
use reqwest::Method;
use serde_json::{Value, json};

const NOT_LOGGED_IN: &str = "Not logged in: API authentication or user session required";

fn not_logged_in() -> Value {
    json!({"msg": NOT_LOGGED_IN, "code": "UNAUTHORIZED"})
}

fn csrf_failed(reason: &str) -> Value {
    json!({"msg": format!("CSRF error: {reason}"), "code": "CSRF_FAILED", "reason": reason})
}

async fn is_logged_in(browser: &TestUser) -> bool {
    let answer = browser.get("/users/me", &[]).await;
    match answer.status {
        200 => true,
        _ => {
            assert_eq!(answer.header("WWW-Authenticate"), "");
            answer.refused(401, not_logged_in());
            false
        }
    }
}

/// A request without the headers that [`TestUser`] adds.
async fn ask(
    t: &TestServer,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> ApiResponse {
    let mut call = t.anonymous().bare(method, path);
    for (name, value) in headers {
        call = call.header(name, value);
    }
    if !body.is_empty() {
        call.request = call.request.header("Content-Type", "application/x-www-form-urlencoded");
        call.request = call.request.body(body.to_owned());
    }
    call.await
}

#[tokio::test]
async fn json_is_the_api_with_a_session() {
    let t = TestServer::start().await;
    let (hamlet, browser) = (t.user("hamlet"), t.browser("hamlet").await);
    let channel = hamlet.create_channel("castle").await;
    assert_eq!(browser.get("/users/me", &[]).ok().await, hamlet.get("/users/me", &[]).ok().await);
    let mut queue = browser.register().events(&["message"]).await;
    let id = browser.send(&channel, "t", "from a browser").await;
    assert_eq!(queue.next().await["message"]["id"], id);
    // What a person sends from a browser is read by that person, whatever the browser calls itself.
    let message = browser.messages(json!([])).await.pop().expect("a message");
    assert_eq!((&message["client"], &message["flags"]), (&json!("website"), &json!(["read"])));
    for (agent, client) in [("ZulipElectron/5.11 Chrome", "ZulipElectron"), ("Mozilla/5.0 (X11)", "website")]
    {
        let params: Params<'_> = &[
            ("type", &"stream"),
            ("to", &"castle"),
            ("topic", &"t"),
            ("content", &agent),
            ("client", &agent),
        ];
        browser.post("/messages", &params[..4]).header("User-Agent", agent).ok().await;
        let sent = browser.messages(json!([])).await;
        assert_eq!(sent.last().unwrap()["client"], client);
    }
    browser.patch(&format!("/messages/{id}"), &[("content", &"edited")]).ok().await;
    browser.post("/messages", &[("method", &"GET")]).await;
}

#[tokio::test]
async fn keys_and_sessions_are_not_exchangeable() {
    let t = TestServer::start().await;
    let hamlet = t.with_session(&t.user("hamlet")).await;
    let browser = hamlet.browser.clone().unwrap();
    let key = hamlet.authorization();
    let cookie = browser.cookie();
    for (path, headers, status) in [
        ("/json/users/me", vec![("Authorization", key.as_str())], 401),
        ("/json/users/me", vec![("Cookie", cookie.as_str())], 200),
        ("/json/users/me", vec![("Cookie", "sessionid=")], 401),
        ("/json/users/me", vec![("Cookie", "__Host-sessionid=x")], 401),
        ("/json/users/me", vec![], 401),
        ("/avatar/8", vec![("Cookie", cookie.as_str())], 302),
        ("/avatar/8", vec![("Authorization", key.as_str())], 302),
        ("/avatar/8", vec![], 401),
        // Logins of programs are not offered to browsers.
        ("/json/server_settings", vec![("Cookie", cookie.as_str())], 404),
        ("/json/dev_list_users", vec![("Cookie", cookie.as_str())], 404),
        ("/json/health", vec![], 404),
    ] {
        assert_eq!(ask(&t, Method::GET, path, &headers, "").await.status, status, "{path} {headers:?}");
    }
    let api = t.anonymous().bare(Method::GET, "/users/me").header("Cookie", &cookie).await;
    assert_eq!((api.status, api.header("WWW-Authenticate")), (401, "Basic realm=\"zulip\""));
    // Pages of other origins may not read what is for browsers.
    let own = ask(&t, Method::GET, "/json/users/me", &[("Cookie", &cookie)], "").await;
    assert_eq!(own.header("Access-Control-Allow-Origin"), "");
}

#[tokio::test]
async fn csrf_token_is_required_and_belongs_to_the_session() {
    let t = TestServer::start().await;
    let hamlet = t.browser("hamlet").await.browser.unwrap();
    let other = t.browser("hamlet").await.browser.unwrap();
    let path = "/json/users/me/status";
    let cookie = hamlet.cookie();
    let header = "CSRF token from the 'X-Csrftoken' HTTP header incorrect.";
    let both = format!("{cookie}; csrftoken={}", other.csrf_token);
    let half = &hamlet.csrf_token[..20];
    for (cookie, token, reason) in [
        (&cookie, None, "CSRF token missing."),
        (&cookie, Some(""), header),
        (&cookie, Some(half), header),
        (&cookie, Some(other.csrf_token.as_str()), header),
        // A token that another person put into the cookie is worth nothing.
        (&both, Some(other.csrf_token.as_str()), header),
    ] {
        let headers: Vec<(&str, &str)> =
            [Some(("Cookie", cookie.as_str())), token.map(|token| ("X-CSRFToken", token))]
                .into_iter()
                .flatten()
                .collect();
        ask(&t, Method::POST, path, &headers, "status_text=x").await.refused(403, csrf_failed(reason));
    }
    let form = |token: &str| format!("status_text=x&csrfmiddlewaretoken={token}");
    let own = [("Cookie", cookie.as_str())];
    let wrong = ask(&t, Method::POST, path, &own, &form(&other.csrf_token)).await;
    wrong.refused(403, csrf_failed("CSRF token from POST incorrect."));
    let sent = ask(&t, Method::POST, path, &own, &form(&hamlet.csrf_token)).await;
    assert_eq!(sent.ok().get("ignored_parameters_unsupported"), None);
    // Every method but GET and HEAD, also when it is named in the body.
    for method in [Method::PUT, Method::PATCH, Method::DELETE, Method::POST] {
        let answer = ask(&t, method, "/json/settings", &own, "method=PATCH&enter_sends=true").await;
        assert!([403, 405].contains(&answer.status), "{answer:?}");
    }
    assert_eq!(ask(&t, Method::POST, "/json/users/me", &own, "method=GET").await.status, 403);
    assert_eq!(ask(&t, Method::HEAD, "/json/users/me", &own, "").await.status, 200);
    // The API key needs none.
    t.user("hamlet").post("/users/me/status", &[("status_text", &"y")]).ok().await;
}

#[tokio::test]
async fn requests_of_other_origins_are_refused() {
    let t = TestServer::start().await;
    let hamlet = t.browser("hamlet").await.browser.unwrap();
    let cookie = hamlet.cookie();
    let from = |origin: &str| {
        let headers = [
            ("Cookie", cookie.clone()),
            ("X-CSRFToken", hamlet.csrf_token.clone()),
            ("Origin", origin.to_owned()),
        ];
        let t = &t;
        async move {
            let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
            ask(t, Method::POST, "/json/users/me/status", &headers, "status_text=x").await
        }
    };
    from(&t.url).await.ok();
    for origin in ["https://evil.example", "null", "http://localhost:1", ""] {
        let reason = format!("Origin checking failed - {origin} does not match any trusted origins.");
        from(origin).await.refused(403, csrf_failed(&reason));
    }
}

#[tokio::test]
async fn sessions_are_listed_and_ended_by_their_user() {
    let t = TestServer::start().await;
    let [first, second, third] =
        [t.browser("hamlet").await, t.browser("hamlet").await, t.browser("hamlet").await];
    let iago = t.browser("iago").await;
    let list = first.get("/users/me/sessions", &[]).ok().await;
    let sessions = list["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 3);
    let current: Vec<&Value> = sessions.iter().filter(|session| session["is_current"] == true).collect();
    assert!(current.len() == 1 && current[0]["device"] == "test browser", "{list}");
    let text = list.to_string();
    assert!(!text.contains(&first.browser.as_ref().unwrap().secret), "the secret is in no response");
    // With a key, none is the current one; and foreign sessions do not exist.
    let by_key = t.user("hamlet").get("/users/me/sessions", &[]).ok().await;
    assert!(by_key["sessions"].as_array().unwrap().iter().all(|session| session["is_current"] == false));
    let theirs = iago.get("/users/me/sessions", &[]).ok().await["sessions"][0]["id"].clone();
    first
        .delete(&format!("/users/me/sessions/{}", theirs.as_str().unwrap()), &[])
        .bad("No such session")
        .await;
    let seen = second.get("/users/me/sessions", &[]).ok().await;
    let own = seen["sessions"].as_array().unwrap().iter().find(|session| session["is_current"] == true);
    let name = own.unwrap()["id"].as_str().unwrap().to_owned();
    first.delete(&format!("/users/me/sessions/{name}"), &[]).ok().await;
    assert!(!is_logged_in(&second).await && is_logged_in(&third).await);
    first.delete("/users/me/sessions", &[]).ok().await;
    assert!(is_logged_in(&first).await && !is_logged_in(&third).await && is_logged_in(&iago).await);
    t.user("hamlet").delete("/users/me/sessions", &[]).ok().await;
    assert!(!is_logged_in(&first).await);
}

#[tokio::test]
async fn owners_and_deactivation_end_sessions() {
    let t = TestServer::start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let browser = t.browser("hamlet").await;
    desdemona.delete(&format!("/users/{}/sessions", hamlet.id), &[]).ok().await;
    assert!(!is_logged_in(&browser).await);
    desdemona.delete("/users/99999/sessions", &[]).bad("No such user").await;
    let browser = t.browser("hamlet").await;
    desdemona.delete(&format!("/users/{}", hamlet.id), &[]).ok().await;
    assert!(!is_logged_in(&browser).await);
    desdemona.post(&format!("/users/{}/reactivate", hamlet.id), &[]).ok().await;
    assert!(!is_logged_in(&browser).await, "a session does not come back");
    let browser = t.browser("hamlet").await;
    desdemona.post("/realm/deactivate", &[]).ok().await;
    assert_eq!(t.realm().directory().web_sessions().count(), 0);
    assert_eq!(browser.get("/users/me", &[]).await.status, 401);
}

#[tokio::test]
async fn poll_of_an_ended_session_gets_nothing() {
    let t = TestServer::start().await;
    let [desdemona, iago] = t.users(["desdemona", "iago"]);
    let browser = t.browser("hamlet").await;
    let channel = iago.create_channel("castle").with(&t.user("hamlet")).await;
    let queue = browser.register().events(&["message"]).await;
    let poll = t.hold_poll(&queue).await;
    desdemona.delete(&format!("/users/{}/sessions", browser.id), &[]).ok().await;
    iago.send(&channel, "t", "secret").await;
    poll.await.unwrap().refused(401, not_logged_in());
}

#[tokio::test]
async fn sessions_of_a_user_are_bounded() {
    // Logins of the same millisecond have no order.
    let clock = ManualClock::new(Timestamp(1_800_000_000_000));
    let t = TestServer::builder().clock(&clock).set("sessions.per_user_max", 2).start().await;
    let first = t.browser("hamlet").await;
    let iago = t.browser("iago").await;
    clock.advance_secs(1);
    let second = t.browser("hamlet").await;
    assert!(is_logged_in(&first).await && is_logged_in(&second).await);
    clock.advance_secs(1);
    let third = t.browser("hamlet").await;
    assert!(!is_logged_in(&first).await && is_logged_in(&second).await && is_logged_in(&third).await);
    assert!(is_logged_in(&iago).await);
}

#[tokio::test]
async fn unused_sessions_expire_and_used_ones_at_last() {
    let clock = ManualClock::new(Timestamp(1_800_000_000_000));
    let t = TestServer::builder().clock(&clock).start().await;
    let (idle, used) = (t.browser("hamlet").await, t.browser("hamlet").await);
    const DAY_SECS: u64 = 24 * 3600;
    for _ in 0..8 {
        clock.advance_secs(10 * DAY_SECS);
        let answer = used.get("/users/me", &[]).await;
        // The browser keeps the cookies for longer, too.
        let cookies: Vec<&str> =
            answer.headers.get_all("Set-Cookie").iter().map(|line| line.to_str().unwrap()).collect();
        assert!(cookies.len() == 2 && cookies[0].starts_with("sessionid="), "{cookies:?}");
        answer.ok();
        let now = t.realm().now();
        let is_recorded = || {
            let directory = t.realm().directory();
            directory.web_sessions_of(UserId(used.id)).any(|(_, session)| session.used == now)
        };
        wait_until("the use is recorded", is_recorded).await;
        assert_eq!(used.get("/users/me", &[]).await.header("Set-Cookie"), "", "at most once an hour");
    }
    assert!(!is_logged_in(&idle).await, "it was not used for two weeks");
    clock.advance_secs(11 * DAY_SECS);
    assert!(!is_logged_in(&used).await, "90 days are over");
}

#[tokio::test]
async fn sessions_survive_a_restart() {
    let t = TestServer::start().await;
    let browser = t.browser("hamlet").await;
    let ended = t.browser("iago").await;
    ended.delete("/users/me/sessions", &[]).ok().await;
    t.user("iago").delete("/users/me/sessions", &[]).ok().await;
    let folder = t.stop().await;
    let t = TestServer::builder().on(folder).start().await;
    let again = |person: &TestUser| TestUser { url: t.url.clone(), ..person.clone() };
    assert!(is_logged_in(&again(&browser)).await && !is_logged_in(&again(&ended)).await);
    again(&browser).post("/users/me/status", &[("status_text", &"back")]).ok().await;
}

#[tokio::test]
async fn api_key_of_the_session_for_its_password() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.browser("hamlet").await;
    hamlet.post("/json/fetch_api_key", &[("password", &"wrong")]).bad("Password is incorrect.").await;
    let body = hamlet.post("/json/fetch_api_key", &[("password", &"hamlet@zulip.com")]).ok().await;
    let expected =
        json!({"result": "success", "msg": "", "email": "hamlet@zulip.com", "api_key": t.user("hamlet").key});
    assert_eq!(body, expected);
    let anonymous = TestUser { browser: Some(Browser::default()), ..t.anonymous() };
    anonymous.post("/json/fetch_api_key", &[("password", &"x")]).refused(401, not_logged_in()).await;
}

#[tokio::test]
async fn new_password_ends_the_other_sessions() {
    let t = TestServer::builder().development().start().await;
    let (own, other) = (t.browser("hamlet").await, t.browser("hamlet").await);
    let params: Params<'_> =
        &[("old_password", &"hamlet@zulip.com"), ("new_password", &"purple elephant staircase")];
    own.patch("/settings", params).ok().await;
    assert!(is_logged_in(&own).await && !is_logged_in(&other).await);
}

#[tokio::test]
async fn session_of_another_organization_is_none() {
    let t = TestServer::start().await;
    let acme = people::create_second(t.server(), "acme").await;
    let olga = t.with_session_of(&acme, &t.user_of(&acme, "olga")).await;
    let olga = TestUser { key: String::new(), ..olga };
    assert!(!is_logged_in(&olga).await);
    olga.get("/users/me", &[]).header("Host", "acme.localhost").ok().await;
}
