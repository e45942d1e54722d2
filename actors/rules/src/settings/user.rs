//! The table of personal settings (docs/api/settings.md#people).

use super::{DefaultValue, Setting, SettingKind, bool_of, find, int_of, text_of};
use crate::error::RuleError;
use model::{SettingValue, User};

/// Emoji sets by key, with their display names.
pub const EMOJI_SETS: [(&str, &str); 4] =
    [("google", "Google"), ("twitter", "Twitter"), ("text", "Plain text"), ("google-blob", "Google blobs")];

/// Whether a user agrees that administrators export their private data.
pub const EXPORT_CONSENT: &str = "allow_private_data_export";

/// Every personal setting, in the order of docs/api/settings.md#people.
#[rustfmt::skip]
pub const USER_SETTINGS: &[Setting] = &[
    Setting::bool("twenty_four_hour_time", false),
    Setting::choice("web_channel_default_view", &[1, 2, 3, 4], 1),
    Setting::bool("starred_message_counts", true),
    Setting::bool("receives_typing_notifications", true),
    Setting::bool("web_suggest_update_timezone", true),
    Setting::bool("fluid_layout_width", false),
    Setting::bool("high_contrast_mode", false),
    Setting::new("web_font_size_px", SettingKind::Int(1, 1000), DefaultValue::Int(16)),
    Setting::new("web_line_height_percent", SettingKind::Int(1, 1000), DefaultValue::Int(140)),
    Setting::choice("color_scheme", &[1, 2, 3], 1),
    Setting::bool("enable_drafts_synchronization", true),
    Setting::bool("translate_emoticons", false),
    Setting::bool("display_emoji_reaction_users", true),
    Setting::new("default_language", SettingKind::Language, DefaultValue::Text("en")),
    Setting::one_of("web_home_view", &["recent_topics", "inbox", "all_messages"], "inbox"),
    Setting::bool("web_escape_navigates_to_home_view", true),
    Setting::bool("left_side_userlist", false),
    Setting::one_of("emojiset", &["google", "google-blob", "twitter", "text"], "google"),
    Setting::choice("demote_inactive_streams", &[1, 2, 3], 1),
    Setting::choice("user_list_style", &[1, 2, 3], 2),
    Setting::one_of("web_animate_image_previews", &["always", "on_hover", "never"], "on_hover"),
    Setting::choice("web_stream_unreads_count_display_policy", &[1, 2, 3], 2),
    Setting::bool("hide_ai_features", false),
    Setting::new("timezone", SettingKind::Timezone, DefaultValue::Text("")),
    Setting::bool("enable_stream_desktop_notifications", false),
    Setting::bool("enable_stream_email_notifications", false),
    Setting::bool("enable_stream_push_notifications", false),
    Setting::bool("enable_stream_audible_notifications", false),
    Setting::new("notification_sound", SettingKind::Sound, DefaultValue::Text("zulip")),
    Setting::bool("enable_desktop_notifications", true),
    Setting::bool("enable_sounds", true),
    Setting::new("email_notifications_batching_period_seconds", SettingKind::BatchingPeriod, DefaultValue::Int(120)),
    Setting::bool("enable_offline_email_notifications", true),
    Setting::bool("enable_offline_push_notifications", true),
    Setting::bool("enable_online_push_notifications", true),
    Setting::bool("enable_followed_topic_desktop_notifications", true),
    Setting::bool("enable_followed_topic_email_notifications", true),
    Setting::bool("enable_followed_topic_push_notifications", true),
    Setting::bool("enable_followed_topic_audible_notifications", true),
    Setting::bool("enable_digest_emails", true),
    Setting::bool("enable_marketing_emails", true),
    Setting::bool("enable_login_emails", true),
    Setting::bool("message_content_in_email_notifications", true),
    Setting::bool("pm_content_in_desktop_notifications", true),
    Setting::bool("wildcard_mentions_notify", true),
    Setting::bool("enable_followed_topic_wildcard_mentions_notify", true),
    Setting::choice("desktop_icon_count_display", &[1, 2, 3, 4], 1),
    Setting::choice("realm_name_in_email_notifications_policy", &[1, 2, 3], 1),
    Setting::choice("automatically_follow_topics_policy", &[1, 2, 3, 4], 3),
    Setting::choice("automatically_unmute_topics_in_muted_streams_policy", &[1, 2, 3, 4], 2),
    Setting::bool("automatically_follow_topics_where_mentioned", true),
    Setting::one_of("resolved_topic_notice_auto_read_policy", &["always", "except_followed", "never"], "except_followed"),
    Setting::bool("presence_enabled", true),
    Setting::bool("enter_sends", false),
    Setting::bool("send_private_typing_notifications", true),
    Setting::bool("send_stream_typing_notifications", true),
    Setting::bool("send_read_receipts", true),
    Setting::bool(EXPORT_CONSENT, false),
    Setting::choice("email_address_visibility", &[1, 2, 3, 4, 5], 1),
    Setting::choice("web_mark_read_on_scroll_policy", &[1, 2, 3], 1),
    Setting::bool("web_navigate_to_sent_message", true),
    Setting::bool("web_left_sidebar_unreads_count_summary", true),
    Setting::bool("web_left_sidebar_show_channel_folders", true),
    Setting::bool("web_inbox_show_channel_folders", true),
];

/// The row of a personal setting.
pub fn user_setting(name: &str) -> Option<&'static Setting> {
    find(USER_SETTINGS, name)
}

/// The row of a personal setting, found when the program is compiled: for settings that are read for each of many users.
pub const fn user_row(name: &str) -> &'static Setting {
    let mut at = 0;
    while !is_same(USER_SETTINGS[at].name.as_bytes(), name.as_bytes()) {
        at += 1;
    }
    &USER_SETTINGS[at]
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// The value of a user's setting. The time zone is a field of the record.
pub fn user_value(user: &User, setting: &Setting) -> SettingValue {
    match setting.name {
        "timezone" => SettingValue::Text(user.timezone.clone()),
        _ => setting.value_in(&user.settings),
    }
}

/// Every setting of a user, in the order of the table.
pub fn user_values(user: &User) -> impl Iterator<Item = (&'static str, SettingValue)> {
    USER_SETTINGS.iter().map(move |setting| (setting.name, user_value(user, setting)))
}

/// Checks new values of personal settings, in the order of docs/api/account.md#change-settings: settings with a fixed
/// set of values first, then language, sound and batching period.
pub fn check_user_settings(values: &[(&'static Setting, SettingValue)]) -> Result<(), RuleError> {
    let rank = |setting: &Setting| match setting.kind {
        SettingKind::Language => 1,
        SettingKind::Sound => 2,
        SettingKind::BatchingPeriod => 3,
        _ => 0,
    };
    for wanted in 0..=3 {
        for (setting, value) in values.iter().filter(|(setting, _)| rank(setting) == wanted) {
            setting.check(value)?;
        }
    }
    Ok(())
}

/// Changes a setting in a user's record. An unchanged default is not stored.
pub fn apply_user_setting(user: &mut User, setting: &Setting, value: SettingValue) {
    match value {
        SettingValue::Text(name) if setting.name == "timezone" => {
            // Names are case-insensitive; the spelling of the database is stored.
            let found = jiff::tz::TimeZone::get(&name).ok();
            let spelled = found.and_then(|zone| zone.iana_name().map(str::to_owned));
            user.timezone = spelled.unwrap_or(name);
        }
        value if value == user_value(user, setting) => {}
        value => {
            user.settings.insert(setting.name.to_owned(), value);
        }
    }
}

/// A boolean setting of a user.
pub fn user_bool(user: &User, name: &str) -> bool {
    bool_of(USER_SETTINGS, &user.settings, name)
}

/// An integer setting of a user.
pub fn user_int(user: &User, name: &str) -> i64 {
    int_of(USER_SETTINGS, &user.settings, name).unwrap_or_default()
}

/// A text setting of a user.
pub fn user_text<'u>(user: &'u User, name: &str) -> &'u str {
    text_of(USER_SETTINGS, &user.settings, name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn every_user_has_a_value_for_every_setting() {
        let mut user = fixture::member();
        user.timezone = "Europe/Paris".into();
        let values: std::collections::BTreeMap<_, _> = user_values(&user).collect();
        assert_eq!(values.len(), USER_SETTINGS.len());
        assert_eq!(values["timezone"], SettingValue::Text("Europe/Paris".into()));
        assert_eq!(values["web_font_size_px"], SettingValue::Int(16));
        assert_eq!(values["email_address_visibility"], SettingValue::Int(1));
    }

    #[test]
    fn changed_settings_are_stored_and_defaults_are_not() {
        let mut user = fixture::member();
        let sends = user_setting("enter_sends").unwrap();
        apply_user_setting(&mut user, sends, SettingValue::Bool(false));
        assert!(user.settings.is_empty());
        apply_user_setting(&mut user, sends, SettingValue::Bool(true));
        assert!(user_bool(&user, "enter_sends"));
        apply_user_setting(&mut user, sends, SettingValue::Bool(false));
        assert!(!user_bool(&user, "enter_sends"));
        let timezone = user_setting("timezone").unwrap();
        apply_user_setting(&mut user, timezone, SettingValue::Text("Europe/Paris".into()));
        assert_eq!((user.timezone.as_str(), user.settings.len()), ("Europe/Paris", 1));
        for (given, stored) in [
            ("america/NEW_york", "America/New_York"),
            ("US/Pacific", "US/Pacific"),
            ("Etc/UTC", "Etc/UTC"),
            ("UTC", "UTC"),
            ("", ""),
        ] {
            apply_user_setting(&mut user, timezone, SettingValue::Text(given.into()));
            assert_eq!(user.timezone, stored);
        }
    }

    #[test]
    fn errors_are_reported_in_order() {
        let row = |name: &str| user_setting(name).unwrap();
        let text = |text: &str| SettingValue::Text(text.to_owned());
        let mut values = vec![
            (row("email_notifications_batching_period_seconds"), SettingValue::Int(0)),
            (row("notification_sound"), text("boom")),
            (row("default_language"), text("xx")),
            (row("color_scheme"), SettingValue::Int(10)),
        ];
        for msg in [
            "Invalid color_scheme",
            "Invalid default_language",
            "Invalid notification sound 'boom'",
            "Invalid email batching period: 0 seconds",
        ] {
            assert_eq!(check_user_settings(&values).unwrap_err().to_string(), msg);
            values.pop();
        }
        assert_eq!(check_user_settings(&values), Ok(()));
    }
}
