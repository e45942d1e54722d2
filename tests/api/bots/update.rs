//! `PATCH /bots/{id}`.

use super::{make, shown};
use crate::support::shape::fields;
use crate::support::{Params, TestServer};
use serde_json::{Value, json};

#[tokio::test]
async fn update_bot_fields() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    hamlet.create_channel("Verona").await;
    let (bot, _) = make(&hamlet, "rec", &[]).await;
    let path = format!("/bots/{}", bot.id);
    let params: Params<'_> = &[
        ("full_name", &"Recorder"),
        ("default_sending_stream", &"Verona"),
        ("default_events_register_stream", &"Verona"),
        ("default_all_public_streams", &true),
    ];
    let body = hamlet.patch(&path, params).ok().await;
    assert_eq!(
        fields(&body),
        [
            "avatar_url",
            "bot_owner",
            "config_data",
            "default_all_public_streams",
            "default_events_register_stream",
            "default_sending_stream",
            "full_name",
            "service_interface",
            "service_payload_url"
        ]
    );
    assert_eq!(body["full_name"], "Recorder");
    assert_eq!(body["default_sending_stream"], "Verona");
    assert_eq!(body["bot_owner"], json!(hamlet.api_email));
    // The same value again is no change; an empty channel name clears a default.
    let body = hamlet.patch(&path, &[("full_name", &"Recorder"), ("default_sending_stream", &"")]).ok().await;
    assert_eq!(
        (&body["default_sending_stream"], &body["default_all_public_streams"]),
        (&Value::Null, &json!(true))
    );
    iago.patch(&path, &[("role", &600), ("short_name", &"recorder")]).ok().await;
    let user = iago.get(&format!("/users/{}", bot.id), &[]).ok().await["user"].clone();
    assert_eq!((&user["role"], &user["email"]), (&json!(600), &json!("recorder-bot@zulipdev.com")));
    // Its API key stays valid with the new address.
    let bot = crate::support::TestUser { email: "recorder-bot@zulipdev.com".to_owned(), ..bot };
    bot.get("/users/me", &[]).ok().await;
}

#[tokio::test]
async fn update_bot_owner_and_service() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let (bot, _) = make(&hamlet, "out", &[("bot_type", &3)]).await;
    let path = format!("/bots/{}", bot.id);
    let token = |bot: &Value| bot["services"][0]["token"].clone();
    let before = token(&shown(&hamlet, &bot).await.unwrap());
    let url = json!("http://bots.example.com/new");
    let body = hamlet.patch(&path, &[("service_payload_url", &url), ("service_interface", &2)]).ok().await;
    assert_eq!((&body["service_payload_url"], &body["service_interface"]), (&url, &json!(2)));
    let seen = shown(&hamlet, &bot).await.unwrap();
    assert_eq!((&seen["services"][0]["base_url"], token(&seen)), (&url, before));
    // Only the owner may change the URL; other managers see no token.
    let refusal = "Only the owner of a bot can change its payload URL. Become its owner first.";
    iago.patch(&path, &[("service_payload_url", &url)]).bad(refusal).await;
    assert_eq!(token(&shown(&iago, &bot).await.unwrap()), "");
    let body = hamlet.patch(&path, &[("bot_owner_id", &othello.id)]).ok().await;
    assert_eq!(body["bot_owner"], json!(othello.api_email));
    hamlet.patch(&path, &[("full_name", &"Mine")]).bad("Insufficient permission").await;
    assert!(shown(&hamlet, &bot).await.is_none());
    assert_eq!(shown(&othello, &bot).await.unwrap()["owner_id"], othello.id);
    assert_eq!(shown(&iago, &bot).await.unwrap()["owner_id"], othello.id);
}

#[tokio::test]
async fn update_bot_errors() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet, othello] = t.users(["desdemona", "iago", "hamlet", "othello"]);
    let system = t.realm().directory().users().find(|user| user.is_system_bot()).unwrap().id.0;
    let ghost = t.realm().directory().users().find(|user| !user.is_active).unwrap().id.0;
    let (bot, _) = make(&hamlet, "rec", &[]).await;
    let (other, _) = make(&hamlet, "other", &[]).await;
    let path = format!("/bots/{}", bot.id);
    for id in [hamlet.id, system, 9999] {
        iago.patch(&format!("/bots/{id}"), &[("full_name", &"X Y")]).bad("No such bot").await;
    }
    othello.patch(&path, &[("full_name", &"X Y")]).bad("Insufficient permission").await;
    t.user("polonius").patch(&path, &[]).bad("Not allowed for guest users").await;
    bot.patch(&path, &[]).bad("This endpoint does not accept bot requests.").await;
    let owner_required = json!({"msg": "Must be an organization owner", "code": "UNAUTHORIZED_PRINCIPAL"});
    let administrator_required =
        json!({"msg": "Must be an organization administrator", "code": "UNAUTHORIZED_PRINCIPAL"});
    hamlet.patch(&path, &[("role", &200)]).refused(400, administrator_required).await;
    iago.patch(&path, &[("role", &100)]).refused(400, owner_required).await;
    desdemona
        .patch(&path, &[("role", &100)])
        .bad("The role of a bot cannot be above that of its owner.")
        .await;
    let cases: [(&str, String, &str); 15] = [
        ("role", "7".into(), "Invalid role"),
        ("full_name", "K".into(), "Name too short!"),
        ("full_name", "King Hamlet".into(), "Name is already in use!"),
        ("short_name", "a b".into(), "Bad name or username"),
        ("short_name", "other".into(), "Username already in use"),
        ("bot_owner_id", "9999".into(), "Failed to change owner, no such user"),
        ("bot_owner_id", system.to_string(), "Failed to change owner, no such user"),
        ("bot_owner_id", ghost.to_string(), "Failed to change owner, user is deactivated"),
        ("bot_owner_id", other.id.to_string(), "Failed to change owner, bots can't own other bots"),
        ("default_sending_stream", "nowhere".into(), "Invalid channel name 'nowhere'"),
        ("default_events_register_stream", "nowhere".into(), "Invalid channel name 'nowhere'"),
        ("service_payload_url", "\"x\"".into(), "Invalid service_payload_url: Value error, Not a URL"),
        (
            "service_payload_url",
            "\"http://a.example\"".into(),
            "Only outgoing webhook bots have a payload URL",
        ),
        ("service_interface", "9".into(), "Invalid interface type"),
        ("config_data", "{\"a\": \"b\"}".into(), "Only incoming webhook bots have configuration data"),
    ];
    for (name, value, msg) in cases {
        let answer = hamlet.patch(&path, &[("full_name", &"Changed"), (name, &value)]).await;
        assert_eq!((answer.status, answer.body["msg"].as_str()), (400, Some(msg)), "{name}={value}");
    }
    assert_eq!(shown(&hamlet, &bot).await.unwrap()["full_name"], "rec the bot", "all or nothing");
}

#[tokio::test]
async fn default_channel_that_the_owner_lost_is_hidden() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let plans = iago.create_channel("plans").private().with(&hamlet).await;
    let (bot, body) = make(&hamlet, "helper", &[("default_sending_stream", &"plans")]).await;
    assert_eq!(body["default_sending_stream"], "plans");
    let (names, principals) = (json!(["plans"]), json!([hamlet.id]));
    let params: Params<'_> = &[("subscriptions", &names), ("principals", &principals)];
    iago.delete("/users/me/subscriptions", params).ok().await;
    iago.patch(&format!("/streams/{}", plans.id), &[("new_name", &"surprise")]).ok().await;
    assert_eq!(hamlet.get("/bots", &[]).ok().await["bots"][0]["default_sending_stream"], json!(null));
    assert_eq!(shown(&hamlet, &bot).await.unwrap()["default_sending_stream"], json!(null));
}
