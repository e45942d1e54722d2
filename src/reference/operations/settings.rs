//! Parameters that are entries of the tables of settings and permissions.

use crate::reference::meanings::{
    OF_CHANNEL_PERMISSIONS, OF_GROUP_PERMISSIONS, OF_ORGANIZATIONS, OF_PERMISSIONS, OF_USERS, meaning,
};
use crate::reference::operation::{Kind, Parameter, may};
use rules::settings::{
    CHANNEL_PERMISSIONS, DefaultValue, GROUP_PERMISSIONS, PermissionRule, REALM_PERMISSIONS, REALM_SETTINGS,
    Setting, SettingKind, USER_SETTINGS, user_default_settings,
};

/// The settings of a person.
pub fn personal_settings() -> Vec<Parameter> {
    USER_SETTINGS.iter().map(|setting| parameter(setting, OF_USERS)).collect()
}

/// The settings that new accounts get.
pub fn preset_settings() -> Vec<Parameter> {
    user_default_settings().map(|setting| parameter(setting, OF_USERS)).collect()
}

/// The settings and permissions of an organization.
pub fn realm_settings() -> Vec<Parameter> {
    let settings = REALM_SETTINGS.iter().map(|setting| parameter(setting, OF_ORGANIZATIONS));
    let permissions = REALM_PERMISSIONS.iter().map(|rule| {
        let text = format!("{} At first {}.", permission_text(rule, OF_PERMISSIONS), rule.default_group_name);
        may(rule.name, Kind::GroupChange, text)
    });
    settings.chain(permissions).collect()
}

fn parameter(setting: &Setting, meanings: &[(&'static str, &'static str)]) -> Parameter {
    let kind = match setting.kind {
        SettingKind::Bool => Kind::Bool,
        SettingKind::Int(least, most) => Kind::Range(least, most),
        SettingKind::Choice(numbers) => Kind::Choice(numbers),
        SettingKind::Word(words) => Kind::Word(words),
        SettingKind::Text(_)
        | SettingKind::Timezone
        | SettingKind::Language
        | SettingKind::Sound
        | SettingKind::Url(_) => Kind::Text,
        SettingKind::BatchingPeriod => Kind::Range(0, 7 * 24 * 60 * 60),
        SettingKind::TimeLimit | SettingKind::Retention => Kind::Limit,
        SettingKind::Channel | SettingKind::PrivateChannel => Kind::Int,
    };
    let allowed = match setting.kind {
        SettingKind::Bool | SettingKind::Choice(_) | SettingKind::Word(_) | SettingKind::Int(..) => {
            String::new()
        }
        SettingKind::Text(most) => format!(" At most {most} characters."),
        SettingKind::Timezone => " An IANA time zone.".to_owned(),
        SettingKind::Language => " The code of a language.".to_owned(),
        SettingKind::Sound => " The name of a sound, or none.".to_owned(),
        SettingKind::BatchingPeriod => " Seconds.".to_owned(),
        SettingKind::TimeLimit => " Seconds, or unlimited.".to_owned(),
        SettingKind::Retention => " Days, or unlimited.".to_owned(),
        SettingKind::Channel => " The id of a channel, or -1.".to_owned(),
        SettingKind::PrivateChannel => " The id of a private channel, or -1.".to_owned(),
        SettingKind::Url(most) => format!(" A URL of at most {most} characters, or default."),
    };
    let at_first = match setting.default {
        DefaultValue::Bool(is_on) => is_on.to_string(),
        DefaultValue::Int(number) => number.to_string(),
        DefaultValue::Text("") => "empty".to_owned(),
        DefaultValue::Text(text) => text.to_owned(),
        DefaultValue::Null => "unset".to_owned(),
    };
    let meaning = meaning(meanings, setting.name);
    may(setting.name, kind, format!("{meaning} At first {at_first}.{allowed}"))
}

/// The permissions of a new channel.
pub fn channel_permissions() -> Vec<Parameter> {
    CHANNEL_PERMISSIONS
        .iter()
        .map(|rule| may(rule.name, Kind::Group, permission_text(rule, OF_CHANNEL_PERMISSIONS)))
        .collect()
}

/// The permissions of a channel, to be changed.
pub fn channel_permission_changes() -> Vec<Parameter> {
    CHANNEL_PERMISSIONS
        .iter()
        .map(|rule| may(rule.name, Kind::GroupChange, permission_text(rule, OF_CHANNEL_PERMISSIONS)))
        .collect()
}

/// The permissions of a new group.
pub fn group_permissions() -> Vec<Parameter> {
    GROUP_PERMISSIONS
        .iter()
        .map(|rule| may(rule.name, Kind::Group, permission_text(rule, OF_GROUP_PERMISSIONS)))
        .collect()
}

/// The permissions of a group, to be changed.
pub fn group_permission_changes() -> Vec<Parameter> {
    GROUP_PERMISSIONS
        .iter()
        .map(|rule| may(rule.name, Kind::GroupChange, permission_text(rule, OF_GROUP_PERMISSIONS)))
        .collect()
}

fn permission_text(rule: &PermissionRule, meanings: &[(&'static str, &'static str)]) -> String {
    let meaning = meaning(meanings, rule.name);
    format!("Who may do this: {meaning} Allowed groups: {}.", rule.allowed_text().replace('`', ""))
}
