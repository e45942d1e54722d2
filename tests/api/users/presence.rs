//! `POST /users/me/presence`.

use crate::support::shape::{fields, words};
use crate::support::{Params, TestServer, keys};
use serde_json::json;

#[tokio::test]
async fn the_modern_form() {
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
    // Nothing is new since then.
    let update = &body["presence_last_update_id"];
    let params: Params<'_> =
        &[("status", &"idle"), ("ping_only", &false), ("slim_presence", &true), ("last_update_id", update)];
    let body = iago.post("/users/me/presence", params).ok().await;
    let presences = keys(&body["presences"]);
    assert!(presences.iter().all(|id| *id == iago.id.to_string()), "{presences:?}");
}

#[tokio::test]
async fn the_form_of_old_clients() {
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
async fn only_a_sign_of_life() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let body = hamlet.post("/users/me/presence", &[("status", &"idle"), ("ping_only", &true)]).ok().await;
    assert_eq!(fields(&body), [] as [&str; 0]);
}

#[tokio::test]
async fn refusals() {
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
async fn of_somebody_and_of_everybody() {
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
