//! Settings as clients read them (docs/api/settings.md, docs/api/events.md#state).

use super::group::group_setting;
use super::json::{push_text, push_value};
use model::{Directory, SettingValue, User};
use rules::settings::{EMOJI_SETS, NOTIFICATION_SOUNDS, user_defaults, user_values};
use serde::{Serialize, Serializer};

/// The value of a setting of any type.
#[derive(Clone, Copy, Debug)]
pub struct SettingJson<'a> {
    directory: &'a Directory,
    value: &'a SettingValue,
}

/// The JSON of a setting; group settings are without deactivated users.
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

/// Writes the default settings of new users: `user_settings` without personal settings.
pub fn push_default_settings(out: &mut Vec<u8>, directory: &Directory) {
    push_settings(out, directory, user_defaults(directory.realm()));
}

/// Writes the list of available emoji sets.
pub fn push_emoji_sets(out: &mut Vec<u8>) {
    push_value(out, &EMOJI_SETS.map(|(key, text)| Choice { key, text }));
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
    push_emoji_sets(out);
    out.extend_from_slice(b",\"available_notification_sounds\":");
    push_value(out, NOTIFICATION_SOUNDS);
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::wire::fixture::{IAGO, directory};
    use rules::settings::USER_SETTINGS;
    use serde_json::Value;

    #[test]
    fn own_settings_override_defaults() {
        let mut directory = directory();
        let mut iago = User::clone(directory.user(IAGO).unwrap());
        iago.timezone = "Europe/Paris".into();
        iago.settings.insert("enter_sends".into(), SettingValue::Bool(true));
        directory.put_user(iago);
        let (mut own, mut shared) = (Vec::new(), Vec::new());
        push_user_settings(&mut own, &directory, directory.user(IAGO).unwrap());
        push_default_settings(&mut shared, &directory);
        let own: Value = serde_json::from_slice(&own).unwrap();
        let shared: Value = serde_json::from_slice(&shared).unwrap();
        assert_eq!((&own["enter_sends"], &shared["enter_sends"]), (&Value::Bool(true), &Value::Bool(false)));
        assert_eq!((&own["timezone"], shared.get("timezone")), (&Value::from("Europe/Paris"), None));
        assert_eq!(own["emojiset_choices"][0]["key"], "google");
        assert_eq!(own["available_notification_sounds"].as_array().unwrap().len(), NOTIFICATION_SOUNDS.len());
        assert_eq!(own.as_object().unwrap().len(), USER_SETTINGS.len() + 2);
    }
}
