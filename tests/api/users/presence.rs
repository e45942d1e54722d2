//! `POST /users/me/presence`.

use crate::support::shape::{fields, words};
use crate::support::{Params, TestServer, TestUser, keys};
use actors::ManualClock;
use serde_json::{Value, json};

#[tokio::test]
async fn presence_modern_format() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let mut queue = iago.register().modern().events(&["presence"]).await;
    let params: Params<'_> = &[
        ("status", &"active"),
        ("ping_only", &false),
        ("new_user_input", &true),
        ("slim_presence", &true),
        ("last_update_id", &-1),
    ];
    let body = hamlet.post("/users/me/presence", params).ok().await;
    assert_eq!(fields(&body), ["presence_last_update_id", "presences", "server_timestamp"]);
    let mine = &body["presences"][hamlet.id.to_string()];
    assert_eq!(keys(mine), ["active_timestamp", "idle_timestamp"]);
    let now = body["server_timestamp"].as_f64().unwrap();
    assert!((now - mine["active_timestamp"].as_f64().unwrap()).abs() < 60.0);
    let event = queue.next().await;
    assert_eq!(keys(&event), ["id", "presences", "type"]);
    assert_eq!(event["presences"], json!({hamlet.id.to_string(): mine}));
    // Nothing changed since that update.
    let update = &body["presence_last_update_id"];
    let params: Params<'_> =
        &[("status", &"idle"), ("ping_only", &false), ("slim_presence", &true), ("last_update_id", update)];
    let body = iago.post("/users/me/presence", params).ok().await;
    assert_eq!(keys(&body["presences"]), [iago.id.to_string()]);
}

#[tokio::test]
async fn presence_legacy_format() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let mut queue = iago.register().events(&["presence"]).await;
    let params: Params<'_> = &[("status", &"active"), ("ping_only", &false), ("new_user_input", &true)];
    let body = hamlet.post("/users/me/presence", params).ok().await;
    let mine = &body["presences"][&hamlet.api_email];
    assert_eq!(keys(mine), ["aggregated", "website"]);
    assert_eq!(keys(&mine["aggregated"]), ["client", "status", "timestamp"]);
    assert_eq!(keys(&mine["website"]), ["client", "pushable", "status", "timestamp"]);
    assert_eq!(
        (&mine["aggregated"]["client"], &mine["aggregated"]["status"]),
        (&json!("website"), &json!("active"))
    );
    let event = queue.next().await;
    assert_eq!(keys(&event), words("email id presence server_timestamp type user_id"));
    assert_eq!((&event["user_id"], &event["email"]), (&json!(hamlet.id), &json!(hamlet.api_email)));
    let website = &event["presence"]["website"];
    assert_eq!((&website["client"], &website["status"]), (&json!("website"), &json!("active")));
}

#[tokio::test]
async fn presence_ping_only() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let body = hamlet.post("/users/me/presence", &[("status", &"idle"), ("ping_only", &true)]).ok().await;
    assert_eq!(fields(&body), [] as [&str; 0]);
}

#[tokio::test]
async fn presence_errors() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    hamlet.post("/users/me/presence", &[("status", &"sleeping")]).bad("Invalid status: sleeping").await;
    let missing = json!({
        "msg": "Missing 'status' argument", "code": "REQUEST_VARIABLE_MISSING", "var_name": "status"
    });
    hamlet.post("/users/me/presence", &[]).refused(400, missing).await;
    let bot = t.user("default-bot");
    let call = bot.post("/users/me/presence", &[("status", &"active")]);
    call.bad("This endpoint does not accept bot requests.").await;
}

#[tokio::test]
async fn presence_of_one_user_and_of_realm() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    hamlet.post("/users/me/presence", &[("status", &"active"), ("ping_only", &true)]).ok().await;
    for who in [hamlet.id.to_string(), hamlet.api_email.clone()] {
        let body = iago.get(&format!("/users/{who}/presence"), &[]).ok().await;
        assert_eq!(fields(&body), ["presence"]);
        assert_eq!(keys(&body["presence"]), ["aggregated", "website"]);
        assert_eq!(keys(&body["presence"]["aggregated"]), ["status", "timestamp"]);
        assert_eq!(body["presence"]["aggregated"]["status"], "active");
    }
    let body = iago.get("/realm/presence", &[]).ok().await;
    assert_eq!(fields(&body), ["presences", "server_timestamp"]);
    let known = keys(&body["presences"]);
    assert!(
        known.contains(&hamlet.api_email.as_str()) && !known.contains(&othello.api_email.as_str()),
        "{known:?}"
    );
    iago.get("/users/99999/presence", &[]).bad("No such user").await;
    iago.get("/users/nobody@zulip.com/presence", &[]).bad("No such user").await;
    let bot = format!("/users/{}/presence", t.user("default-bot").id);
    iago.get(&bot, &[]).bad("Presence is not supported for bot users.").await;
    let nothing = iago.get(&format!("/users/{}/presence", othello.id), &[]).await;
    assert_eq!((nothing.status, &nothing.body["code"]), (400, &json!("BAD_REQUEST")));
}

/// Reports a user as active; returns the presences in the modern format.
async fn report(who: &TestUser, last_update_id: i64) -> Value {
    let params: Params<'_> =
        &[("status", &"active"), ("slim_presence", &true), ("last_update_id", &last_update_id)];
    who.post("/users/me/presence", params).ok().await
}

#[tokio::test]
async fn presence_update_id_after_restart() {
    let t = TestServer::start().await;
    let before = report(&t.user("hamlet"), -1).await["presence_last_update_id"].as_i64().unwrap();
    let registered = t.user("iago").register().await.state["presence_last_update_id"].as_i64().unwrap();
    assert_eq!(registered, before);
    let t = TestServer::builder().on(t.stop().await).start().await;
    let [iago, cordelia] = t.users(["iago", "cordelia"]);
    report(&cordelia, -1).await;
    let body = report(&iago, before).await;
    assert!(body["presence_last_update_id"].as_i64().unwrap() > before, "{body}");
    assert!(body["presences"].get(cordelia.id.to_string()).is_some(), "{body}");
    // An id that was never returned gives all presences.
    let body = report(&iago, i64::MAX).await;
    assert!(body["presences"].get(cordelia.id.to_string()).is_some(), "{body}");
}

#[tokio::test]
async fn presence_hidden_by_user_setting() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    report(&hamlet, -1).await;
    let mut queue = iago.register().events(&["presence"]).await;
    hamlet.patch("/settings", &[("presence_enabled", &false)]).ok().await;
    let website = queue.next().await["presence"]["website"].clone();
    assert!(website["timestamp"].as_u64().unwrap() + 200 < server_secs(&iago).await, "{website}");
    let path = format!("/users/{}/presence", hamlet.id);
    let aggregated = iago.get(&path, &[]).ok().await["presence"]["aggregated"].clone();
    assert_eq!((&aggregated["status"], &aggregated["timestamp"]), (&json!("offline"), &website["timestamp"]));
    // Activity is hidden until the setting is changed back.
    report(&hamlet, -1).await;
    assert_eq!(iago.get(&path, &[]).ok().await["presence"]["aggregated"], aggregated);
    hamlet.post("/users/me/status", &[("away", &false)]).ok().await;
    assert_eq!(queue.next().await["presence"]["website"]["status"], "active");
    assert_eq!(iago.get(&path, &[]).ok().await["presence"]["aggregated"]["status"], "active");
}

async fn server_secs(who: &TestUser) -> u64 {
    who.get("/realm/presence", &[]).ok().await["server_timestamp"].as_f64().unwrap() as u64
}

#[tokio::test]
async fn presence_disabled_by_realm() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    iago.patch("/realm", &[("presence_disabled", &true)]).ok().await;
    let mut queue = iago.register().events(&["presence"]).await;
    assert_eq!(report(&hamlet, -1).await["presences"], json!({}));
    assert_eq!(iago.get("/realm/presence", &[]).ok().await["presences"], json!({}));
    assert_eq!(iago.register().await.state["presences"], json!({}));
    assert_eq!(queue.now().await, [] as [Value; 0]);
    let nothing = format!("No presence data for {}", hamlet.id);
    iago.get(&format!("/users/{}/presence", hamlet.id), &[]).bad(&nothing).await;
    let nothing = format!("No presence data for {}", hamlet.api_email);
    iago.get(&format!("/users/{}/presence", hamlet.api_email), &[]).bad(&nothing).await;
}

#[tokio::test]
async fn presence_for_restricted_guests() {
    let t = TestServer::start().await;
    let [desdemona, hamlet, polonius] = t.users(["desdemona", "hamlet", "polonius"]);
    let members = t.realm().directory().group_by_name("role:members").expect("a group").id.0;
    desdemona.patch("/realm", &[("can_access_all_users_group", &json!({"new": members}))]).ok().await;
    let mut queue = polonius.register().events(&["presence"]).await;
    report(&hamlet, -1).await;
    assert_eq!(queue.now().await, [] as [Value; 0]);
    let own = json!([polonius.id.to_string()]);
    assert_eq!(json!(keys(&report(&polonius, -1).await["presences"])), own);
    let listed = polonius.get("/realm/presence", &[]).ok().await;
    assert_eq!(keys(&listed["presences"]), [polonius.api_email.as_str()]);
    // The same whether the hidden user is active or not.
    let one = || polonius.get(&format!("/users/{}/presence", hamlet.id), &[]);
    let by_address = || polonius.get(&format!("/users/{}/presence", hamlet.email), &[]);
    one().bad("Insufficient permission").await;
    by_address().bad("No such user").await;
    desdemona.delete(&format!("/users/{}", hamlet.id), &[]).ok().await;
    one().bad("Insufficient permission").await;
    by_address().bad("No such user").await;
}

#[tokio::test]
async fn presence_becomes_idle_and_offline() {
    let clock = ManualClock::new(model::Timestamp(1_700_000_000_000));
    let t = TestServer::builder().clock(&clock).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    report(&hamlet, -1).await;
    let path = format!("/users/{}/presence", hamlet.id);
    clock.advance_secs(200);
    assert_eq!(iago.get(&path, &[]).ok().await["presence"]["aggregated"]["status"], "active");
    clock.advance_secs(1);
    let presence = iago.get(&path, &[]).ok().await["presence"].clone();
    assert_eq!(presence["aggregated"], json!({"status": "offline", "timestamp": 1_700_000_000}));
    assert_eq!(presence["website"]["status"], "active");
    // Older than the requested history, and older than the maximum.
    clock.advance_secs(2 * 24 * 3600);
    for (days, is_listed) in [(1, false), (3, true)] {
        let params: Params<'_> =
            &[("status", &"idle"), ("slim_presence", &true), ("history_limit_days", &days)];
        let body = iago.post("/users/me/presence", params).ok().await;
        assert_eq!(body["presences"].get(hamlet.id.to_string()).is_some(), is_listed, "{days} days");
    }
    clock.advance_secs(13 * 24 * 3600);
    let listed = iago.get("/realm/presence", &[]).ok().await;
    assert!(listed["presences"].get(&hamlet.api_email).is_none(), "{listed}");
}
