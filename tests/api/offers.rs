//! What `POST /register` and `GET /server_settings` offer is kept: each field that promises something is tried with a
//! call, or says that there is nothing. A new field without a row fails the first test.

use crate::support::{Params, TestServer, TestUser};
use rules::settings::{REALM_PERMISSIONS, REALM_SETTINGS};
use serde_json::{Value, json};

/// How a field is kept.
#[derive(Clone, Copy, Debug)]
enum Kept {
    /// The value says that there is nothing of it, or that nothing is limited.
    Says(&'static str),
    /// A call of [`text_limit`], with the number of characters.
    Text,
    /// A call of [`offer`].
    Call,
    /// A number by which clients adapt to each other, and not to the server.
    ForClients,
    /// Part of the state, which other tests compare with what can be read.
    State,
}

use Kept::{Call, ForClients, Says, State, Text};

/// Beginnings of the names of fields that may promise something.
const PROMISING: [&str; 18] = [
    "server_",
    "max_",
    "zulip_",
    "jitsi_",
    "giphy_",
    "tenor_",
    "has_",
    "password_",
    "event_queue_",
    "settings_",
    "upgrade_",
    "can_",
    "development_",
    "realm_",
    "stop_words",
    "navigation_tour",
    "demo_",
    "web_push",
];

const OFFERS: &[(&str, Kept)] = &[
    ("server_timestamp", State),
    ("server_generation", State),
    ("server_presence_ping_interval_seconds", ForClients),
    ("server_presence_offline_threshold_seconds", ForClients),
    ("server_typing_started_expiry_period_milliseconds", ForClients),
    ("server_typing_stopped_wait_period_milliseconds", ForClients),
    ("server_typing_started_wait_period_milliseconds", ForClients),
    ("event_queue_longpoll_timeout_seconds", ForClients),
    ("server_inline_image_preview", Call),
    ("server_inline_url_embed_preview", Says("false")),
    // Tried where files are: the formats of thumbnails, and the size of a file.
    ("server_thumbnail_formats", State),
    ("max_file_upload_size_mib", State),
    ("server_avatar_changes_disabled", Call),
    ("server_name_changes_disabled", Call),
    ("server_web_public_streams_enabled", Call),
    ("server_needs_upgrade", Says("false")),
    // Calls happen at this address, which the server does not use itself.
    ("server_jitsi_server_url", Says("\"https://meet.jit.si\"")),
    ("jitsi_server_url", Says("\"https://meet.jit.si\"")),
    ("realm_jitsi_server_url", Says("null")),
    ("server_can_summarize_topics", Says("false")),
    ("realm_is_zephyr_mirror_realm", Says("false")),
    ("settings_send_digest_emails", Says("false")),
    ("zulip_plan_is_not_limited", Says("true")),
    ("upgrade_text_for_wide_organization_logo", Says("\"\"")),
    ("zulip_version", State),
    ("zulip_merge_base", State),
    ("zulip_feature_level", Says("421")),
    ("max_avatar_file_size_mib", Call),
    ("max_icon_file_size_mib", Call),
    ("max_logo_file_size_mib", Call),
    ("max_stream_name_length", Text),
    ("max_stream_description_length", Text),
    ("max_topic_length", Text),
    ("max_message_length", Text),
    ("max_message_id", State),
    ("max_bulk_new_subscription_messages", ForClients),
    ("max_channel_folder_name_length", Text),
    ("max_channel_folder_description_length", Text),
    ("max_reminder_note_length", Text),
    ("password_min_length", Says("6")),
    ("password_max_length", Says("100")),
    ("password_min_guesses", Says("10000")),
    ("server_emoji_data_url", Call),
    ("server_min_deactivated_realm_deletion_days", Says("14")),
    ("server_max_deactivated_realm_deletion_days", Says("null")),
    ("development_environment", Says("false")),
    ("server_report_message_types", Call),
    ("giphy_rating_options", State),
    ("server_supported_permission_settings", Call),
    ("stop_words", State),
    ("navigation_tour_video_url", Says("null")),
    ("has_zoom_token", Says("false")),
    ("giphy_api_key", Says("\"\"")),
    ("tenor_api_key", Says("\"\"")),
    ("can_create_streams", Says("true")),
    ("can_create_public_streams", Says("true")),
    ("can_create_private_streams", Says("true")),
    ("can_create_web_public_streams", Says("false")),
    ("can_subscribe_other_users", Says("true")),
    ("can_invite_others_to_realm", Says("true")),
    ("realm_available_video_chat_providers", Call),
    ("realm_email_auth_enabled", Call),
    ("realm_password_auth_enabled", Call),
    ("realm_authentication_methods", Call),
    ("realm_push_notifications_enabled", Call),
    ("realm_push_notifications_enabled_end_timestamp", Says("null")),
    ("realm_upload_quota_mib", State),
    ("realm_plan_type", Says("1")),
    ("realm_owner_full_content_access", Says("false")),
    ("realm_embedded_bots", Says("[]")),
    ("realm_incoming_webhook_bots", State),
    ("realm_billing", Says("{\"has_pending_sponsorship_request\":false}")),
    ("realm_allow_edit_history", State),
    ("realm_mandatory_topics", State),
    ("realm_wildcard_mention_policy", State),
    ("realm_create_public_stream_policy", State),
    ("realm_create_private_stream_policy", State),
    ("realm_create_web_public_stream_policy", State),
    ("realm_empty_topic_display_name", State),
    ("realm_default_external_accounts", State),
    ("realm_name", State),
    ("realm_description", State),
    ("realm_icon_url", State),
    ("realm_icon_source", State),
    ("realm_logo_url", State),
    ("realm_logo_source", State),
    ("realm_night_logo_url", State),
    ("realm_night_logo_source", State),
    ("realm_url", State),
    ("realm_uri", State),
    ("realm_bot_domain", State),
    ("realm_date_created", State),
    ("realm_users", State),
    ("realm_non_active_users", State),
    ("realm_bots", State),
    ("realm_emoji", State),
    ("realm_user_groups", State),
    ("realm_user_settings_defaults", State),
    ("realm_domains", State),
    ("realm_linkifiers", State),
    ("realm_filters", State),
    ("realm_playgrounds", State),
    ("realm_default_streams", State),
    ("realm_default_stream_groups", State),
];

fn is_setting(name: &str) -> bool {
    let Some(name) = name.strip_prefix("realm_") else { return false };
    REALM_SETTINGS.iter().any(|setting| setting.name == name)
        || REALM_PERMISSIONS.iter().any(|permission| permission.name == name)
}

#[tokio::test]
async fn every_offer_has_a_row() {
    let t = TestServer::start().await;
    let state = t.user("desdemona").register().modern().await.state;
    let names = state.as_object().unwrap().keys();
    let promising = names.filter(|name| PROMISING.iter().any(|start| name.starts_with(start)));
    let listed = |name: &str| OFFERS.iter().any(|(known, _)| *known == name) || is_setting(name);
    let unlisted: Vec<_> = promising.filter(|name| !listed(name)).map(|name| (name, &state[name])).collect();
    assert!(unlisted.is_empty(), "say how these are kept: {unlisted:#?}");
}

#[tokio::test]
async fn constants_promise_nothing_more() {
    let t = TestServer::start().await;
    let state = t.user("desdemona").register().modern().await.state;
    for (name, kept) in OFFERS {
        if let (Says(expected), Some(value)) = (kept, state.get(name)) {
            assert_eq!(value.to_string(), *expected, "{name}");
        }
    }
}

/// The length of a text that was accepted in full; none if it was refused or cut.
async fn accepted(t: &TestServer, name: &str, length: usize) -> bool {
    let iago = t.user("iago");
    let text = "x".repeat(length);
    match name {
        "max_stream_name_length" => {
            let channels = json!([{"name": text}]);
            iago.post("/users/me/subscriptions", &[("subscriptions", &channels)]).await.status == 200
        }
        "max_stream_description_length" => {
            let channel = iago.create_channel(&format!("c{length}")).await;
            let path = format!("/streams/{}", channel.id);
            iago.patch(&path, &[("description", &text)]).await.status == 200
        }
        "max_topic_length" | "max_message_length" => {
            let channel = iago.create_channel(&format!("m{name}{length}")).await;
            let (field, topic, content) = match name {
                "max_topic_length" => ("subject", text.as_str(), "x"),
                _ => ("content", "t", text.as_str()),
            };
            let id = iago.send(&channel, topic, content).await;
            let path = format!("/messages/{id}");
            let sent = iago.get(&path, &[("apply_markdown", &false)]).ok().await;
            sent["message"][field] == json!(text)
        }
        "max_channel_folder_name_length" => {
            let params: Params<'_> = &[("name", &text), ("description", &"")];
            iago.post("/channel_folders/create", params).await.status == 200
        }
        "max_channel_folder_description_length" => {
            let (name, text) = (format!("f{length}"), text);
            let params: Params<'_> = &[("name", &name), ("description", &text)];
            iago.post("/channel_folders/create", params).await.status == 200
        }
        "max_reminder_note_length" => {
            let channel = iago.create_channel(&format!("r{length}")).await;
            let id = iago.send(&channel, "t", "x").await;
            let at = t.realm().now().secs() + 3600;
            let params: Params<'_> =
                &[("message_id", &id), ("scheduled_delivery_timestamp", &at), ("note", &text)];
            iago.post("/reminders", params).await.status == 200
        }
        other => panic!("nothing tries {other}"),
    }
}

#[tokio::test]
async fn limits_of_texts_are_exact() {
    let t = TestServer::start().await;
    let state = t.user("iago").register().modern().await.state;
    for (name, _) in OFFERS.iter().filter(|(_, kept)| matches!(kept, Text)) {
        let limit = state[name].as_u64().unwrap_or_else(|| panic!("{name} is a number")) as usize;
        assert!(accepted(&t, name, limit).await, "{name}: {limit} characters are refused");
        assert!(!accepted(&t, name, limit + 1).await, "{name}: more than {limit} characters are accepted");
    }
}

async fn upload_beyond(person: &TestUser, path: &str, mib: &Value) {
    let bytes = vec![0; (mib.as_u64().unwrap() as usize) * (1 << 20) + 1];
    let answer = person.upload(path, &[], &[("picture.png", bytes)]).await;
    let msg = format!("Uploaded file is larger than the allowed limit of {mib} MiB");
    assert_eq!((answer.status, &answer.body["msg"]), (400, &json!(msg)), "{path}");
}

/// A call that finds what a field offers.
#[expect(clippy::too_many_lines, reason = "an arm for each field")]
async fn offer(t: &TestServer, state: &Value, name: &str) {
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let value = &state[name];
    match name {
        "server_inline_image_preview" => {
            let content = "https://pictures.example/a.png";
            let html = hamlet.post("/messages/render", &[("content", &content)]).ok().await;
            assert_eq!(html["rendered"].as_str().unwrap().contains("<img"), *value == true, "{html}");
        }
        "server_avatar_changes_disabled" => {
            hamlet.post("/users/me/avatar", &[]).bad("You must upload exactly one avatar.").await;
        }
        "server_name_changes_disabled" => {
            drop(hamlet.patch("/settings", &[("full_name", &"Hamlet of Denmark")]).ok().await);
        }
        "server_web_public_streams_enabled" => {
            iago.patch("/realm", &[("enable_spectator_access", &true)]).ok().await;
            t.user("desdemona").create_channel("window").set("is_web_public", json!(true)).await;
        }
        "max_avatar_file_size_mib" => upload_beyond(&hamlet, "/users/me/avatar", value).await,
        "max_icon_file_size_mib" => upload_beyond(&iago, "/realm/icon", value).await,
        "max_logo_file_size_mib" => upload_beyond(&iago, "/realm/logo?night=false", value).await,
        "server_emoji_data_url" => {
            let path = value.as_str().unwrap().split_once("/static/").expect("a static file").1;
            assert_eq!(hamlet.fetch(&format!("/static/{path}")).await.0, 200);
        }
        "server_report_message_types" => {
            let id = hamlet.send_direct(&[&iago], "x").await;
            for kind in value.as_array().unwrap() {
                let key = kind["key"].as_str().unwrap();
                let report = iago.post(&format!("/messages/{id}/report"), &[("report_type", &key)]);
                report.bad("Message reporting is not enabled in this organization.").await;
            }
        }
        "server_supported_permission_settings" => permissions(state, value),
        "realm_available_video_chat_providers" => {
            let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
            // Zoom and BigBlueButton answer that they are not configured: see `calls`.
            assert_eq!(keys, ["disabled", "jitsi_meet"]);
        }
        "realm_email_auth_enabled" | "realm_password_auth_enabled" | "realm_authentication_methods" => {
            let params: Params<'_> = &[("username", &"hamlet@zulip.com"), ("password", &"x")];
            let answer = t.anonymous().post("/fetch_api_key", params).await;
            assert_eq!(answer.body["code"], "AUTHENTICATION_FAILED", "passwords are tried");
            let methods = json!({
                "Email": {"available": true, "enabled": true}, "LDAP": {"available": false, "enabled": false},
            });
            assert!(*value == true || *value == methods, "{value}");
        }
        "realm_push_notifications_enabled" => {
            let params: Params<'_> = &[
                ("token_kind", &"fcm"),
                ("push_account_id", &1),
                ("push_key", &"MTaUDJDMWypQ1WufZ1NRTHSSvgYtXh1qVNSjN3aBiEFt"),
                ("bouncer_public_key", &"k"),
                ("encrypted_push_registration", &"r"),
            ];
            let answer = hamlet.post("/mobile_push/register", params).await;
            let is_offered = answer.body["code"] != "PUSH_SERVICE_NOT_CONFIGURED";
            assert_eq!(is_offered, *value == true, "{answer:?}");
        }
        other => panic!("nothing tries {other}"),
    }
}

/// Every permission that clients may show can be read where it is stored.
fn permissions(state: &Value, value: &Value) {
    for name in value["realm"].as_object().unwrap().keys() {
        assert!(state.get(format!("realm_{name}")).is_some(), "realm_{name}");
    }
    let (channel, group) = (&state["subscriptions"][0], &state["realm_user_groups"][0]);
    for name in value["stream"].as_object().unwrap().keys() {
        assert!(channel.get(name).is_some(), "{name} of a channel: {channel}");
    }
    for name in value["group"].as_object().unwrap().keys() {
        assert!(group.get(name).is_some(), "{name} of a group: {group}");
    }
}

#[tokio::test]
async fn offers_are_kept() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    hamlet.create_channel("castle").await;
    let state = hamlet.register().modern().await.state;
    for (name, _) in OFFERS.iter().filter(|(_, kept)| matches!(kept, Call)) {
        assert!(state.get(name).is_some(), "{name} is not offered");
        offer(&t, &state, name).await;
    }
}

#[tokio::test]
async fn ways_to_log_in_exist() {
    let t = TestServer::start().await;
    let settings = t.anonymous().get("/server_settings", &[]).ok().await;
    let methods = settings["authentication_methods"].as_object().unwrap();
    let offered: Vec<&String> =
        methods.iter().filter(|(_, is_offered)| **is_offered == true).map(|(name, _)| name).collect();
    assert_eq!(offered, ["email", "password"]);
    assert_eq!(settings["external_authentication_methods"], json!([]));
    assert_eq!(settings["email_auth_enabled"], true);
    let params: Params<'_> = &[("username", &"hamlet@zulip.com"), ("password", &"x")];
    let tried = t.anonymous().post("/fetch_api_key", params).await;
    assert_eq!((tried.status, &tried.body["code"]), (401, &json!("AUTHENTICATION_FAILED")));
    assert_eq!(t.anonymous().get("/login/", &[]).await.status, 200);
    let development = TestServer::builder().development().start().await;
    let settings = development.anonymous().get("/server_settings", &[]).ok().await;
    assert_eq!(settings["authentication_methods"]["dev"], true);
    development.anonymous().post("/dev_fetch_api_key", &[("username", &"iago@zulip.com")]).ok().await;
    // The sample organization was created when the server started.
    let state = development.user("hamlet").register().modern().await.state;
    let age = development.realm().now().secs() - state["realm_date_created"].as_u64().unwrap();
    assert!(age < 600, "{age} seconds");
}
