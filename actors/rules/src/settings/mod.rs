//! Settings of users and organizations: one table each, with name, type, allowed values and default.
//!
//! Records store only changed values (`model::Settings`); these functions return the effective ones. The tables drive
//! validation, `/register` and documentation. Who may change a setting is decided in `permissions`.

mod languages;
mod legacy;
mod permission;
mod realm;
mod realm_update;
mod reference;
mod sounds;
mod user;
mod user_defaults;

pub use languages::{LANGUAGES, language_name};
pub use legacy::{LEGACY_DISPLAY, LEGACY_NOTIFICATIONS};
pub use permission::{
    CHANNEL_PERMISSIONS, ChannelPermission, GROUP_PERMISSIONS, GroupPermission, PermissionRule,
    REALM_PERMISSIONS, RealmPermission,
};
pub use realm::{
    DEFAULT_AVATAR_SOURCE, REALM_SETTINGS, realm_bool, realm_int, realm_setting, realm_text, realm_value,
    realm_values,
};
pub use realm_update::{
    RealmChange, RealmUpdate, apply_realm_change, check_realm_description, check_realm_update,
    full_members_change, is_for_owners, parse_realm_name,
};
pub use reference::setting_forms;
pub use sounds::NOTIFICATION_SOUNDS;
pub use user::{
    EMOJI_SETS, EXPORT_CONSENT, USER_SETTINGS, apply_user_setting, check_user_settings, user_bool, user_int,
    user_row, user_setting, user_text, user_value, user_values,
};

pub use user_defaults::{
    apply_user_default, starting_settings, user_default, user_default_settings, user_defaults,
};

use crate::error::RuleError;
use model::{SettingValue, Settings};

/// Longest time limit: a hundred years.
const SECS_MAX: i64 = 3_153_600_000;

/// Longest limited message retention: a hundred years.
const DAYS_MAX: i64 = 36_500;

/// Longest batching period of e-mail notifications: a week.
const BATCHING_SECS_MAX: i64 = 604_800;

/// Type and allowed values of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    Bool,
    /// Minimum and maximum, both allowed.
    Int(i64, i64),
    Choice(&'static [i64]),
    Word(&'static [&'static str]),
    /// Maximum length in code points.
    Text(usize),
    /// An IANA time zone; empty until it is set.
    Timezone,
    /// One of `LANGUAGES`.
    Language,
    /// One of `NOTIFICATION_SOUNDS`, or `none`.
    Sound,
    /// Seconds between e-mails, up to a week.
    BatchingPeriod,
    /// Seconds, or null; `unlimited` on the wire.
    TimeLimit,
    /// Days, or -1; `unlimited` on the wire.
    Retention,
    /// The id of a channel, or -1.
    Channel,
    /// The id of a private channel, or -1.
    PrivateChannel,
    /// An HTTP URL of at most this many code points, or null; `default` on the wire.
    Url(usize),
}

/// The value of an unchanged setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    Bool(bool),
    Int(i64),
    Text(&'static str),
    Null,
}

impl DefaultValue {
    /// The default as an owned value.
    pub fn to_value(self) -> SettingValue {
        match self {
            Self::Bool(value) => SettingValue::Bool(value),
            Self::Int(value) => SettingValue::Int(value),
            Self::Text(value) => SettingValue::Text(value.to_owned()),
            Self::Null => SettingValue::Null,
        }
    }
}

/// One row of a table of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Wire name; settings of organizations without the `realm_` prefix.
    pub name: &'static str,
    pub kind: SettingKind,
    pub default: DefaultValue,
}

impl Setting {
    const fn new(name: &'static str, kind: SettingKind, default: DefaultValue) -> Self {
        Self { name, kind, default }
    }

    const fn bool(name: &'static str, default: bool) -> Self {
        Self::new(name, SettingKind::Bool, DefaultValue::Bool(default))
    }

    const fn choice(name: &'static str, allowed: &'static [i64], default: i64) -> Self {
        Self::new(name, SettingKind::Choice(allowed), DefaultValue::Int(default))
    }

    const fn one_of(name: &'static str, allowed: &'static [&'static str], default: &'static str) -> Self {
        Self::new(name, SettingKind::Word(allowed), DefaultValue::Text(default))
    }

    /// The stored value, or the default.
    pub fn value_in(&self, stored: &Settings) -> SettingValue {
        stored.get(self.name).cloned().unwrap_or_else(|| self.default.to_value())
    }

    /// The stored value of a boolean setting, or the default.
    pub fn bool_in(&self, stored: &Settings) -> bool {
        match (stored.get(self.name), self.default) {
            (Some(SettingValue::Bool(value)), _) => *value,
            (_, DefaultValue::Bool(value)) => value,
            _ => false,
        }
    }

    /// The stored value of an integer setting, or the default; none where it is null.
    pub fn int_in(&self, stored: &Settings) -> Option<i64> {
        match (stored.get(self.name), self.default) {
            (Some(SettingValue::Int(value)), _) => Some(*value),
            (Some(SettingValue::Null), _) => None,
            (_, DefaultValue::Int(value)) => Some(value),
            _ => None,
        }
    }

    /// Whether the setting may have this value: `SettingType` for a wrong type; `TooSmall`, `TooLarge`, `TooLong`;
    /// otherwise `SettingInvalid`, or the specific error of some settings.
    pub fn check(&self, value: &SettingValue) -> Result<(), RuleError> {
        match (self.kind, value) {
            (SettingKind::Bool, SettingValue::Bool(_)) => Ok(()),
            (SettingKind::TimeLimit | SettingKind::Url(_), SettingValue::Null) => Ok(()),
            (_, SettingValue::Int(number)) => self.check_number(*number),
            (_, SettingValue::Text(text)) => self.check_text(text),
            _ => Err(self.mistyped()),
        }
    }

    fn check_number(&self, number: i64) -> Result<(), RuleError> {
        match self.kind {
            SettingKind::Int(least, _) if number < least => Err(RuleError::TooSmall { field: self.name }),
            SettingKind::Int(_, most) if number > most => Err(RuleError::TooLarge { field: self.name }),
            SettingKind::Int(..) => Ok(()),
            SettingKind::Choice(allowed) if allowed.contains(&number) => Ok(()),
            SettingKind::Choice(_) => Err(self.invalid()),
            SettingKind::BatchingPeriod if (1..=BATCHING_SECS_MAX).contains(&number) => Ok(()),
            SettingKind::BatchingPeriod => Err(RuleError::BatchingPeriodInvalid { secs: number }),
            SettingKind::TimeLimit if (1..=SECS_MAX).contains(&number) => Ok(()),
            SettingKind::Retention if number == -1 || (1..=DAYS_MAX).contains(&number) => Ok(()),
            SettingKind::TimeLimit | SettingKind::Retention => {
                Err(RuleError::SettingBadValue { name: self.name, value: number.into() })
            }
            // Whether the channel exists depends on the requester.
            SettingKind::Channel | SettingKind::PrivateChannel => Ok(()),
            _ => Err(self.mistyped()),
        }
    }

    fn check_text(&self, text: &str) -> Result<(), RuleError> {
        let (is_allowed, length_max) = match self.kind {
            SettingKind::Word(allowed) => (allowed.contains(&text), usize::MAX),
            SettingKind::Text(length_max) => (true, length_max),
            SettingKind::Url(length_max) => {
                (text.starts_with("https://") || text.starts_with("http://"), length_max)
            }
            SettingKind::Language => (language_name(text).is_some(), usize::MAX),
            SettingKind::Timezone if text.is_empty() || jiff::tz::TimeZone::get(text).is_ok() => {
                return Ok(());
            }
            SettingKind::Timezone => return Err(RuleError::TimezoneUnknown { name: self.name }),
            SettingKind::Sound if text == "none" || NOTIFICATION_SOUNDS.contains(&text) => return Ok(()),
            SettingKind::Sound => return Err(RuleError::SoundUnknown { sound: text.to_owned() }),
            _ => return Err(self.mistyped()),
        };
        if text.chars().count() > length_max {
            return Err(RuleError::TooLong { field: self.name, limit: length_max });
        }
        if is_allowed { Ok(()) } else { Err(self.invalid()) }
    }

    fn invalid(&self) -> RuleError {
        RuleError::SettingInvalid { name: self.name.to_owned() }
    }

    fn mistyped(&self) -> RuleError {
        let wanted = match self.kind.type_name() {
            "boolean" => "a boolean",
            "string" => "a string",
            _ => "an integer",
        };
        RuleError::SettingType { name: self.name.to_owned(), wanted }
    }
}

fn find(table: &'static [Setting], name: &str) -> Option<&'static Setting> {
    table.iter().find(|setting| setting.name == name)
}

/// The default of a setting by name; a misspelt name in our own code fails in debug builds.
fn default_of(table: &'static [Setting], name: &str) -> DefaultValue {
    let setting = find(table, name);
    debug_assert!(setting.is_some(), "no setting {name}");
    setting.map_or(DefaultValue::Null, |setting| setting.default)
}

fn bool_of(table: &'static [Setting], stored: &Settings, name: &str) -> bool {
    let setting = find(table, name);
    debug_assert!(setting.is_some(), "no setting {name}");
    setting.is_some_and(|setting| setting.bool_in(stored))
}

fn int_of(table: &'static [Setting], stored: &Settings, name: &str) -> Option<i64> {
    let setting = find(table, name);
    debug_assert!(setting.is_some(), "no setting {name}");
    setting.and_then(|setting| setting.int_in(stored))
}

/// Empty where the value is null.
fn text_of<'s>(table: &'static [Setting], stored: &'s Settings, name: &str) -> &'s str {
    match (stored.get(name), default_of(table, name)) {
        (Some(SettingValue::Text(value)), _) => value,
        (_, DefaultValue::Text(value)) => value,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_defaults_are_allowed() {
        for table in [USER_SETTINGS, REALM_SETTINGS] {
            let names: BTreeSet<_> = table.iter().map(|setting| setting.name).collect();
            assert_eq!(names.len(), table.len());
            for setting in table {
                assert_eq!(setting.check(&setting.default.to_value()), Ok(()), "{}", setting.name);
            }
        }
    }

    #[test]
    fn values_are_checked_by_type_and_range() {
        let scheme = user_setting("color_scheme").unwrap();
        let wrong_type = RuleError::SettingType { name: "color_scheme".into(), wanted: "an integer" };
        let invalid = RuleError::SettingInvalid { name: "color_scheme".into() };
        assert_eq!(scheme.check(&SettingValue::Int(2)), Ok(()));
        assert_eq!(scheme.check(&SettingValue::Int(10)), Err(invalid.clone()));
        assert_eq!(invalid.to_string(), "Invalid color_scheme");
        assert_eq!(scheme.check(&SettingValue::Bool(true)), Err(wrong_type.clone()));
        assert_eq!(wrong_type.to_string(), "color_scheme is not an integer");
        assert_eq!(scheme.check(&SettingValue::Null), Err(wrong_type));
        let timezone = user_setting("timezone").unwrap();
        assert_eq!(timezone.check(&SettingValue::Text("Europe/Paris".into())), Ok(()));
        assert!(timezone.check(&SettingValue::Text("Europe/Atlantis".into())).is_err());
        let limit = realm_setting("message_content_edit_limit_seconds").unwrap();
        assert_eq!(limit.check(&SettingValue::Null), Ok(()));
        let bad = RuleError::SettingBadValue { name: limit.name, value: 0.into() };
        assert_eq!(limit.check(&SettingValue::Int(0)), Err(bad.clone()));
        assert_eq!(bad.to_string(), "Bad value for 'message_content_edit_limit_seconds': 0");
    }

    #[test]
    fn some_settings_have_specific_errors() {
        let text = |text: &str| SettingValue::Text(text.to_owned());
        for (name, value, msg) in [
            ("default_language", text("Klingon"), "Invalid default_language"),
            ("notification_sound", text("boom"), "Invalid notification sound 'boom'"),
            (
                "email_notifications_batching_period_seconds",
                SettingValue::Int(0),
                "Invalid email batching period: 0 seconds",
            ),
            (
                "email_notifications_batching_period_seconds",
                SettingValue::Int(604_801),
                "Invalid email batching period: 604801 seconds",
            ),
            ("timezone", text("Mars/Base"), "timezone is not a recognized time zone"),
            ("web_font_size_px", SettingValue::Int(0), "web_font_size_px is too small"),
            ("web_font_size_px", SettingValue::Int(1001), "web_font_size_px is too large"),
            ("emojiset", text("apple"), "Invalid emojiset"),
            ("emojiset", SettingValue::Int(1), "emojiset is not a string"),
        ] {
            let refused = user_setting(name).unwrap().check(&value).unwrap_err();
            assert_eq!(refused.to_string(), msg);
        }
        for sound in ["none", "zulip"] {
            assert_eq!(user_setting("notification_sound").unwrap().check(&text(sound)), Ok(()));
        }
    }

    #[test]
    fn stored_values_win_over_defaults() {
        let mut stored = Settings::new();
        assert!(!bool_of(USER_SETTINGS, &stored, "enter_sends"));
        assert_eq!(int_of(USER_SETTINGS, &stored, "color_scheme"), Some(1));
        assert_eq!(text_of(USER_SETTINGS, &stored, "web_home_view"), "inbox");
        stored.insert("enter_sends".into(), SettingValue::Bool(true));
        stored.insert("color_scheme".into(), SettingValue::Int(3));
        stored.insert("web_home_view".into(), SettingValue::Text("recent_topics".into()));
        assert!(bool_of(USER_SETTINGS, &stored, "enter_sends"));
        assert_eq!(int_of(USER_SETTINGS, &stored, "color_scheme"), Some(3));
        assert_eq!(text_of(USER_SETTINGS, &stored, "web_home_view"), "recent_topics");
    }
}
