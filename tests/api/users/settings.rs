//! `PATCH /settings` and its legacy names.

use crate::support::shape::fields;
use crate::support::{Param, Params, TestServer, TestUser};
use reqwest::Method;
use serde_json::{Value, json};

async fn settings(person: &TestUser) -> Value {
    let state = person.register().modern().set("fetch_event_types", json!(["user_settings"])).await.state;
    state["user_settings"].clone()
}

#[tokio::test]
async fn settings_event_per_setting() {
    let t = TestServer::start().await;
    let [hamlet, cordelia] = t.users(["hamlet", "cordelia"]);
    let mut queue = hamlet.register().modern().events(&["user_settings"]).await;
    let mut others = cordelia.register().modern().events(&["user_settings"]).await;
    let mut changes: Vec<(&str, Value)> = vec![
        ("web_channel_default_view", json!(3)),
        ("web_font_size_px", json!(14)),
        ("web_line_height_percent", json!(122)),
        ("color_scheme", json!(2)),
        ("default_language", json!("de")),
        ("web_home_view", json!("recent_topics")),
        ("emojiset", json!("google-blob")),
        ("demote_inactive_streams", json!(3)),
        ("user_list_style", json!(1)),
        ("web_animate_image_previews", json!("never")),
        ("web_stream_unreads_count_display_policy", json!(1)),
        ("timezone", json!("Europe/Copenhagen")),
        ("notification_sound", json!("ding")),
        ("email_notifications_batching_period_seconds", json!(604800)),
        ("desktop_icon_count_display", json!(4)),
        ("realm_name_in_email_notifications_policy", json!(3)),
        ("automatically_follow_topics_policy", json!(4)),
        ("automatically_unmute_topics_in_muted_streams_policy", json!(4)),
        ("resolved_topic_notice_auto_read_policy", json!("never")),
        ("email_address_visibility", json!(5)),
        ("web_mark_read_on_scroll_policy", json!(3)),
    ];
    let before = settings(&hamlet).await;
    for (name, value) in before.as_object().unwrap() {
        if let Some(is_on) = value.as_bool() {
            changes.push((name, json!(!is_on)));
        }
    }
    // Everything except the two lists of choices.
    assert_eq!(changes.len(), before.as_object().unwrap().len() - 2);
    let texts: Vec<(&str, String)> = changes
        .iter()
        .map(|(name, value)| (*name, value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
        .collect();
    let params: Vec<Param<'_>> = texts.iter().map(|(name, text)| (*name, text as _)).collect();
    let body = hamlet.call(Method::PATCH, "/settings", &params).ok().await;
    assert_eq!(fields(&body), Vec::<&str>::new());
    let mut received: Vec<(String, Value)> = Vec::new();
    for event in queue.now().await {
        assert_eq!((&event["type"], &event["op"]), (&json!("user_settings"), &json!("update")));
        received.push((event["property"].as_str().unwrap().to_owned(), event["value"].clone()));
    }
    let mut expected: Vec<(String, Value)> =
        changes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    received.sort_by(|a, b| a.0.cmp(&b.0));
    expected.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(received, expected);
    let after = settings(&hamlet).await;
    for (name, value) in &changes {
        assert_eq!(&after[name], value, "{name}");
    }
    // Setting the current value sends the event again, to the user's own clients only.
    hamlet.call(Method::PATCH, "/settings", &params).ok().await;
    assert_eq!(queue.now().await.len(), changes.len());
    assert_eq!(others.now().await, Vec::<Value>::new());
}

#[tokio::test]
async fn settings_default_language_event_has_native_name() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let mut queue = hamlet.register().modern().events(&["user_settings"]).await;
    for (code, name) in [("de", "Deutsch"), ("en", "English")] {
        hamlet.call(Method::PATCH, "/settings", &[("default_language", &code)]).ok().await;
        let event = queue.next().await;
        assert_eq!((&event["value"], &event["language_name"]), (&json!(code), &json!(name)));
    }
}

#[tokio::test]
async fn settings_legacy_endpoints_and_unknown_parameters() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    for (path, name) in
        [("/settings/display", "twenty_four_hour_time"), ("/settings/notifications", "enable_sounds")]
    {
        let value = !settings(&hamlet).await[name].as_bool().unwrap();
        let params: Params<'_> = &[(name, &value), ("dense_mode", &true), ("target_users", &"{}")];
        let body = hamlet.call(Method::PATCH, path, params).ok().await;
        assert_eq!(body["ignored_parameters_unsupported"], json!(["dense_mode", "target_users"]));
        assert_eq!(settings(&hamlet).await[name], value);
    }
    hamlet.call(Method::PATCH, "/settings", &[]).ok().await;
}

#[tokio::test]
async fn settings_errors_change_nothing() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let before = settings(&hamlet).await;
    for (name, value, msg) in [
        ("default_language", "Klingon", "Invalid default_language"),
        // Strings are taken literally, including quotes.
        ("default_language", "\"de\"", "Invalid default_language"),
        ("web_home_view", "\"recent_topics\"", "Invalid web_home_view"),
        ("web_home_view", "recent", "Invalid web_home_view"),
        ("notification_sound", "boom", "Invalid notification sound 'boom'"),
        ("email_notifications_batching_period_seconds", "0", "Invalid email batching period: 0 seconds"),
        ("email_notifications_batching_period_seconds", "-5", "Invalid email batching period: -5 seconds"),
        (
            "email_notifications_batching_period_seconds",
            "604801",
            "Invalid email batching period: 604801 seconds",
        ),
        ("timezone", "Mars/Base", "timezone is not a recognized time zone"),
        ("timezone", "\"Mars/Base\"", "timezone is not a recognized time zone"),
        ("color_scheme", "10", "Invalid color_scheme"),
        ("color_scheme", "x", "color_scheme is not valid JSON"),
        ("color_scheme", "\"1\"", "color_scheme is not an integer"),
        ("enter_sends", "1", "enter_sends is not a boolean"),
        ("emojiset", "apple", "Invalid emojiset"),
        ("web_animate_image_previews", "sometimes", "Invalid web_animate_image_previews"),
        ("email_address_visibility", "6", "Invalid email_address_visibility"),
        ("web_font_size_px", "0", "web_font_size_px is too small"),
        ("full_name", "x", "Name too short!"),
        ("full_name", " ", "Name too short!"),
        ("full_name", "", "Name too short!"),
        ("full_name", "Ham*let", "Invalid characters in name!"),
        ("full_name", "Hamlet|12", "Invalid format!"),
        ("email", "notanemail", "Invalid address."),
        ("email", "cordelia@zulip.com", "Already has an account."),
        ("email", "new@zulip.com", "This server sends no e-mail, so a new address cannot be confirmed."),
    ] {
        let params: Params<'_> = &[("translate_emoticons", &true), (name, &value)];
        hamlet.call(Method::PATCH, "/settings", params).bad(msg).await;
    }
    let long = "n".repeat(101);
    hamlet.call(Method::PATCH, "/settings", &[("full_name", &long)]).bad("Name too long!").await;
    assert_eq!(settings(&hamlet).await, before);
    let own: Params<'_> = &[("email", &hamlet.email), ("new_password", &"")];
    hamlet.call(Method::PATCH, "/settings", own).ok().await;
    let bot = t.user("default-bot");
    let refusal = "This endpoint does not accept bot requests.";
    bot.call(Method::PATCH, "/settings", &[("enter_sends", &true)]).bad(refusal).await;
}

#[tokio::test]
async fn settings_full_name_event() {
    let t = TestServer::start().await;
    let [hamlet, cordelia, iago] = t.users(["hamlet", "cordelia", "iago"]);
    let mut queue = cordelia.register().modern().events(&["realm_user"]).await;
    let prince: Params<'_> = &[("full_name", &" Prince Hamlet ")];
    hamlet.call(Method::PATCH, "/settings", prince).ok().await;
    let event = queue.next().await;
    assert_eq!(
        (&event["op"], &event["person"]),
        (&json!("update"), &json!({"user_id": hamlet.id, "full_name": "Prince Hamlet"}))
    );
    assert_eq!(
        cordelia.get(&format!("/users/{}", hamlet.id), &[]).ok().await["user"]["full_name"],
        "Prince Hamlet"
    );
    // Names need not be unique unless the organization requires it.
    cordelia.call(Method::PATCH, "/settings", prince).ok().await;
    iago.call(Method::PATCH, "/realm", &[("require_unique_names", &true)]).ok().await;
    let refusal = "Unique names required in this organization.";
    iago.call(Method::PATCH, "/settings", &[("full_name", &"prince hamlet")]).bad(refusal).await;
    // If the organization disables name changes, the name is ignored except for administrators.
    iago.call(Method::PATCH, "/realm", &[("name_changes_disabled", &true)]).ok().await;
    for (person, name) in [(&hamlet, "Prince Hamlet"), (&iago, "Honest Iago")] {
        person.call(Method::PATCH, "/settings", &[("full_name", &"Honest Iago")]).ok().await;
        assert_eq!(person.get("/users/me", &[]).ok().await["full_name"], name);
    }
}

#[tokio::test]
async fn settings_email_change_disabled_by_realm() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    iago.call(Method::PATCH, "/realm", &[("email_changes_disabled", &true)]).ok().await;
    let refusal = "Email address changes are disabled in this organization.";
    hamlet.call(Method::PATCH, "/settings", &[("email", &"new@zulip.com")]).bad(refusal).await;
    hamlet.call(Method::PATCH, "/settings", &[("email", &hamlet.email)]).ok().await;
    iago.call(Method::PATCH, "/settings", &[("email", &"x")]).bad("Invalid address.").await;
}

#[tokio::test]
async fn settings_email_visibility_events() {
    let t = TestServer::start().await;
    let [hamlet, cordelia, iago] = t.users(["hamlet", "cordelia", "iago"]);
    let mut queue = cordelia.register().modern().events(&["realm_user"]).await;
    hamlet.call(Method::PATCH, "/settings", &[("email_address_visibility", &3)]).ok().await;
    let received: Vec<Value> = queue.now().await.into_iter().map(|event| event["person"].clone()).collect();
    assert!(received.contains(&json!({"user_id": hamlet.id, "delivery_email": null})), "{received:?}");
    let path = format!("/users/{}", hamlet.id);
    assert_eq!(cordelia.get(&path, &[]).ok().await["user"]["delivery_email"], Value::Null);
    assert_eq!(iago.get(&path, &[]).ok().await["user"]["delivery_email"], hamlet.email);
}

#[tokio::test]
async fn settings_password_change_keeps_api_key() {
    // Only users of a development server have passwords: their email addresses.
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    let change = |old: &str, new: &str| {
        let (old, new) = (old.to_owned(), new.to_owned());
        hamlet.call(Method::PATCH, "/settings", &[("old_password", &old), ("new_password", &new)])
    };
    let new = "correct horse battery";
    hamlet.call(Method::PATCH, "/settings", &[("new_password", &new)]).bad("Wrong password!").await;
    change("wrong", new).bad("Wrong password!").await;
    for weak in ["short", "password", "hamlet@zulip.com", "12345678"] {
        change("hamlet@zulip.com", weak).bad("New password is too weak!").await;
    }
    change("hamlet@zulip.com", new).ok().await;
    change("hamlet@zulip.com", "another horse battery").bad("Wrong password!").await;
    assert_eq!(hamlet.get("/users/me", &[]).ok().await["user_id"], hamlet.id);
    for (password, status) in [("hamlet@zulip.com", 401), (new, 200)] {
        let login: Params<'_> = &[("username", &hamlet.email), ("password", &password)];
        let answer = t.anonymous().post("/fetch_api_key", login).await;
        assert_eq!(answer.status, status, "{answer:?}");
    }
}

#[tokio::test]
async fn settings_password_change_rate_limit() {
    let t = TestServer::builder().development().set("limits.enabled", true).start().await;
    let hamlet = t.user("hamlet");
    let params: Params<'_> = &[("old_password", &"wrong"), ("new_password", &"correct horse battery")];
    for _ in 0..5 {
        hamlet.call(Method::PATCH, "/settings", params).bad("Wrong password!").await;
    }
    let params: Params<'_> =
        &[("old_password", &"hamlet@zulip.com"), ("new_password", &"correct horse battery")];
    let answer = hamlet.call(Method::PATCH, "/settings", params).await;
    let msg = answer.body["msg"].as_str().unwrap();
    assert!(
        msg.starts_with("You're making too many attempts! Try again in ") && msg.ends_with(" seconds."),
        "{msg}"
    );
    assert_eq!((answer.status, &answer.body["code"]), (400, &json!("BAD_REQUEST")));
}

#[tokio::test]
async fn settings_unchanged_value_still_sends_event() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let mut queue = hamlet.register().modern().events(&["user_settings"]).await;
    for _ in 0..2 {
        let both: Params<'_> = &[("twenty_four_hour_time", &true), ("starred_message_counts", &true)];
        hamlet.patch("/settings", both).ok().await;
        let mut received: Vec<(Value, Value)> = Vec::new();
        for _ in 0..2 {
            let event = queue.next().await;
            received.push((event["property"].clone(), event["value"].clone()));
        }
        received.sort_by_key(|(name, _)| name.to_string());
        let setting = |name| (json!(name), json!(true));
        assert_eq!(received, [setting("starred_message_counts"), setting("twenty_four_hour_time")]);
    }
}
