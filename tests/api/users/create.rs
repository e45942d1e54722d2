//! `POST /users`.

use crate::support::shape::fields;
use crate::support::{Params, TestServer};
use serde_json::json;

#[tokio::test]
async fn create_user_can_log_in_and_has_default_channels() {
    // Only a development server has a user who may create users.
    let t = TestServer::builder().development().start().await;
    let (desdemona, iago) = (t.user("desdemona"), t.user("iago"));
    let params: Params<'_> =
        &[("name", &"welcome"), ("subscribers", &json!([iago.id])), ("is_default_stream", &true)];
    let channel = iago.post("/channels/create", params).ok().await["id"].clone();
    let params: Params<'_> =
        &[("email", &"rosa@zulip.com"), ("password", &"correct horse battery"), ("full_name", &"Rosa")];
    let body = desdemona.post("/users", params).ok().await;
    assert_eq!(fields(&body), ["user_id"]);
    let rosa = t.user("rosa");
    assert_eq!(body["user_id"], rosa.id);
    let subscriptions = rosa.get("/users/me/subscriptions", &[]).ok().await;
    let subscriptions = subscriptions["subscriptions"].as_array().unwrap();
    assert!(subscriptions.iter().any(|one| one["stream_id"] == channel), "{subscriptions:?}");
    let login: Params<'_> = &[("username", &"rosa@zulip.com"), ("password", &"correct horse battery")];
    assert_eq!(t.anonymous().post("/fetch_api_key", login).ok().await["api_key"], json!(rosa.key));
}

#[tokio::test]
async fn create_user_sends_welcome_and_announcement() {
    let t = TestServer::builder().development().start().await;
    let (desdemona, iago) = (t.user("desdemona"), t.user("iago"));
    let news = iago.create_channel("news").await;
    let settings: Params<'_> = &[
        ("signup_announcements_stream_id", &news.id),
        ("welcome_message_custom_text", &"Read **the** rules."),
    ];
    desdemona.patch("/realm", settings).ok().await;
    let params: Params<'_> =
        &[("email", &"rosa@zulip.com"), ("password", &"correct horse battery"), ("full_name", &"Rosa")];
    desdemona.post("/users", params).ok().await;
    let rosa = t.user("rosa");
    let greetings = rosa.messages(json!([["is", "dm"]])).await;
    let said: Vec<_> = greetings.iter().map(|one| (&one["sender_full_name"], &one["content"])).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert_eq!(said[1], (&json!("Welcome Bot"), &json!("<p>Read <strong>the</strong> rules.</p>")));
    let notices = iago.messages(json!([["channel", "news"], ["topic", "signups"]])).await;
    let mention = format!("<span class=\"user-mention silent\" data-user-id=\"{}\">Rosa</span>", rosa.id);
    let expected = format!("<p>{mention} joined this organization.</p>");
    assert_eq!(notices.last().expect("a notice")["content"], expected);
}

#[tokio::test]
async fn create_user_errors() {
    let t = TestServer::builder().development().start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    let full: Params<'_> =
        &[("email", &"rosa@zulip.com"), ("password", &"correct horse battery"), ("full_name", &"Rosa")];
    iago.post("/users", full).bad("User not authorized to create users").await;
    let gate = json!({"msg": "Must be an organization administrator", "code": "UNAUTHORIZED_PRINCIPAL"});
    hamlet.post("/users", full).refused(400, gate).await;
    for name in ["email", "password", "full_name"] {
        let rest: Vec<_> = full.iter().copied().filter(|(other, _)| *other != name).collect();
        let missing = json!({
            "msg": format!("Missing '{name}' argument"), "code": "REQUEST_VARIABLE_MISSING", "var_name": name
        });
        desdemona.post("/users", &rest).refused(400, missing).await;
    }
    let taken: Params<'_> =
        &[("email", &"Hamlet@zulip.com"), ("password", &"correct horse battery"), ("full_name", &"Rosa")];
    let answer = desdemona.post("/users", taken).await;
    let msg = answer.body["msg"].as_str().unwrap().to_lowercase();
    assert_eq!((answer.status, msg.as_str()), (400, "email 'hamlet@zulip.com' already in use"));
    for (name, msg) in [("R", "Name too short!"), ("R*sa", "Invalid characters in name!")] {
        let params: Params<'_> =
            &[("email", &"rosa@zulip.com"), ("password", &"correct horse battery"), ("full_name", &name)];
        desdemona.post("/users", params).bad(msg).await;
    }
    let body = desdemona.get("/users", &[]).ok().await;
    assert!(!body["members"].as_array().unwrap().iter().any(|member| member["full_name"] == "Rosa"));
}
