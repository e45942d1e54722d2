//! The table of the organization's plain settings (docs/api/settings.md#organization).
//!
//! Permissions are in `permission`; computed values (URLs, logos, legacy policies) are not settings.

use super::{DefaultValue, Setting, SettingKind, bool_of, find, int_of, text_of};
use model::{Realm, SettingValue};

const fn limit(name: &'static str, default_secs: i64) -> Setting {
    Setting::new(name, SettingKind::TimeLimit, DefaultValue::Int(default_secs))
}

/// A channel for notices; -1 is none.
const fn notice_channel(name: &'static str) -> Setting {
    Setting::new(name, SettingKind::Channel, DefaultValue::Int(-1))
}

/// The setting that selects the source of default avatars.
pub const DEFAULT_AVATAR_SOURCE: &str = "default_avatar_source";

/// Every plain setting of an organization, by name without `realm_`.
#[rustfmt::skip]
pub const REALM_SETTINGS: &[Setting] = &[
    Setting::bool("allow_message_editing", true),
    Setting::bool("avatar_changes_disabled", false),
    // G is gravatar.com, J is drawn by this server.
    Setting::one_of(DEFAULT_AVATAR_SOURCE, &["G", "J"], "J"),
    Setting::new("default_code_block_language", SettingKind::Text(1000), DefaultValue::Text("")),
    Setting::new("default_language", SettingKind::Language, DefaultValue::Text("en")),
    Setting::bool("digest_emails_enabled", false),
    Setting::new("digest_weekday", SettingKind::Int(0, 6), DefaultValue::Int(1)),
    Setting::bool("disallow_disposable_email_addresses", true),
    Setting::bool("email_changes_disabled", false),
    Setting::bool("emails_restricted_to_domains", false),
    Setting::bool("enable_guest_user_dm_warning", true),
    Setting::bool("enable_guest_user_indicator", true),
    Setting::bool("enable_read_receipts", true),
    Setting::bool("enable_spectator_access", false),
    Setting::choice("giphy_rating", &[0, 1, 2, 3, 4, 5], 2),
    Setting::bool("inline_image_preview", true),
    Setting::bool("inline_url_embed_preview", false),
    Setting::bool("invite_required", true),
    Setting::new("jitsi_server_url", SettingKind::Url(200), DefaultValue::Null),
    Setting::bool("message_content_allowed_in_email_notifications", true),
    limit("message_content_delete_limit_seconds", 600),
    limit("message_content_edit_limit_seconds", 600),
    Setting::one_of("message_edit_history_visibility_policy", &["all", "moves", "none"], "all"),
    Setting::new("message_retention_days", SettingKind::Retention, DefaultValue::Int(-1)),
    Setting::new("moderation_request_channel_id", SettingKind::PrivateChannel, DefaultValue::Int(-1)),
    limit("move_messages_between_streams_limit_seconds", 604_800),
    limit("move_messages_within_stream_limit_seconds", 604_800),
    Setting::bool("name_changes_disabled", false),
    notice_channel("new_stream_announcements_stream_id"),
    Setting::choice("org_type", &[0, 10, 20, 30, 35, 40, 50, 60, 70, 80, 90, 100, 1000], 0),
    Setting::bool("presence_disabled", false),
    Setting::bool("require_e2ee_push_notifications", false),
    Setting::bool("require_unique_names", false),
    Setting::bool("send_channel_events_messages", true),
    Setting::bool("send_welcome_emails", true),
    notice_channel("signup_announcements_stream_id"),
    Setting::one_of("topics_policy", &["allow_empty_topic", "disable_empty_topic"], "allow_empty_topic"),
    Setting::choice("video_chat_provider", &[0, 1], 1),
    Setting::new("waiting_period_threshold", SettingKind::Int(0, 36_500), DefaultValue::Int(0)),
    Setting::bool("want_advertise_in_communities_directory", false),
    Setting::new("welcome_message_custom_text", SettingKind::Text(8000), DefaultValue::Text("")),
    notice_channel("zulip_update_announcements_stream_id"),
];

/// The row of an organization's plain setting.
pub fn realm_setting(name: &str) -> Option<&'static Setting> {
    find(REALM_SETTINGS, name)
}

/// The value of a plain setting of an organization.
pub fn realm_value(realm: &Realm, setting: &Setting) -> SettingValue {
    setting.value_in(&realm.settings)
}

/// Every plain setting of an organization, in the order of the table.
pub fn realm_values(realm: &Realm) -> impl Iterator<Item = (&'static str, SettingValue)> {
    REALM_SETTINGS.iter().map(move |setting| (setting.name, realm_value(realm, setting)))
}

/// A boolean setting of an organization.
pub fn realm_bool(realm: &Realm, name: &str) -> bool {
    bool_of(REALM_SETTINGS, &realm.settings, name)
}

/// An integer setting of an organization; none where it is null (no limit).
pub fn realm_int(realm: &Realm, name: &str) -> Option<i64> {
    int_of(REALM_SETTINGS, &realm.settings, name)
}

/// A text setting of an organization; empty where it is null.
pub fn realm_text<'r>(realm: &'r Realm, name: &str) -> &'r str {
    text_of(REALM_SETTINGS, &realm.settings, name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn null_is_no_limit() {
        let mut realm = fixture::realm();
        assert_eq!(realm_int(&realm, "message_content_edit_limit_seconds"), Some(600));
        realm.settings.insert("message_content_edit_limit_seconds".into(), SettingValue::Null);
        assert_eq!(realm_int(&realm, "message_content_edit_limit_seconds"), None);
        assert_eq!(realm_values(&realm).count(), REALM_SETTINGS.len());
    }
}
