//! `PATCH /realm/user_settings_defaults`.

use crate::support::{Params, TestServer};
use serde_json::json;

#[tokio::test]
async fn user_default_settings_apply_to_new_users_only() {
    // Only a development server has a user who may create users.
    let t = TestServer::builder().development().start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    let params: Params<'_> = &[("enter_sends", &true), ("color_scheme", &2), ("notification_sound", &"ding")];
    let body = iago.patch("/realm/user_settings_defaults", params).ok().await;
    assert_eq!(body, json!({"result": "success", "msg": ""}));
    let defaults = hamlet.register().await.state["realm_user_settings_defaults"].clone();
    for (name, value) in
        [("enter_sends", json!(true)), ("color_scheme", json!(2)), ("notification_sound", json!("ding"))]
    {
        assert_eq!(defaults[name], value);
    }
    assert_eq!(defaults.get("timezone"), None);
    assert_eq!(hamlet.register().await.state["user_settings"]["color_scheme"], 1);
    let params: Params<'_> =
        &[("email", &"rosa@zulip.com"), ("password", &"correct horse battery"), ("full_name", &"Rosa")];
    desdemona.post("/users", params).ok().await;
    let rosa = t.user("rosa");
    let own = rosa.register().await.state["user_settings"].clone();
    assert_eq!((&own["enter_sends"], &own["color_scheme"]), (&json!(true), &json!(2)));
    // Users created with the defaults keep them.
    iago.patch("/realm/user_settings_defaults", &[("color_scheme", &1)]).ok().await;
    assert_eq!(rosa.register().await.state["user_settings"]["color_scheme"], 2);
}

#[tokio::test]
async fn user_default_settings_event_per_change() {
    let t = TestServer::start().await;
    let [iago, polonius] = t.users(["iago", "polonius"]);
    let mut queue =
        polonius.register().events(&["realm_user_settings_defaults", "realm", "user_settings"]).await;
    let params: Params<'_> = &[("enter_sends", &true), ("color_scheme", &1), ("web_home_view", &"inbox")];
    iago.patch("/realm/user_settings_defaults", params).ok().await;
    let mut events = queue.now().await;
    assert_eq!(events.len(), 1, "{events:?}");
    let event = events.remove(0);
    let expected = json!({
        "type": "realm_user_settings_defaults", "op": "update", "property": "enter_sends", "value": true,
        "id": event["id"],
    });
    assert_eq!(event, expected);
    // Setting the current value sends no event.
    iago.patch("/realm/user_settings_defaults", &[("enter_sends", &true)]).ok().await;
    assert_eq!(queue.now().await.len(), 0);
}

#[tokio::test]
async fn user_default_settings_errors() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let path = "/realm/user_settings_defaults";
    let gate = json!({"msg": "Must be an organization administrator", "code": "UNAUTHORIZED_PRINCIPAL"});
    hamlet.patch(path, &[("enter_sends", &true)]).refused(400, gate).await;
    let cases: &[(Params<'_>, &str)] = &[
        (&[("color_scheme", &10)], "Invalid color_scheme"),
        (&[("enter_sends", &json!("yes"))], "enter_sends is not a boolean"),
        (&[("notification_sound", &"boom")], "Invalid notification sound 'boom'"),
        (&[("email_notifications_batching_period_seconds", &0)], "Invalid email batching period: 0 seconds"),
        (&[("enter_sends", &true), ("emojiset", &"apple")], "Invalid emojiset"),
    ];
    for (params, msg) in cases {
        iago.patch(path, params).bad(msg).await;
    }
    assert_eq!(hamlet.register().await.state["realm_user_settings_defaults"]["enter_sends"], false);
    // Not a setting with an organization default.
    let body = iago.patch(path, &[("full_name", &"x")]).ok().await;
    assert_eq!(body["ignored_parameters_unsupported"], json!(["full_name"]));
}
