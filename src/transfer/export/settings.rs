//! Settings as columns: the names of the API, and for some of them the numbers that Zulip stores.

use crate::transfer::zulip::{CHANNEL_COLUMNS, FIRST_NUMBERS};
use model::{Realm, SettingValue, User};
use rules::settings::{REALM_SETTINGS, Setting, SettingKind, USER_SETTINGS, realm_value, user_defaults};
use serde_json::{Map, Value, json};

/// The columns of a row.
pub type Columns = Map<String, Value>;

/// The value of a column.
fn column(setting: &Setting, value: &SettingValue) -> Value {
    match (value, setting.kind) {
        (SettingValue::Bool(value), _) => json!(value),
        (SettingValue::Int(value), _) => json!(value),
        (SettingValue::Text(text), SettingKind::Word(names)) => {
            let first = FIRST_NUMBERS.iter().find(|(name, _)| *name == setting.name).map(|(_, first)| *first);
            let position = names.iter().position(|name| name == text);
            match (first, position.and_then(|position| i64::try_from(position).ok())) {
                (Some(first), Some(position)) => json!(first + position),
                (Some(_), None) | (None, _) => json!(text),
            }
        }
        (SettingValue::Text(text), _) => json!(text),
        (SettingValue::Null | SettingValue::Group(_), _) => Value::Null,
    }
}

/// The settings of a user.
pub fn user_columns(user: &User, columns: &mut Columns) {
    for (setting, (name, value)) in USER_SETTINGS.iter().zip(rules::settings::user_values(user)) {
        columns.insert(name.to_owned(), column(setting, &value));
    }
}

/// The defaults of new users.
pub fn default_columns(realm: &Realm, columns: &mut Columns) {
    for (name, value) in user_defaults(realm) {
        if let Some(setting) = USER_SETTINGS.iter().find(|setting| setting.name == name) {
            columns.insert(name.to_owned(), column(setting, &value));
        }
    }
}

/// The settings of the organization. Those that refer to a channel have its id, if it is exported.
pub fn realm_columns(realm: &Realm, has_channel: impl Fn(i64) -> bool, columns: &mut Columns) {
    for setting in REALM_SETTINGS {
        let value = realm_value(realm, setting);
        match CHANNEL_COLUMNS.iter().find(|(name, _)| *name == setting.name) {
            Some((_, name)) => {
                let channel = match value {
                    SettingValue::Int(id) if id > 0 && has_channel(id) => json!(id),
                    _ => Value::Null,
                };
                columns.insert((*name).to_owned(), channel);
            }
            None => _ = columns.insert(setting.name.to_owned(), column(setting, &value)),
        }
    }
}
