//! Registrations against the sample organization: every key, by type, and who gets to see what.

use super::*;
use crate::api::sample::Sample;
use actix_web::body::to_bytes;
use actors::{ChannelDraft, Draft, RegisteredQueue};
use model::{ChannelId, ClientCapabilities};
use serde_json::Value;

impl Sample {
    pub(super) fn request(&self, caller: Option<&str>, words: Option<&[&str]>) -> StateRequest {
        let capabilities = ClientCapabilities { user_list_incomplete: true, ..Default::default() };
        StateRequest {
            realm: self.realm.clone(),
            shared: Default::default(),
            server: ServerFacts {
                realm_url: "http://chat.example".into(),
                login: crate::config::LoginMethods { password: true, ldap: false },
                is_development: true,
                has_push: false,
                file_mib_max: 100,
                quota_mib: None,
                webhooks: bytes::Bytes::from_static(b"[]"),
            },
            caller: caller.map(|address| self.id(address)),
            queue: caller
                .map(|_| RegisteredQueue { id: model::QueueId("q".into()), after: model::EventNumber(0) }),
            client_gravatar: true,
            slim_presence: true,
            presence_days_max: None,
            include_subscribers: IncludeSubscribers::No,
            capabilities,
            fetch: Fetch::new(words.map(|words| words.iter().map(|word| (*word).to_owned()).collect())),
        }
    }
}

async fn state(request: StateRequest) -> Value {
    let response = request.state().unwrap().reply().unwrap().into_response(&[]);
    serde_json::from_slice(&to_bytes(response.into_body()).await.unwrap()).unwrap()
}

/// What the mobile app refuses to do without: b boolean, i integer, s text, l list, o object.
const MOBILE: &str = "alert_words:l cross_realm_bots:l custom_profile_fields:l event_queue_longpoll_timeout_seconds:i \
    last_event_id:i max_file_upload_size_mib:i max_stream_name_length:i max_topic_length:i muted_users:l presences:o \
    queue_id:s realm_allow_message_editing:b realm_default_external_accounts:o realm_emoji:o \
    realm_enable_read_receipts:b realm_icon_url:s realm_name:s realm_non_active_users:l realm_presence_disabled:b \
    realm_user_groups:l realm_users:l realm_waiting_period_threshold:i realm_wildcard_mention_policy:i \
    recent_private_conversations:l server_emoji_data_url:s server_presence_offline_threshold_seconds:i \
    server_presence_ping_interval_seconds:i starred_messages:l streams:l subscriptions:l unread_msgs:o \
    user_settings:o user_status:o user_topics:l zulip_feature_level:i zulip_merge_base:s zulip_version:s";

/// What terminal clients read besides.
const TERMINAL: &str = "muted_topics:l realm_message_retention_days:i realm_allow_edit_history:b \
    realm_message_content_edit_limit_seconds:i max_message_id:i realm_user_groups:l email:s user_id:i is_admin:b";

/// The other keys (docs/api/events.md#state).
const REST: &str = "custom_profile_field_types:o onboarding_steps:l saved_snippets:l navigation_views:l drafts:l \
    scheduled_messages:l reminders:l presence_last_update_id:i realm_user_settings_defaults:o realm_domains:l \
    realm_linkifiers:l realm_filters:l realm_playgrounds:l realm_billing:o avatar_source:s avatar_url:s \
    avatar_url_medium:s can_create_private_streams:b can_create_public_streams:b can_create_web_public_streams:b \
    can_create_streams:b can_invite_others_to_realm:b is_owner:b is_moderator:b is_guest:b delivery_email:s \
    full_name:s realm_bots:l realm_embedded_bots:l realm_incoming_webhook_bots:l unsubscribed:l never_subscribed:l \
    channel_folders:l realm_default_streams:l realm_default_stream_groups:l stop_words:l has_zoom_token:b \
    giphy_api_key:s tenor_api_key:s push_devices:o realm_description:s realm_icon_source:s realm_logo_url:s \
    realm_url:s realm_uri:s realm_bot_domain:s realm_org_type:i realm_plan_type:i realm_date_created:i \
    realm_topics_policy:s realm_mandatory_topics:b realm_create_public_stream_policy:i \
    realm_create_private_stream_policy:i realm_create_web_public_stream_policy:i realm_empty_topic_display_name:s \
    realm_can_create_groups:i realm_create_multiuse_invite_group:i realm_direct_message_permission_group:i \
    realm_can_delete_any_message_group:i realm_moderation_request_channel_id:i \
    realm_new_stream_announcements_stream_id:i realm_authentication_methods:o realm_available_video_chat_providers:o \
    max_avatar_file_size_mib:i max_message_length:i max_stream_description_length:i password_min_length:i \
    password_max_length:i server_generation:i server_thumbnail_formats:l server_report_message_types:l \
    server_supported_permission_settings:o server_typing_started_expiry_period_milliseconds:i \
    giphy_rating_options:o development_environment:b settings_send_digest_emails:b zulip_plan_is_not_limited:b";

fn check_keys(state: &Value, keys: &str) {
    for key in keys.split_whitespace() {
        let (name, kind) = key.split_once(':').unwrap();
        let value = state.get(name).unwrap_or_else(|| panic!("{name} is missing"));
        let fits = match kind {
            "b" => value.is_boolean(),
            "i" => value.is_i64(),
            "s" => value.is_string(),
            "l" => value.is_array(),
            _ => value.is_object(),
        };
        assert!(fits, "{name}: {value}");
    }
}

#[actix_web::test]
async fn everything_is_there_and_of_its_type() {
    let sample = Sample::start().await;
    let full = state(sample.request(Some("iago@zulip.com"), None)).await;
    for keys in [MOBILE, TERMINAL, REST] {
        check_keys(&full, keys);
    }
    assert_eq!(full["max_file_upload_size_mib"], 100);
    assert_eq!(full["zulip_feature_level"], 421);
    let emoji_url = full["server_emoji_data_url"].as_str().unwrap();
    assert!(emoji_url.starts_with("http://chat.example/"), "{emoji_url}");
    let iago = sample.id("iago@zulip.com").0;
    assert_eq!((&full["user_id"], &full["is_moderator"]), (&Value::from(iago), &Value::Bool(true)));
    for person in full["realm_users"].as_array().unwrap() {
        assert_eq!((person.get("is_active"), person.get("is_system_bot")), (None, None));
    }
    for bot in full["cross_realm_bots"].as_array().unwrap() {
        assert_eq!(bot["is_system_bot"], true);
    }
    for subscription in full["subscriptions"].as_array().unwrap() {
        assert!(subscription["color"].as_str().unwrap().starts_with('#'));
        // Not every client knows what inheriting is.
        assert!(subscription["push_notifications"].is_boolean());
    }
    let permissions = &full["server_supported_permission_settings"];
    assert_eq!(permissions["stream"]["can_send_message_group"]["default_group_name"], "role:everyone");
    assert_eq!(permissions["group"]["can_mention_group"]["allow_everyone_group"], true);
    sample.stop().await;
}

#[actix_web::test]
async fn only_what_was_asked_for_is_sent() {
    let sample = Sample::start().await;
    let always = [
        "last_event_id",
        "msg",
        "queue_id",
        "result",
        "zulip_feature_level",
        "zulip_merge_base",
        "zulip_version",
    ];
    let cases: [(&[&str], &[&str]); 6] = [
        (&[], &[]),
        (&["message", "bogus"], &["max_message_id"]),
        (&["message", "update_message_flags"], &["max_message_id", "unread_msgs"]),
        (&["muted_topics"], &["muted_topics"]),
        (&["muted_topics", "user_topic"], &["user_topics"]),
        (&["presence"], &["presence_last_update_id", "presences", "server_timestamp"]),
    ];
    for (words, keys) in cases {
        let state = state(sample.request(Some("hamlet@zulip.com"), Some(words))).await;
        let mut expected: Vec<&str> = always.iter().chain(keys).copied().collect();
        expected.sort_unstable();
        let found: Vec<&str> = state.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(found, expected, "{words:?}");
    }
    sample.stop().await;
}

fn names(state: &Value, key: &str) -> Vec<String> {
    let items = state[key].as_array().unwrap_or_else(|| panic!("{key}"));
    items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

#[actix_web::test]
async fn guests_see_only_what_they_are_in() {
    let sample = Sample::start().await;
    let guest = state(sample.request(Some("polonius@zulip.com"), None)).await;
    let web_public = "town square".to_owned();
    let mut own = names(&guest, "subscriptions");
    assert!(!own.contains(&web_public));
    own.push(web_public.clone());
    own.sort();
    let mut seen = names(&guest, "streams");
    seen.sort();
    assert_eq!(own, seen);
    assert_eq!(names(&guest, "never_subscribed"), [web_public]);
    assert_eq!(guest["realm_default_streams"].as_array().unwrap().len(), 0);
    assert_eq!(guest["can_create_streams"], false);
    assert_eq!(guest["realm_bots"].as_array().unwrap().len(), 0);
    sample.stop().await;
}

#[actix_web::test]
async fn nobody_logged_in_sees_no_address_and_no_channel_that_is_not_public_to_the_world() {
    let sample = Sample::start().await;
    let stranger = state(sample.request(None, None)).await;
    assert_eq!((&stranger["queue_id"], &stranger["last_event_id"]), (&Value::Null, &Value::from(-1)));
    let directory = sample.realm.directory();
    for name in names(&stranger, "streams").iter().chain(&names(&stranger, "subscriptions")) {
        assert!(directory.channel_by_name(name).unwrap().is_web_public, "{name}");
    }
    assert_eq!(names(&stranger, "subscriptions"), ["town square"]);
    for group in stranger["realm_user_groups"].as_array().unwrap() {
        assert_eq!(group["is_system_group"], true, "{group}");
    }
    for person in stranger["realm_users"].as_array().unwrap() {
        let is_shown = person["delivery_email"].is_string();
        assert_eq!(is_shown, person["is_bot"] == true, "{person}");
    }
    for key in ["never_subscribed", "unsubscribed", "realm_bots", "starred_messages"] {
        assert_eq!(stranger[key], Value::Array(Vec::new()), "{key}");
    }
    assert_eq!(stranger["presences"], serde_json::json!({}));
    sample.stop().await;
}

#[actix_web::test]
async fn unread_messages_go_with_the_event_they_are_as_of() {
    let sample = Sample::start().await;
    let (hamlet, iago) = ("hamlet@zulip.com", "iago@zulip.com");
    let words: &[&str] = &["message", "update_message_flags", "recent_private_conversations"];
    let before = state(sample.request(Some(hamlet), Some(words))).await;
    let directory = sample.realm.directory();
    let draft = Draft {
        sender: directory.user_by_email(iago).unwrap().clone(),
        content: "hi".into(),
        rendered: Default::default(),
        client: "test".into(),
        read_by_sender: true,
        echo: None,
        claims: Vec::new(),
        widget: None,
    };
    let channel = directory.channel_by_name("Verona").map(|channel| channel.id).unwrap();
    let sent =
        ChannelDraft { draft, channel, topic: String::new(), topic_links: Vec::new(), owner_notice: None };
    let sent = sample.realm.send_to_channel(sent).await.unwrap();
    let after = state(sample.request(Some(hamlet), Some(words))).await;
    assert!(after["last_event_id"].as_u64() > before["last_event_id"].as_u64());
    let number = |state: &Value| state["unread_msgs"]["count"].as_u64().unwrap();
    assert_eq!(number(&after), number(&before) + 1);
    let topics = after["unread_msgs"]["streams"].as_array().unwrap();
    let unread = topics.iter().find(|topic| topic["topic"] == "general chat").unwrap();
    assert_eq!(unread["stream_id"], Value::from(channel.0));
    assert_eq!(unread["unread_message_ids"], serde_json::json!([sent.id.0]));
    assert_eq!(after["max_message_id"], Value::from(sent.id.0));
    sample.stop().await;
}

#[actix_web::test]
async fn lists_of_subscribers_are_as_asked_for() {
    let sample = Sample::start().await;
    let words: &[&str] = &["subscription"];
    for (include, key) in [
        (IncludeSubscribers::No, None),
        (IncludeSubscribers::All, Some("subscribers")),
        (IncludeSubscribers::Partial, Some("subscribers")),
    ] {
        let mut request = sample.request(Some("iago@zulip.com"), Some(words));
        request.include_subscribers = include;
        let state = state(request).await;
        let first = &state["subscriptions"][0];
        for list in ["subscribers", "partial_subscribers"] {
            assert_eq!(first.get(list).is_some(), key == Some(list), "{include:?} {list}");
        }
        let channel = ChannelId(first["stream_id"].as_u64().unwrap() as u32);
        let directory = sample.realm.directory();
        let ids: Vec<u32> = directory.subscriber_ids(channel).map(|user| user.0).collect();
        if let Some(key) = key {
            assert_eq!(first[key], serde_json::json!(ids));
        }
    }
    sample.stop().await;
}
