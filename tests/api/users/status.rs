//! `/users/me/status` and `/users/{user_id}/status`.

use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

const PATH: &str = "/users/me/status";

async fn shown(who: &TestUser, of: &TestUser) -> Value {
    who.get(&format!("/users/{}/status", of.id), &[]).ok().await["status"].clone()
}

#[tokio::test]
async fn status_partial_update() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    assert_eq!(shown(&iago, &hamlet).await, json!({}));
    let steps: [(Params<'_>, Value); 7] = [
        (
            &[("status_text", &" at lunch "), ("emoji_name", &"car")],
            json!({
                "status_text": "at lunch",
                "emoji_name": "car", "emoji_code": "1f697", "reaction_type": "unicode_emoji",
            }),
        ),
        (&[("emoji_name", &"")], json!({"status_text": "at lunch"})),
        (
            &[("emoji_name", &"zulip"), ("emoji_code", &"zulip"), ("reaction_type", &"zulip_extra_emoji")],
            json!({
                "status_text": "at lunch",
                "emoji_name": "zulip", "emoji_code": "zulip", "reaction_type": "zulip_extra_emoji",
            }),
        ),
        (
            &[("status_text", &"")],
            json!({"emoji_name": "zulip", "emoji_code": "zulip", "reaction_type": "zulip_extra_emoji"}),
        ),
        (&[("emoji_name", &""), ("away", &true)], json!({"away": true})),
        (&[("status_text", &"x".repeat(60))], json!({"away": true, "status_text": "x".repeat(60)})),
        (&[("status_text", &" "), ("away", &false)], json!({})),
    ];
    for (params, expected) in steps {
        hamlet.post(PATH, params).ok().await;
        assert_eq!(shown(&iago, &hamlet).await, expected, "{}", params[0].0);
        let registered = iago.register().await.state["user_status"].clone();
        let everybody =
            if expected == json!({}) { json!({}) } else { json!({hamlet.id.to_string(): expected}) };
        assert_eq!(registered, everybody);
    }
}

#[tokio::test]
async fn status_away_sets_presence_setting() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let setting = || async { hamlet.register().await.state["user_settings"]["presence_enabled"].clone() };
    hamlet.post(PATH, &[("away", &true)]).ok().await;
    assert_eq!(setting().await, false);
    hamlet.post(PATH, &[("away", &true)]).ok().await;
    hamlet.post(PATH, &[("away", &false)]).ok().await;
    assert_eq!(setting().await, true);
}

#[tokio::test]
async fn status_survives_restart() {
    let t = TestServer::start().await;
    t.user("hamlet").post(PATH, &[("status_text", &"here"), ("emoji_name", &"car")]).ok().await;
    let before = t.user("iago").register().await.state["user_status"].clone();
    let t = TestServer::builder().on(t.stop().await).start().await;
    assert_eq!(t.user("iago").register().await.state["user_status"], before);
}

#[tokio::test]
async fn status_set_by_administrator() {
    let t = TestServer::start().await;
    let [iago, hamlet, ghost, bot] = t.users(["iago", "hamlet", "ghost", "default-bot"]);
    let path = |who: &TestUser| format!("/users/{}/status", who.id);
    iago.post(&path(&hamlet), &[("status_text", &"on leave")]).ok().await;
    assert_eq!(shown(&hamlet, &hamlet).await, json!({"status_text": "on leave"}));
    hamlet.post(&path(&iago), &[("status_text", &"x")]).bad("Insufficient permission").await;
    iago.post("/users/99999/status", &[("status_text", &"x")]).bad("No such user").await;
    iago.post(&path(&bot), &[("status_text", &"x")]).bad("No such user").await;
    iago.post(&path(&ghost), &[("status_text", &"x")]).bad("User is deactivated").await;
    iago.post(&path(&hamlet), &[]).bad("Client did not pass any new values.").await;
    iago.get("/users/99999/status", &[]).bad("No such user").await;
    iago.get(&path(&bot), &[]).bad("No such user").await;
    iago.get(&path(&ghost), &[]).bad("User is deactivated").await;
}

#[tokio::test]
async fn status_hidden_from_restricted_guests() {
    let t = TestServer::start().await;
    let [desdemona, hamlet, polonius] = t.users(["desdemona", "hamlet", "polonius"]);
    hamlet.post(PATH, &[("status_text", &"secret")]).ok().await;
    assert_eq!(shown(&polonius, &hamlet).await, json!({"status_text": "secret"}));
    let members = t.realm().directory().group_by_name("role:members").expect("a group").id.0;
    let change = json!({"new": members});
    desdemona.patch("/realm", &[("can_access_all_users_group", &change)]).ok().await;
    polonius.get(&format!("/users/{}/status", hamlet.id), &[]).bad("No such user").await;
    let mut queue = polonius.register().await;
    assert_eq!(queue.state["user_status"], json!({}));
    hamlet.post(PATH, &[("status_text", &"another secret")]).ok().await;
    assert_eq!(queue.now().await, [] as [Value; 0]);
}

#[tokio::test]
async fn status_errors() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let long = "x".repeat(61);
    let cases: [(Params<'_>, &str); 11] = [
        (&[("status_text", &long)], "status_text is too long (limit: 60 characters)"),
        (&[], "Client did not pass any new values."),
        (&[("emoji_code", &"1f697")], "Client did not pass any new values."),
        (
            &[("emoji_code", &"1f697"), ("away", &"false")],
            "Client must pass emoji_name if they pass either emoji_code or reaction_type.",
        ),
        (
            &[("status_text", &"x"), ("reaction_type", &"unicode_emoji")],
            "Client must pass emoji_name if they pass either emoji_code or reaction_type.",
        ),
        (&[("emoji_name", &"no_such_emoji")], "Emoji 'no_such_emoji' does not exist"),
        (&[("emoji_name", &"car"), ("emoji_code", &"1f698")], "Invalid emoji name."),
        (&[("emoji_name", &"car"), ("emoji_code", &"zzz")], "Invalid emoji code."),
        (&[("emoji_name", &"car"), ("reaction_type", &"realm_emoji")], "Invalid custom emoji."),
        (&[("emoji_name", &"car"), ("reaction_type", &"other")], "Invalid emoji type."),
        (&[("away", &"1"), ("status_text", &"x")], "away is not a boolean"),
    ];
    for (params, msg) in cases {
        hamlet.post(PATH, params).bad(msg).await;
    }
    assert_eq!(shown(&hamlet, &hamlet).await, json!({}));
    let bot = t.user("default-bot");
    bot.post(PATH, &[("status_text", &"x")]).bad("This endpoint does not accept bot requests.").await;
}
