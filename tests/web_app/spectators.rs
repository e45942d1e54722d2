//! Spectators without an account: the page of the app, and what they may read of each kind of channel.

use super::page::{Visit, check_fields, server};
use crate::support::{Channel, TestServer, TestUser};
use reqwest::Method;
use serde_json::{Value, json};

/// The organization shows its web-public channels.
async fn open(t: &TestServer, allows: bool) {
    t.user("desdemona").patch("/realm", &[("enable_spectator_access", &allows)]).ok().await;
}

/// What the app sends at its start without an account.
async fn register(t: &TestServer, fields: &[(&str, &str)]) -> crate::support::ApiResponse {
    let capabilities = json!({"notification_settings_null": true, "user_settings_object": true,
        "linkifier_url_template": true, "archived_channels": true, "include_deactivated_groups": true});
    let capabilities = capabilities.to_string();
    let mut params: Vec<crate::support::Param<'_>> =
        vec![("apply_markdown", &"true"), ("client_capabilities", &capabilities)];
    params.extend(fields.iter().map(|(name, value)| (*name, value as _)));
    let call = t.anonymous().post("/json/register", &params);
    call.header("Cookie", "csrftoken=abc").header("X-CSRFToken", "abc").await
}

#[tokio::test]
async fn page_of_visitors_starts_the_app() {
    let t = server().await;
    let mut visit = Visit::new(&t);
    let page = visit.get("/").await;
    assert_eq!(page.status, 200, "{}", page.text);
    let params = page.params();
    let expected = [
        ("is_spectator", json!(true)),
        ("no_event_queue", json!(true)),
        ("state_data", Value::Null),
        ("language_cookie_name", json!("django_language")),
        ("login_page", json!("/login/")),
        ("request_language", json!("en")),
    ];
    for (name, value) in expected {
        assert_eq!(params[name], value, "{name}");
    }
    for line in include_str!("fields.txt").lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(' ').next().expect("a name");
        assert!(params.get(name).is_some(), "{name} is missing");
    }
    assert!(page.header("content-security-policy").contains("script-src 'self' 'nonce-"));
    assert!(!page.token().is_empty());
    // The token of the page is accepted by the call that the app makes next.
    let token = page.token();
    assert_eq!(visit.cookies["csrftoken"], token);
    // The language is the one that the spectator chose in the app.
    visit.cookies.insert("django_language".into(), "de".into());
    let params = visit.get("/").await.params();
    assert_eq!(params["request_language"], "de");
    // A session that has ended is that of a spectator.
    visit.cookies.insert("sessionid".into(), "x".repeat(43));
    assert_eq!(visit.get("/").await.params()["is_spectator"], true);
    // An old desktop app gets no page.
    visit.user_agent = "ZulipElectron/5.0.0 Mozilla/5.0";
    assert_eq!(visit.get("/").await.status, 403);
}

#[tokio::test]
async fn page_needs_a_web_public_channel_and_the_setting() {
    let t = server().await;
    open(&t, false).await;
    assert_eq!(Visit::new(&t).get("/").await.status, 302);
    assert_eq!(register(&t, &[]).await.status, 401);
    open(&t, true).await;
    assert_eq!(Visit::new(&t).get("/").await.status, 200);
    let desdemona = t.user("desdemona");
    let square = t.realm().directory().channel_by_name("town square").expect("a channel").id;
    desdemona.delete(&format!("/streams/{square}"), &[]).ok().await;
    assert_eq!(Visit::new(&t).get("/").await.status, 302);
    assert_eq!(register(&t, &[]).await.status, 401);
}

#[tokio::test]
async fn state_of_visitors_is_what_the_app_validates() {
    let t = server().await;
    let state = register(&t, &[]).await.ok();
    let mut with_queue = state.clone();
    with_queue["queue_id"] = json!("none, which the app allows");
    check_fields(&with_queue, include_str!("state_fields.txt"));
    assert_eq!((&state["queue_id"], &state["last_event_id"]), (&Value::Null, &json!(-1)));
    assert_eq!((&state["user_id"], &state["is_guest"]), (&json!(0), &json!(true)));
    assert_eq!((&state["max_message_id"], &state["presence_last_update_id"]), (&json!(-1), &json!(-1)));
    assert!(state.get("streams").is_none());
    let own = [
        "unsubscribed",
        "never_subscribed",
        "drafts",
        "scheduled_messages",
        "reminders",
        "saved_snippets",
        "alert_words",
        "user_topics",
        "muted_users",
        "starred_messages",
        "recent_private_conversations",
        "realm_default_streams",
        "realm_bots",
        "custom_profile_fields",
        "onboarding_steps",
        "navigation_views",
    ];
    for name in own {
        assert_eq!(state[name], json!([]), "{name}");
    }
    for name in ["presences", "user_status"] {
        assert_eq!(state[name], json!({}), "{name}");
    }
    let [channel] = state["subscriptions"].as_array().expect("a list").as_slice() else { panic!("{state}") };
    assert_eq!((&channel["name"], &channel["color"]), (&json!("town square"), &json!("#c2c2c2")));
    assert!(channel.get("subscribers").is_none() && channel["is_muted"] == false);
    let folders = state["channel_folders"].as_array().expect("a list");
    assert_eq!(folders.len(), 1);
    for group in state["realm_user_groups"].as_array().expect("a list") {
        assert_eq!(group["is_system_group"], true);
    }
    for user in state["realm_users"].as_array().expect("a list") {
        // Addresses of bots are visible to all.
        assert!(user["is_bot"] == true || user["delivery_email"].is_null(), "{user}");
        assert!(user.get("profile_data").is_none(), "{user}");
    }
    assert!(!state.to_string().contains("hamlet@zulip.com"), "addresses are not shown");
    let refused = register(&t, &[("client_gravatar", "true")]).await;
    assert_eq!(refused.body["msg"], "Invalid 'client_gravatar' parameter for anonymous request");
    let refused = register(&t, &[("include_subscribers", "true")]).await;
    assert_eq!(refused.body["msg"], "Invalid 'include_subscribers' parameter for anonymous request");
    // Without the token of a page.
    let forged = t.anonymous().post("/json/register", &[]).await;
    assert_eq!((forged.status, &forged.body["code"]), (403, &json!("CSRF_FAILED")));
}

/// A channel of each kind with a message, and the channel that spectators may read.
async fn channels(t: &TestServer) -> (Vec<(Channel, u64)>, (Channel, u64)) {
    let desdemona = t.user("desdemona");
    let mut hidden = Vec::new();
    for (name, builder) in [
        ("public one", desdemona.create_channel("public one")),
        ("private shared", desdemona.create_channel("private shared").shared_history()),
        ("private protected", desdemona.create_channel("private protected").protected_history()),
        ("archived one", desdemona.create_channel("archived one").set("is_web_public", json!(true))),
        ("closed again", desdemona.create_channel("closed again").set("is_web_public", json!(true))),
    ] {
        let channel = builder.await;
        let id = desdemona.send(&channel, "secret topic", &format!("secret of {name}")).await;
        hidden.push((channel, id));
    }
    desdemona.delete(&format!("/streams/{}", hidden[3].0.id), &[]).ok().await;
    let closed = format!("/streams/{}", hidden[4].0.id);
    desdemona.patch(&closed, &[("is_web_public", &false), ("is_private", &false)]).ok().await;
    let shown = desdemona.create_channel("window").set("is_web_public", json!(true)).await;
    let id = desdemona.send(&shown, "open topic", "hello world").await;
    (hidden, (shown, id))
}

fn narrow(terms: &[(&str, Value)]) -> Value {
    let all = [("channels", json!("web-public"))].into_iter().chain(terms.iter().cloned());
    all.map(|(operator, operand)| json!({"operator": operator, "operand": operand})).collect()
}

async fn fetch(spectator: &TestUser, narrow: &Value) -> crate::support::ApiResponse {
    spectator
        .get(
            "/json/messages",
            &[("anchor", &"newest"), ("num_before", &1000), ("num_after", &0), ("narrow", narrow)],
        )
        .await
}

#[tokio::test]
async fn spectators_read_web_public_channels_and_nothing_else() {
    let t = server().await;
    let (hidden, (shown, message)) = channels(&t).await;
    let spectator = t.anonymous();
    let desdemona = t.user("desdemona");
    let direct = desdemona.send_direct(&[&t.user("iago")], "secret of two").await;

    let found = fetch(&spectator, &narrow(&[("channel", json!(shown.id))])).await.ok();
    assert_eq!(found["messages"][1]["content"], "<p>hello world</p>");
    assert_eq!(found["messages"].as_array().map(Vec::len), Some(2), "with the notice of the new channel");
    for terms in [vec![], vec![("search", json!("secret"))], vec![("sender", json!(desdemona.id))]] {
        let found = fetch(&spectator, &narrow(&terms)).await.ok();
        assert!(!found.to_string().contains("secret of"), "{found}");
    }
    let one = spectator.get(&format!("/json/messages/{message}"), &[]).await.ok();
    assert_eq!(one["message"]["content"], "<p>hello world</p>");
    let everyone: crate::support::Params<'_> = &[("email_address_visibility", &1)];
    desdemona.patch("/settings", everyone).ok().await;
    let shown_again = spectator.get(&format!("/json/messages/{message}"), &[]).await.ok();
    assert!(!shown_again.to_string().contains("desdemona@zulip.com"), "{shown_again}");
    let by_address = fetch(&spectator, &narrow(&[("sender", json!("desdemona@zulip.com"))])).await;
    assert_eq!(by_address.status, 400);
    let topics = spectator.get(&format!("/json/users/me/{}/topics", shown.id), &[]).await.ok();
    assert!(topics.to_string().contains("open topic"), "{topics}");

    let all: Vec<u64> = hidden.iter().map(|(_, id)| *id).chain([direct, message]).collect();
    let ids = json!(all);
    let params: crate::support::Params<'_> = &[("message_ids", &ids), ("narrow", &narrow(&[]))];
    let found = spectator.get("/json/messages", params).await.ok();
    assert_eq!(found["messages"].as_array().map(Vec::len), Some(1), "{found}");
    let state = register(&t, &[]).await.ok().to_string();
    for (channel, id) in &hidden {
        let name = &channel.name;
        let answer = fetch(&spectator, &narrow(&[("channel", json!(channel.id))])).await;
        assert_eq!((answer.status, &answer.body["code"]), (400, &json!("BAD_NARROW")), "{name}");
        let with = fetch(&spectator, &narrow(&[("with", json!(id))])).await;
        assert_eq!(with.status, 400, "{name}");
        let near = fetch(&spectator, &narrow(&[("id", json!(id))])).await.ok();
        assert_eq!(near["messages"], json!([]), "{name}");
        for path in [format!("/json/messages/{id}"), format!("/json/users/me/{}/topics", channel.id)] {
            let answer = spectator.get(&path, &[]).await;
            assert_eq!((answer.status, &answer.body["code"]), (401, &json!("UNAUTHORIZED")), "{path}");
            assert_eq!(answer.header("WWW-Authenticate"), "", "{path}");
        }
        assert!(!state.contains(name.as_str()), "{name}");
    }
    assert_eq!(spectator.get(&format!("/json/messages/{direct}"), &[]).await.status, 401);
}

#[tokio::test]
async fn spectators_need_the_narrow_and_cannot_do_anything() {
    let t = server().await;
    let (_, (shown, message)) = channels(&t).await;
    let spectator = t.anonymous();
    let web = json!({"operator": "channels", "operand": "web-public"});
    for narrow in [
        json!([]),
        json!([{"operator": "channel", "operand": shown.id}]),
        json!([{"operator": "channels", "operand": "web-public", "negated": true}]),
        json!([web, {"operator": "is", "operand": "starred"}]),
        json!([web, {"operator": "dm", "operand": "iago@zulip.com"}]),
        json!([web, {"operator": "channels", "operand": "public"}, {"operator": "is", "operand": "dm"}]),
    ] {
        assert_eq!(fetch(&spectator, &narrow).await.status, 401, "{narrow}");
    }
    // What is in another set of channels is not shown either.
    let public = narrow(&[("channels", json!("public"))]);
    let found = fetch(&spectator, &public).await.ok();
    assert!(!found.to_string().contains("secret of"), "{found}");
    let params: crate::support::Params<'_> =
        &[("type", &"stream"), ("to", &shown.id), ("topic", &"t"), ("content", &"x")];
    for (method, path) in [
        (Method::POST, "/json/messages".to_owned()),
        (Method::PATCH, format!("/json/messages/{message}")),
        (Method::GET, "/json/events".to_owned()),
        (Method::GET, "/json/users/me".to_owned()),
        (Method::GET, "/json/streams".to_owned()),
        (Method::GET, format!("/json/streams/{}/members", shown.id)),
        (Method::GET, format!("/json/messages/{message}/history")),
        (Method::GET, format!("/json/messages/{message}/read_receipts")),
        (Method::GET, "/json/realm/presence".to_owned()),
    ] {
        let call = spectator.call(method, &path, params);
        let answer = call.header("Cookie", "csrftoken=abc").header("X-CSRFToken", "abc").await;
        assert_eq!(answer.status, 401, "{path}: {answer:?}");
    }
    open(&t, false).await;
    assert_eq!(fetch(&spectator, &narrow(&[])).await.status, 401);
    assert_eq!(spectator.get(&format!("/json/messages/{message}"), &[]).await.status, 401);
    assert_eq!(spectator.get(&format!("/json/users/me/{}/topics", shown.id), &[]).await.status, 401);
    assert_eq!(spectator.get("/json/users", &[]).await.status, 401);
    assert_eq!(spectator.get("/avatar/10", &[]).await.status, 401);
}

#[tokio::test]
async fn spectators_see_people_and_pictures() {
    let t = server().await;
    let spectator = t.anonymous();
    let users = spectator.get("/json/users", &[]).await.ok();
    assert!(users["members"].as_array().is_some_and(|all| all.len() > 5));
    assert_eq!(spectator.get("/avatar/10", &[]).await.status, 302);
    let state = register(&t, &[]).await.ok();
    for name in ["avatar_url", "avatar_url_medium", "realm_icon_url"] {
        let path = state[name].as_str().expect("a path");
        assert_eq!(spectator.fetch(path).await.0, 200, "{name}: {path}");
    }
}
