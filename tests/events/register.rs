//! `POST /register`.

use crate::support::queue::all_capabilities;
use crate::support::shape::{fields, words};
use crate::support::{Params, TestServer, TestUser, keys};
use serde_json::{Value, json};

/// Registers for the state of these types only.
async fn fetch(who: &TestUser, types: Value) -> Value {
    who.post("/register", &[("fetch_event_types", &types), ("event_types", &"[\"message\"]")]).ok().await
}

const ALWAYS: &str = "last_event_id queue_id zulip_feature_level zulip_merge_base zulip_version";

#[tokio::test]
async fn register_keys_by_event_type() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let cases = [
        ("[]", ""),
        ("[\"message\"]", "max_message_id"),
        ("[\"alert_words\"]", "alert_words"),
        ("[\"custom_profile_fields\"]", "custom_profile_fields custom_profile_field_types"),
        ("[\"onboarding_steps\"]", "onboarding_steps navigation_tour_video_url"),
        ("[\"saved_snippets\"]", "saved_snippets"),
        ("[\"navigation_views\"]", "navigation_views"),
        ("[\"drafts\"]", "drafts"),
        ("[\"scheduled_messages\"]", "scheduled_messages"),
        ("[\"reminders\"]", "reminders"),
        ("[\"muted_topics\"]", "muted_topics"),
        ("[\"muted_users\"]", "muted_users"),
        ("[\"presence\"]", "presences presence_last_update_id server_timestamp"),
        ("[\"realm_user_groups\"]", "realm_user_groups"),
        ("[\"realm_user_settings_defaults\"]", "realm_user_settings_defaults"),
        ("[\"realm_domains\"]", "realm_domains"),
        ("[\"realm_emoji\"]", "realm_emoji"),
        ("[\"realm_linkifiers\"]", "realm_linkifiers"),
        ("[\"realm_filters\"]", "realm_filters"),
        ("[\"realm_playgrounds\"]", "realm_playgrounds"),
        ("[\"realm_billing\"]", "realm_billing"),
        ("[\"realm_bot\"]", "realm_bots"),
        ("[\"realm_embedded_bots\"]", "realm_embedded_bots"),
        ("[\"realm_incoming_webhook_bots\"]", "realm_incoming_webhook_bots"),
        ("[\"recent_private_conversations\"]", "recent_private_conversations"),
        ("[\"subscription\"]", "subscriptions unsubscribed never_subscribed"),
        ("[\"channel_folders\"]", "channel_folders"),
        ("[\"message\",\"update_message_flags\"]", "max_message_id unread_msgs"),
        ("[\"starred_messages\"]", "starred_messages"),
        ("[\"stream\"]", "streams"),
        ("[\"default_streams\"]", "realm_default_streams"),
        ("[\"default_stream_groups\"]", "realm_default_stream_groups"),
        ("[\"stop_words\"]", "stop_words"),
        ("[\"user_settings\"]", "user_settings"),
        ("[\"user_status\"]", "user_status"),
        ("[\"user_topic\"]", "user_topics"),
        ("[\"video_calls\"]", "has_zoom_token"),
        ("[\"giphy\"]", "giphy_api_key"),
        ("[\"push_device\"]", "push_devices"),
        ("[\"no_such_type\"]", ""),
    ];
    for (types, expected) in cases {
        let state = iago.post("/register", &[("fetch_event_types", &types)]).ok().await;
        assert_eq!(fields(&state), words(&format!("{ALWAYS} {expected}")), "{types}");
    }
    let state = fetch(&iago, json!(["realm_user"])).await;
    for key in words(
        "realm_users realm_non_active_users cross_realm_bots avatar_source avatar_url_medium avatar_url \
         can_create_private_streams can_create_public_streams can_create_web_public_streams \
         can_create_streams can_invite_others_to_realm is_admin is_owner is_moderator is_guest user_id email \
         delivery_email full_name",
    ) {
        assert!(state.get(key).is_some(), "{key}");
    }
}

#[tokio::test]
async fn register_has_all_keys_of_mobile_app() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    iago.create_channel("Verona").await;
    let state = iago.register().modern().await.state;
    for key in words(
        "alert_words custom_profile_fields muted_users presences realm_user_groups realm_emoji realm_users \
         realm_non_active_users cross_realm_bots recent_private_conversations subscriptions unread_msgs \
         starred_messages streams user_settings user_status user_topics realm_name realm_icon_url \
         realm_allow_message_editing realm_wildcard_mention_policy realm_waiting_period_threshold \
         realm_enable_read_receipts realm_presence_disabled realm_default_external_accounts \
         max_file_upload_size_mib max_stream_name_length max_topic_length server_emoji_data_url \
         server_presence_ping_interval_seconds server_presence_offline_threshold_seconds \
         event_queue_longpoll_timeout_seconds zulip_merge_base",
    ) {
        assert!(state.get(key).is_some_and(|value| !value.is_null()), "{key}");
    }
    for key in ["realm_message_content_edit_limit_seconds", "realm_message_content_delete_limit_seconds"] {
        assert!(state.get(key).is_some(), "{key}");
    }
    let policy = state["realm_wildcard_mention_policy"].as_u64().unwrap();
    assert!([1, 2, 3, 5, 6, 7].contains(&policy), "{policy}");
    let numbers = json!({
        "max_topic_length": 60, "max_message_length": 10_000, "max_stream_name_length": 60,
        "max_stream_description_length": 1024, "event_queue_longpoll_timeout_seconds": 90,
        "realm_message_content_edit_limit_seconds": 600, "realm_empty_topic_display_name": "general chat",
    });
    for (key, value) in numbers.as_object().unwrap() {
        assert_eq!(&state[key], value, "{key}");
    }
    let color = state["subscriptions"][0]["color"].as_str().unwrap();
    let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    assert!(color.len() == 7 && color[1..].chars().all(hex), "{color}");
    let groups = state["realm_user_groups"].as_array().unwrap();
    let expected = words(
        "can_add_members_group can_join_group can_leave_group can_manage_group can_mention_group \
         can_remove_members_group creator_id date_created deactivated description \
         direct_subgroup_ids id is_system_group members name",
    );
    assert_eq!(keys(&groups[0]), expected);
    assert_eq!(groups[0]["name"], "role:nobody");
}

#[tokio::test]
async fn register_has_all_keys_of_zulip_terminal() {
    let t = TestServer::start().await;
    let types = json!(["message", "update_message_flags", "realm", "muted_topics", "subscription"]);
    let state = t.user("hamlet").post("/register", &[("event_types", &types), ("narrow", &"[]")]).ok().await;
    for key in words(
        "muted_topics realm_message_retention_days realm_allow_edit_history realm_allow_message_editing \
         realm_message_content_edit_limit_seconds max_message_id",
    ) {
        assert!(state.get(key).is_some(), "{key}");
    }
}

#[tokio::test]
async fn register_legacy_top_level_settings() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let types = json!(["update_display_settings", "update_global_notifications", "user_settings"]);
    let old = hamlet.post("/register", &[("fetch_event_types", &types)]).ok().await;
    let settings = &old["user_settings"];
    let display = words(
        "color_scheme default_language demote_inactive_streams emojiset emojiset_choices \
         enable_drafts_synchronization enter_sends fluid_layout_width high_contrast_mode left_side_userlist \
         starred_message_counts timezone translate_emoticons twenty_four_hour_time web_home_view",
    );
    let notifications = words(
        "available_notification_sounds desktop_icon_count_display email_notifications_batching_period_seconds \
         enable_desktop_notifications enable_digest_emails enable_login_emails enable_marketing_emails \
         enable_offline_email_notifications enable_offline_push_notifications enable_online_push_notifications \
         enable_sounds enable_stream_audible_notifications enable_stream_desktop_notifications \
         enable_stream_email_notifications enable_stream_push_notifications \
         message_content_in_email_notifications notification_sound pm_content_in_desktop_notifications \
         presence_enabled realm_name_in_email_notifications_policy wildcard_mentions_notify",
    );
    for key in display.iter().chain(&notifications) {
        assert!(settings.get(key).is_some(), "{key} is no setting");
        assert_eq!(old[key], settings[key], "{key}");
    }
    let display_only = json!(["update_display_settings"]);
    let part = hamlet.post("/register", &[("fetch_event_types", &display_only)]).ok().await;
    assert!(display.iter().all(|key| part.get(key).is_some()));
    assert!(notifications.iter().all(|key| part.get(key).is_none()));
    let knows: Params<'_> =
        &[("fetch_event_types", &types), ("client_capabilities", &json!({"user_settings_object": true}))];
    let new = hamlet.post("/register", knows).ok().await;
    assert!(display.iter().chain(&notifications).all(|key| new.get(key).is_none()));
}

#[tokio::test]
async fn register_emoji_table_url_is_served() {
    let t = TestServer::start().await;
    let state = t.user("iago").register().await.state;
    let url = state["server_emoji_data_url"].as_str().unwrap();
    let url = if url.starts_with('/') { format!("{}{url}", t.url) } else { url.to_owned() };
    assert!(url.ends_with("/static/generated/emoji/emoji_api.json"), "{url}");
    let answer = t.anonymous().http.get(url).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let table: Value = answer.json().await.unwrap();
    assert_eq!(table["code_to_names"]["1f642"][0], "slight_smile");
}

#[tokio::test]
async fn register_unread_msgs() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let a = iago.send(&channel, "pens", "a").await;
    let b = iago.send(&channel, "PENS", "b @**King Hamlet**").await;
    let dm = iago.send_direct(&[&hamlet], "x").await;
    let group = iago.send_direct(&[&hamlet, &cordelia], "x").await;
    let state = hamlet.register().modern().await.state;
    let unread = &state["unread_msgs"];
    assert_eq!(keys(unread), ["count", "huddles", "mentions", "old_unreads_missing", "pms", "streams"]);
    let mut everybody = [iago.id, hamlet.id, cordelia.id];
    everybody.sort_unstable();
    let everybody = everybody.map(|id| id.to_string()).join(",");
    assert_eq!(
        unread["pms"],
        json!([{"other_user_id": iago.id, "sender_id": iago.id, "unread_message_ids": [dm]}])
    );
    assert_eq!(unread["huddles"], json!([{"user_ids_string": everybody, "unread_message_ids": [group]}]));
    let streams = unread["streams"].as_array().unwrap();
    assert_eq!(streams.len(), 2);
    assert_eq!(streams[0]["topic"], "channel events");
    assert_eq!((&streams[1]["topic"], &streams[1]["unread_message_ids"]), (&json!("PENS"), &json!([a, b])));
    assert_eq!((&unread["count"], &unread["mentions"]), (&json!(5), &json!([b])));
    assert_eq!(unread["old_unreads_missing"], false);
    let conversations = state["recent_private_conversations"].as_array().unwrap();
    let mut others = [iago.id, cordelia.id];
    others.sort_unstable();
    assert_eq!(
        conversations,
        &[
            json!({"max_message_id": group, "user_ids": others}),
            json!({"max_message_id": dm, "user_ids": [iago.id]})
        ]
    );
}

#[tokio::test]
async fn register_user_lists() {
    let t = TestServer::start().await;
    let state = t.user("iago").register().modern().await.state;
    let names = |key: &str| -> Vec<&str> {
        let people = state[key].as_array().unwrap().iter();
        people.map(|person| person["full_name"].as_str().unwrap()).collect()
    };
    assert!(names("realm_users").contains(&"King Hamlet"));
    assert_eq!(names("realm_non_active_users"), ["Ghost of Hamlet's father"]);
    assert_eq!(names("cross_realm_bots"), ["Notification Bot", "Welcome Bot", "Email Gateway"]);
    for bot in state["cross_realm_bots"].as_array().unwrap() {
        assert_eq!(bot["is_system_bot"], true);
    }
    for person in state["realm_users"].as_array().unwrap() {
        assert!(person.get("is_active").is_none(), "{person}");
    }
    let ids: Vec<u64> = state["realm_users"]
        .as_array()
        .unwrap()
        .iter()
        .map(|person| person["user_id"].as_u64().unwrap())
        .collect();
    assert!(ids.is_sorted(), "{ids:?}");
}

#[tokio::test]
async fn register_errors() {
    let t = TestServer::start().await;
    let [iago, polonius] = t.users(["iago", "polonius"]);
    let ask = |params: Params<'_>| iago.post("/register", params);
    polonius
        .post("/register", &[("all_public_streams", &true)])
        .bad("User not authorized for this query")
        .await;
    for (name, value, msg) in [
        ("event_types", "message", "event_types is not valid JSON"),
        ("event_types", "{}", "event_types is not a list"),
        ("event_types", "[5]", "event_types[0] is not a string"),
        ("fetch_event_types", "[5]", "fetch_event_types[0] is not a string"),
        ("apply_markdown", "1", "apply_markdown is not a boolean"),
        ("client_gravatar", "maybe", "client_gravatar is not valid JSON"),
        ("all_public_streams", "0", "all_public_streams is not a boolean"),
        ("client_capabilities", "[]", "client_capabilities is not a dict"),
        ("narrow", "[[\"has\",\"link\"]]", "Operator has not supported."),
    ] {
        ask(&[(name, &value)]).bad(msg).await;
    }
    let long = json!([["topic", "t".repeat(4_092)]]);
    ask(&[("narrow", &long)]).bad("narrow is too long (limit: 4096 bytes)").await;
    let answer = ask(&[("narrow", &"[[\"stream\"]]")]).await;
    assert_eq!((answer.status, &answer.body["result"]), (400, &json!("error")));
    // This organization has no web-public channel.
    let anonymous = t.anonymous();
    assert_eq!(anonymous.post("/register", &[]).await.status, 401);
}

#[tokio::test]
async fn register_ignores_unknown_capabilities_and_types() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let mut capabilities = all_capabilities();
    capabilities["time_travel"] = json!(true);
    let params: Params<'_> =
        &[("client_capabilities", &capabilities), ("event_types", &"[\"message\",\"no_such_type\"]")];
    let state = iago.post("/register", params).ok().await;
    assert!(state["queue_id"].is_string() && state["last_event_id"].is_i64());
}
