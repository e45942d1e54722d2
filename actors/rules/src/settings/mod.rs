//! Settings of people and organizations: one table each, with name, type, allowed values and default.
//!
//! Records store only what was changed (`model::Settings`); what holds is asked here. The tables drive
//! validation, `/register` and documentation. Who may change what is `permissions`.

mod permission;
mod realm;
mod user;

pub use permission::{
    CHANNEL_PERMISSIONS, ChannelPermission, GROUP_PERMISSIONS, GroupPermission, PermissionRule,
    REALM_PERMISSIONS, RealmPermission,
};
pub use realm::{
    REALM_SETTINGS, realm_bool, realm_int, realm_setting, realm_text, realm_value, realm_values,
};
pub use user::{
    EMOJI_SETS, NOTIFICATION_SOUNDS, USER_SETTINGS, user_bool, user_int, user_setting, user_text, user_value,
    user_values,
};

use crate::error::RuleError;
use model::{SettingValue, Settings};

/// Type and allowed values of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// True or false.
    Bool,
    /// A number between these two, both included.
    Int(i64, i64),
    /// A number between these two, or null.
    OptionalInt(i64, i64),
    /// One of these numbers.
    Choice(&'static [i64]),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Text of at most so many code points.
    Text(usize),
    /// Text of at most so many code points, or null.
    OptionalText(usize),
    /// An IANA time zone, or empty.
    Timezone,
}

/// The value of a setting that nobody changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    /// True or false.
    Bool(bool),
    /// A number.
    Int(i64),
    /// A text.
    Text(&'static str),
    /// Nothing.
    Null,
}

impl DefaultValue {
    /// As a value.
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
    /// Type and allowed values.
    pub kind: SettingKind,
    /// Value while unchanged.
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

    const fn word(name: &'static str, allowed: &'static [&'static str], default: &'static str) -> Self {
        Self::new(name, SettingKind::Word(allowed), DefaultValue::Text(default))
    }

    /// The stored value, or the default.
    pub fn value_in(&self, stored: &Settings) -> SettingValue {
        stored.get(self.name).cloned().unwrap_or_else(|| self.default.to_value())
    }

    /// Whether the setting may have this value: `SettingType` for a wrong type, `SettingInvalid` otherwise.
    pub fn check(&self, value: &SettingValue) -> Result<(), RuleError> {
        let is_allowed = match (self.kind, value) {
            (SettingKind::Bool, SettingValue::Bool(_)) => true,
            (SettingKind::OptionalInt(..) | SettingKind::OptionalText(_), SettingValue::Null) => true,
            (SettingKind::Int(least, most) | SettingKind::OptionalInt(least, most), SettingValue::Int(n)) => {
                (least..=most).contains(n)
            }
            (SettingKind::Choice(allowed), SettingValue::Int(n)) => allowed.contains(n),
            (SettingKind::Word(allowed), SettingValue::Text(word)) => allowed.contains(&word.as_str()),
            (
                SettingKind::Text(length_max) | SettingKind::OptionalText(length_max),
                SettingValue::Text(text),
            ) => text.chars().count() <= length_max,
            (SettingKind::Timezone, SettingValue::Text(name)) => {
                name.is_empty() || jiff::tz::TimeZone::get(name).is_ok()
            }
            _ => return Err(RuleError::SettingType { name: self.name.to_owned(), wanted: self.wanted() }),
        };
        if is_allowed { Ok(()) } else { Err(RuleError::SettingInvalid { name: self.name.to_owned() }) }
    }

    fn wanted(&self) -> &'static str {
        match self.kind {
            SettingKind::Bool => "a boolean",
            SettingKind::Int(..) | SettingKind::OptionalInt(..) | SettingKind::Choice(_) => "an integer",
            _ => "a string",
        }
    }
}

fn find(table: &'static [Setting], name: &str) -> Option<&'static Setting> {
    table.iter().find(|setting| setting.name == name)
}

/// The default of a setting that our own code asks for by name; a misspelt name fails in every debug build.
fn default_of(table: &'static [Setting], name: &str) -> DefaultValue {
    let setting = find(table, name);
    debug_assert!(setting.is_some(), "no setting {name}");
    setting.map_or(DefaultValue::Null, |setting| setting.default)
}

/// A boolean.
fn bool_of(table: &'static [Setting], stored: &Settings, name: &str) -> bool {
    match (stored.get(name), default_of(table, name)) {
        (Some(SettingValue::Bool(value)), _) => *value,
        (_, DefaultValue::Bool(value)) => value,
        _ => false,
    }
}

/// A number; none where the value is null.
fn int_of(table: &'static [Setting], stored: &Settings, name: &str) -> Option<i64> {
    match (stored.get(name), default_of(table, name)) {
        (Some(SettingValue::Int(value)), _) => Some(*value),
        (Some(SettingValue::Null), _) => None,
        (_, DefaultValue::Int(value)) => Some(value),
        _ => None,
    }
}

/// A text; empty where the value is null.
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
        assert!(limit.check(&SettingValue::Int(-1)).is_err());
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
