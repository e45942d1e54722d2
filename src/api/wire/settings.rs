//! Settings as clients read them (api.md PATCH /settings; companions.md 2, `user_settings`).

use super::group::group_setting;
use super::json::{push_text, push_value};
use model::{Directory, SettingValue, User};
use rules::settings::{EMOJI_SETS, NOTIFICATION_SOUNDS, USER_SETTINGS, user_values};
use serde::{Serialize, Serializer};

/// The value of a setting.
#[derive(Clone, Copy, Debug)]
pub struct SettingJson<'a> {
    directory: &'a Directory,
    value: &'a SettingValue,
}

/// A value for clients: group settings without deactivated people.
pub fn setting<'a>(directory: &'a Directory, value: &'a SettingValue) -> SettingJson<'a> {
    SettingJson { directory, value }
}

impl Serialize for SettingJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            SettingValue::Bool(value) => serializer.serialize_bool(*value),
            SettingValue::Int(value) => serializer.serialize_i64(*value),
            SettingValue::Text(value) => serializer.serialize_str(value),
            SettingValue::Null => serializer.serialize_none(),
            SettingValue::Group(value) => group_setting(self.directory, value).serialize(serializer),
        }
    }
}

#[derive(Serialize)]
struct Choice {
    key: &'static str,
    text: &'static str,
}

/// Writes the `user_settings` object of a user.
pub fn push_user_settings(out: &mut Vec<u8>, directory: &Directory, user: &User) {
    push_settings(out, directory, user_values(user));
}

/// Writes the settings that new people start with: `user_settings` without what is personal.
pub fn push_default_settings(out: &mut Vec<u8>, directory: &Directory) {
    let shared = USER_SETTINGS.iter().filter(|setting| setting.name != "timezone");
    push_settings(out, directory, shared.map(|setting| (setting.name, setting.default.to_value())));
}

fn push_settings(
    out: &mut Vec<u8>,
    directory: &Directory,
    values: impl Iterator<Item = (&'static str, SettingValue)>,
) {
    out.push(b'{');
    for (name, value) in values {
        push_text(out, name);
        out.push(b':');
        push_value(out, &setting(directory, &value));
        out.push(b',');
    }
    out.extend_from_slice(b"\"emojiset_choices\":");
    push_value(out, &EMOJI_SETS.map(|(key, text)| Choice { key, text }));
    out.extend_from_slice(b",\"available_notification_sounds\":");
    push_value(out, NOTIFICATION_SOUNDS);
    out.push(b'}');
}
