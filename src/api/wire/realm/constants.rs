//! Values that are the same for every organization and server of this version (docs/api/conventions.md#limits,
//! docs/api/events.md#state).

use rules::names::{CHANNEL_NAME_LENGTH_MAX, DESCRIPTION_LENGTH_MAX};
use rules::reports::REPORT_TYPES;
use rules::topics::TOPIC_LENGTH_MAX;
use serde::Serialize;

/// Numeric limits that clients observe.
pub const LIMITS: [(&str, usize); 14] = [
    ("max_avatar_file_size_mib", 5),
    ("max_icon_file_size_mib", 5),
    ("max_logo_file_size_mib", 5),
    ("max_stream_name_length", CHANNEL_NAME_LENGTH_MAX),
    ("max_stream_description_length", DESCRIPTION_LENGTH_MAX),
    ("max_topic_length", TOPIC_LENGTH_MAX),
    ("max_message_length", rules::content::CONTENT_LENGTH_MAX),
    ("max_bulk_new_subscription_messages", actors::BULK_NOTICE_RECIPIENTS_MAX),
    ("max_channel_folder_name_length", 60),
    ("max_channel_folder_description_length", 1024),
    ("max_reminder_note_length", rules::scheduling::NOTE_LENGTH_MAX),
    ("password_min_length", 6),
    ("password_max_length", 100),
    ("password_min_guesses", 10_000),
];

/// Properties of the server that clients adapt to, as JSON.
pub const SERVER: [(&str, &str); 20] = [
    ("event_queue_longpoll_timeout_seconds", "90"),
    ("server_presence_ping_interval_seconds", "60"),
    ("server_presence_offline_threshold_seconds", "200"),
    ("server_typing_started_expiry_period_milliseconds", "45000"),
    ("server_typing_stopped_wait_period_milliseconds", "12000"),
    ("server_typing_started_wait_period_milliseconds", "30000"),
    ("server_inline_image_preview", "true"),
    // The server does not fetch linked pages.
    ("server_inline_url_embed_preview", "false"),
    ("server_thumbnail_formats", THUMBNAIL_FORMATS),
    ("server_avatar_changes_disabled", "false"),
    ("server_name_changes_disabled", "false"),
    ("server_web_public_streams_enabled", "true"),
    ("server_needs_upgrade", "false"),
    ("server_jitsi_server_url", "\"https://meet.jit.si\""),
    ("jitsi_server_url", "\"https://meet.jit.si\""),
    ("server_can_summarize_topics", "false"),
    // Until level 426; the web app does not start without it.
    ("realm_is_zephyr_mirror_realm", "false"),
    ("settings_send_digest_emails", "false"),
    ("zulip_plan_is_not_limited", "true"),
    ("upgrade_text_for_wide_organization_logo", "\"\""),
];

/// The thumbnails that this server makes.
const THUMBNAIL_FORMATS: &str = r#"[{"name":"840x560-anim.webp","max_width":840,"max_height":560,"format":"webp","animated":true},{"name":"840x560.webp","max_width":840,"max_height":560,"format":"webp","animated":false}]"#;

/// Minimum number of days for which a deactivated organization is kept.
pub const DELETION_DAYS_MIN: u32 = 14;

/// The JSON of `realm_default_external_accounts`.
pub const EXTERNAL_ACCOUNTS: &[u8] = br#"{"twitter":{"text":"Twitter","url_pattern":"https://twitter.com/%(username)s","name":"Twitter username","hint":""},"github":{"text":"GitHub","url_pattern":"https://github.com/%(username)s","name":"GitHub username","hint":""}}"#;

/// The JSON of `realm_available_video_chat_providers`.
pub const VIDEO_CHAT_PROVIDERS: &[u8] =
    br#"{"disabled":{"name":"None","id":0},"jitsi_meet":{"name":"Jitsi Meet","id":1}}"#;

/// One of `server_report_message_types`.
#[derive(Serialize)]
pub struct ReportType {
    key: &'static str,
    name: &'static str,
}

/// The reasons that `POST /messages/{message_id}/report` accepts.
pub fn report_types() -> [ReportType; REPORT_TYPES.len()] {
    REPORT_TYPES.map(|(key, name)| ReportType { key, name })
}

/// The JSON of `giphy_rating_options`.
pub const GIF_RATINGS: &[u8] = br#"{"disabled":{"name":"GIPHY integration disabled","id":0},"y":{"name":"Allow GIFs rated Y (Very young audience)","id":1},"g":{"name":"Allow GIFs rated G (General audience)","id":2},"pg":{"name":"Allow GIFs rated PG (Parental guidance)","id":3},"pg-13":{"name":"Allow GIFs rated PG-13 (Parental guidance - under 13)","id":4},"r":{"name":"Allow GIFs rated R (Restricted)","id":5}}"#;

/// The JSON of `custom_profile_field_types`.
pub const PROFILE_FIELD_TYPES: &[u8] = br#"{"SHORT_TEXT":{"id":1,"name":"Text (short)"},"LONG_TEXT":{"id":2,"name":"Text (long)"},"SELECT":{"id":3,"name":"List of options"},"DATE":{"id":4,"name":"Date"},"URL":{"id":5,"name":"Link"},"USER":{"id":6,"name":"Users"},"EXTERNAL_ACCOUNT":{"id":7,"name":"External account"},"PRONOUNS":{"id":8,"name":"Pronouns"}}"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrations::images::thumbnail::{HEIGHT_MAX, ThumbnailFormat, WIDTH_MAX};
    use serde_json::{Value, json};

    #[test]
    fn thumbnail_formats_are_those_that_are_made() {
        let made = ThumbnailFormat::ALL.map(|format| {
            json!({
                "name": format.name(), "max_width": WIDTH_MAX, "max_height": HEIGHT_MAX, "format": "webp",
                "animated": format == ThumbnailFormat::Animated,
            })
        });
        let shown: Value = serde_json::from_str(THUMBNAIL_FORMATS).unwrap();
        assert_eq!(shown, json!(made));
    }
}
