//! The tables of settings as documentation: types, allowed values and defaults as text, and the events of a change.
//! `millstream settings` prints them.

use super::legacy::{LEGACY_DISPLAY, LEGACY_NOTIFICATIONS};
use super::{
    BATCHING_SECS_MAX, DAYS_MAX, DefaultValue, LANGUAGES, NOTIFICATION_SOUNDS, PermissionRule, SECS_MAX,
    Setting, SettingKind,
};
use model::event::SettingForm;
use std::fmt::Display;

impl SettingKind {
    /// The type of the values on the wire: `boolean`, `integer` or `string`.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Bool => "boolean",
            Self::Word(_) | Self::Text(_) | Self::Timezone | Self::Language | Self::Sound | Self::Url(_) => {
                "string"
            }
            Self::Int(..) | Self::Choice(_) | Self::BatchingPeriod | Self::TimeLimit => "integer",
            Self::Retention | Self::Channel | Self::PrivateChannel => "integer",
        }
    }

    /// The allowed values as Markdown; values are in backticks. A text of values alone lists all of them.
    pub fn allowed_text(self) -> String {
        match self {
            Self::Bool => list(["true", "false"]),
            Self::Int(least, most) => format!("`{least}` to `{most}`"),
            Self::Choice(allowed) => list(allowed),
            Self::Word(allowed) => list(allowed),
            Self::Text(length_max) => format!("up to {length_max} characters"),
            Self::Timezone => "a name of the IANA time zone database, or nothing".to_owned(),
            Self::Language => list(LANGUAGES.iter().map(|(code, _)| code)),
            Self::Sound => list(["none"].iter().chain(NOTIFICATION_SOUNDS)),
            Self::BatchingPeriod => format!("`1` to `{BATCHING_SECS_MAX}` seconds"),
            Self::TimeLimit => format!("`1` to `{SECS_MAX}` seconds, or `unlimited`"),
            Self::Retention => format!("`1` to `{DAYS_MAX}` days, or `unlimited`"),
            Self::Channel => "the id of a channel, or `-1`".to_owned(),
            Self::PrivateChannel => "the id of a private channel, or `-1`".to_owned(),
            Self::Url(length_max) => {
                format!("`http://` or `https://` and more, up to {length_max} characters, or `default`")
            }
        }
    }
}

impl Setting {
    /// The default as Markdown, spelled as a client sends it.
    pub fn default_text(&self) -> String {
        match (self.kind, self.default) {
            (SettingKind::TimeLimit, DefaultValue::Null)
            | (SettingKind::Retention, DefaultValue::Int(-1)) => quoted("unlimited"),
            (_, DefaultValue::Null) => quoted("default"),
            (_, DefaultValue::Text("")) => "nothing".to_owned(),
            (_, DefaultValue::Bool(value)) => quoted(value),
            (_, DefaultValue::Int(value)) => quoted(value),
            (_, DefaultValue::Text(value)) => quoted(value),
        }
    }
}

impl PermissionRule {
    /// The groups that it may be set to, as Markdown.
    pub fn allowed_text(&self) -> String {
        if !self.allowed_system_groups.is_empty() {
            return list(self.allowed_system_groups);
        }
        let refused = [
            ("role:internet", self.allow_internet_group),
            ("role:everyone", self.allow_everyone_group),
            ("role:nobody", self.allow_nobody_group),
        ];
        let refused = refused.iter().filter(|(_, is_allowed)| !is_allowed).map(|(name, _)| name);
        let any =
            if self.require_system_group { "any system group" } else { "any group, or people and groups" };
        format!("{any}, but not {}", list(refused))
    }
}

fn quoted(value: impl Display) -> String {
    format!("`{value}`")
}

fn list<T: Display>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(quoted).collect::<Vec<_>>().join(", ")
}

/// The event types of a change of a personal setting: the current one, and the one of older clients that know the
/// setting.
pub fn setting_forms(name: &str) -> impl Iterator<Item = SettingForm> {
    let forms = [
        (SettingForm::Modern, true),
        (SettingForm::Display, LEGACY_DISPLAY.contains(&name)),
        (SettingForm::Notifications, LEGACY_NOTIFICATIONS.contains(&name)),
    ];
    forms.into_iter().filter(|(_, is_known)| *is_known).map(|(form, _)| form)
}

#[cfg(test)]
mod tests {
    use super::super::{REALM_PERMISSIONS, REALM_SETTINGS, USER_SETTINGS, user_setting};
    use super::*;
    use model::SettingValue;

    /// The values between backticks, of the type of the setting.
    fn values(setting: &Setting, is_excluded: impl Fn(&str) -> bool) -> Vec<SettingValue> {
        let words = setting.kind.allowed_text();
        let words = words.split('`').skip(1).step_by(2).filter(|word| !is_excluded(word));
        let value = |word: &str| match setting.kind.type_name() {
            "boolean" => SettingValue::Bool(word.parse().unwrap()),
            "integer" => SettingValue::Int(word.parse().unwrap()),
            _ => SettingValue::Text(word.to_owned()),
        };
        words.map(value).collect()
    }

    #[test]
    fn documented_values_are_allowed_and_values_beyond_are_not() {
        for setting in USER_SETTINGS.iter().chain(REALM_SETTINGS) {
            // The parameter parsers of `src/api` translate these words.
            let is_word = |word: &str| matches!(word, "unlimited" | "default" | "http://" | "https://");
            let values = values(setting, is_word);
            for value in &values {
                assert_eq!(setting.check(value), Ok(()), "{}: {value:?}", setting.name);
            }
            let numbers = values.iter().filter_map(|value| match value {
                SettingValue::Int(number) => Some(*number),
                _ => None,
            });
            let is_place = matches!(setting.kind, SettingKind::Channel | SettingKind::PrivateChannel);
            if let Some(most) = numbers.max().filter(|_| !is_place) {
                assert!(setting.check(&SettingValue::Int(most + 1)).is_err(), "{}", setting.name);
            }
            if matches!(setting.kind, SettingKind::Word(_) | SettingKind::Language | SettingKind::Sound) {
                assert!(setting.check(&SettingValue::Text("else".into())).is_err(), "{}", setting.name);
            }
        }
    }

    #[test]
    fn types_values_and_defaults_as_text() {
        let words = |name: &str| {
            let setting = user_setting(name).unwrap();
            (setting.kind.type_name(), setting.kind.allowed_text(), setting.default_text())
        };
        let expected = |kind, allowed: &str, default: &str| (kind, allowed.to_owned(), default.to_owned());
        assert_eq!(words("enter_sends"), expected("boolean", "`true`, `false`", "`false`"));
        assert_eq!(words("color_scheme"), expected("integer", "`1`, `2`, `3`", "`1`"));
        assert_eq!(words("web_font_size_px"), expected("integer", "`1` to `1000`", "`16`"));
        let views = "`recent_topics`, `inbox`, `all_messages`";
        assert_eq!(words("web_home_view"), expected("string", views, "`inbox`"));
        assert_eq!(words("timezone").2, "nothing");
        let rule = |name: &str| REALM_PERMISSIONS.iter().find(|rule| rule.name == name).unwrap();
        let everyone = rule("can_access_all_users_group").allowed_text();
        assert_eq!(everyone, "`role:everyone`, `role:members`");
        let bots = rule("can_create_bots_group").allowed_text();
        assert_eq!(bots, "any group, or people and groups, but not `role:internet`, `role:everyone`");
    }

    #[test]
    fn older_clients_get_events_of_settings_they_know() {
        let forms = |name: &str| setting_forms(name).collect::<Vec<_>>();
        assert_eq!(forms("color_scheme"), [SettingForm::Modern, SettingForm::Display]);
        assert_eq!(forms("enable_sounds"), [SettingForm::Modern, SettingForm::Notifications]);
        assert_eq!(forms("web_font_size_px"), [SettingForm::Modern]);
    }
}
