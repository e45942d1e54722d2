//! Events for every change of profiles and personal lists: recipients, and completeness of the change.

use super::each_type::kinds;
use super::verify;
use super::verify::Seen;
use crate::support::{Params, TestServer};
use serde_json::{Value, json};

const ALL: [&str; 4] = ["iago", "hamlet", "othello", "polonius"];

/// An event without its id and type.
fn without_id(seen: &Seen, name: &str, position: usize) -> Value {
    let mut event = seen[name][position].clone();
    let fields = event.as_object_mut().expect("an event");
    fields.remove("id");
    fields.remove("type");
    event
}

#[tokio::test]
async fn profile_and_status_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let seen = verify(&t, &ALL, async {
        let set = |params: Params<'_>| hamlet.post("/users/me/status", params);
        set(&[("status_text", &"on vacation"), ("emoji_name", &"car")]).ok().await;
        set(&[("status_text", &"back soon")]).ok().await;
        set(&[("emoji_name", &"")]).ok().await;
        set(&[("away", &true)]).ok().await;
        set(&[("away", &true), ("status_text", &"")]).ok().await;
        iago.post(&format!("/users/{}/status", hamlet.id), &[("status_text", &"busy")]).ok().await;
    })
    .await;
    let user = hamlet.id;
    for name in ["iago", "polonius"] {
        assert_eq!(kinds(&seen, name), ["user_status"; 6], "{name}");
    }
    let no_emoji =
        json!({"emoji_name": "", "emoji_code": "", "reaction_type": "unicode_emoji", "user_id": user});
    for (position, expected) in [
        json!({
            "user_id": user, "status_text": "on vacation",
            "emoji_name": "car", "emoji_code": "1f697", "reaction_type": "unicode_emoji",
        }),
        json!({"user_id": user, "status_text": "back soon"}),
        no_emoji,
        json!({"user_id": user, "away": true}),
        json!({"user_id": user, "away": true, "status_text": ""}),
        json!({"user_id": user, "status_text": "busy"}),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(without_id(&seen, "iago", position), expected);
    }
    let own = kinds(&seen, "hamlet");
    assert_eq!(own.iter().filter(|kind| *kind == "user_settings update").count(), 1, "{own:?}");
}

#[tokio::test]
async fn hidden_presence_events() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let seen = verify(&t, &ALL, async {
        hamlet.patch("/settings", &[("presence_enabled", &false)]).ok().await;
        hamlet.patch("/settings", &[("presence_enabled", &true)]).ok().await;
    })
    .await;
    assert_eq!(without_id(&seen, "othello", 0), json!({"user_id": hamlet.id, "away": true}));
    assert_eq!(without_id(&seen, "othello", 1), json!({"user_id": hamlet.id, "away": false}));
    // He was not visible before, so hiding sends no event; now he becomes visible.
    assert_eq!(kinds(&seen, "othello"), ["user_status", "user_status", "presence"]);
}

#[tokio::test]
async fn muted_user_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    iago.send(&channel, "t", "unread").await;
    let path = format!("/users/me/muted_users/{}", iago.id);
    let seen = verify(&t, &ALL, async {
        hamlet.post(&path, &[]).ok().await;
        iago.send(&channel, "t", "read at once").await;
        hamlet.delete(&path, &[]).ok().await;
        iago.send(&channel, "t", "unread again").await;
    })
    .await;
    let expected = ["muted_users", "update_message_flags add", "message", "muted_users", "message"];
    assert_eq!(kinds(&seen, "hamlet"), expected);
    assert_eq!(seen["hamlet"][0]["muted_users"][0]["id"], iago.id);
    assert_eq!(seen["hamlet"][2]["flags"], json!(["read"]));
    assert_eq!(seen["hamlet"][3]["muted_users"], json!([]));
    assert_eq!(seen["hamlet"][4]["flags"], json!([]));
    // No other user gets an event.
    assert_eq!(kinds(&seen, "iago"), ["message", "message"]);
    assert_eq!(kinds(&seen, "othello"), [] as [&str; 0]);
}

#[tokio::test]
async fn navigation_view_events() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let seen = verify(&t, &ALL, async {
        let custom: Params<'_> =
            &[("fragment", &"narrow/is/dm/near/1"), ("is_pinned", &true), ("name", &"Direct")];
        hamlet.post("/navigation_views", custom).ok().await;
        hamlet.post("/navigation_views", &[("fragment", &"inbox"), ("is_pinned", &false)]).ok().await;
        hamlet.patch("/navigation_views/narrow%2Fis%2Fdm%2Fnear%2F1", &[("name", &"Talks")]).ok().await;
        hamlet.patch("/navigation_views/inbox", &[("is_pinned", &true)]).ok().await;
        hamlet.delete("/navigation_views/narrow/is/dm/near/1", &[]).ok().await;
    })
    .await;
    let expected = ["add", "add", "update", "update", "remove"].map(|op| format!("navigation_view {op}"));
    assert_eq!(kinds(&seen, "hamlet"), expected);
    let view = json!({"fragment": "narrow/is/dm/near/1", "is_pinned": true, "name": "Direct"});
    assert_eq!(seen["hamlet"][0]["navigation_view"], view);
    assert_eq!(seen["hamlet"][1]["navigation_view"]["name"], json!(null));
    assert_eq!(seen["hamlet"][2]["data"], json!({"name": "Talks"}));
    assert_eq!(seen["hamlet"][3]["data"], json!({"is_pinned": true}));
    assert_eq!(seen["hamlet"][4]["fragment"], "narrow/is/dm/near/1");
    assert_eq!(kinds(&seen, "iago"), [] as [&str; 0]);
}

#[tokio::test]
async fn onboarding_and_consent_events() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let seen = verify(&t, &ALL, async {
        let step = "visibility_policy_banner";
        hamlet.post("/users/me/onboarding_steps", &[("onboarding_step", &step)]).ok().await;
        hamlet.patch("/settings", &[("allow_private_data_export", &true)]).ok().await;
    })
    .await;
    assert_eq!(kinds(&seen, "hamlet"), ["onboarding_steps", "user_settings update"]);
    assert_eq!(kinds(&seen, "iago"), ["realm_export_consent"]);
    assert_eq!(without_id(&seen, "iago", 0), json!({"user_id": hamlet.id, "consented": true}));
    assert_eq!(kinds(&seen, "othello"), [] as [&str; 0]);
}

#[tokio::test]
async fn personal_events_across_restart() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let mut queue = hamlet.register().modern().await;
    hamlet.post("/users/me/status", &[("status_text", &"here"), ("emoji_name", &"car")]).ok().await;
    hamlet.post("/users/me/status", &[("emoji_name", &"")]).ok().await;
    hamlet.post(&format!("/users/me/muted_users/{}", iago.id), &[]).ok().await;
    hamlet.post("/navigation_views", &[("fragment", &"inbox"), ("is_pinned", &true)]).ok().await;
    hamlet.patch("/navigation_views/inbox", &[("is_pinned", &false)]).ok().await;
    hamlet.delete("/navigation_views/inbox", &[]).ok().await;
    iago.post("/realm/profile_fields", &[("name", &"Pronouns"), ("field_type", &8)]).ok().await;
    let values = json!([{"id": 1, "value": "he"}]);
    hamlet.patch("/users/me/profile_data", &[("data", &values)]).ok().await;
    // They were not acknowledged, so they are sent again.
    let before: Vec<Value> = queue.poll(true).await.ok()["events"].as_array().unwrap().clone();
    assert_eq!(before.len(), 8);
    let t = TestServer::builder().on(t.stop().await).start().await;
    queue.person = t.user("hamlet");
    assert_eq!(queue.now().await, before);
}

#[tokio::test]
async fn profile_field_and_value_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let seen = verify(&t, &ALL, async {
        let new = |params: Params<'_>| iago.post("/realm/profile_fields", params);
        new(&[("name", &"Biography"), ("field_type", &2), ("hint", &"who?")]).ok().await;
        let choices = json!({"0": {"text": "Vim", "order": "1"}, "1": {"text": "Emacs", "order": "2"}});
        new(&[("name", &"Editor"), ("field_type", &3), ("field_data", &choices)]).ok().await;
        let values = json!([{"id": 1, "value": "*me*"}, {"id": 2, "value": "0"}]);
        hamlet.patch("/users/me/profile_data", &[("data", &values)]).ok().await;
        let fewer = json!({"1": {"text": "Emacs", "order": "1"}});
        iago.patch("/realm/profile_fields/2", &[("field_data", &fewer), ("required", &true)]).ok().await;
        iago.patch("/realm/profile_fields", &[("order", &json!([2, 1]))]).ok().await;
        hamlet.patch("/users/me/profile_data", &[("data", &json!([{"id": 2, "value": "1"}]))]).ok().await;
        hamlet.delete("/users/me/profile_data", &[("data", &json!([2]))]).ok().await;
        iago.delete("/realm/profile_fields/1", &[]).ok().await;
    })
    .await;
    let (fields, value) = ("custom_profile_fields", "realm_user update");
    for name in ALL {
        let expected = [fields, fields, value, value, fields, value, fields, value, value, fields];
        assert_eq!(kinds(&seen, name), expected, "{name}");
    }
    let rendered = json!({"id": 1, "value": "*me*", "rendered_value": "<p><em>me</em></p>"});
    assert_eq!(
        seen["polonius"][2]["person"],
        json!({"user_id": hamlet.id, "custom_profile_field": rendered})
    );
    assert_eq!(seen["polonius"][3]["person"]["custom_profile_field"], json!({"id": 2, "value": "0"}));
    // Removing an option removes the values that chose it.
    assert_eq!(seen["polonius"][5]["person"]["custom_profile_field"], json!({"id": 2, "value": null}));
    let order: Vec<&Value> =
        seen["iago"][6]["fields"].as_array().unwrap().iter().map(|field| &field["id"]).collect();
    assert_eq!(order, [2, 1]);
}
