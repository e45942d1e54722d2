//! `user_settings`: one of the user's own settings.

use super::writer::EventWriter;
use crate::api::wire::settings::{SettingJson, setting};
use model::SettingValue;
use model::event::ChangedSetting;
use rules::settings::language_name as name_of_language;
use serde::Serialize;

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(super) enum UserSettings<'e> {
    Update {
        property: &'static str,
        value: SettingJson<'e>,
        #[serde(skip_serializing_if = "Option::is_none")]
        language_name: Option<&'e str>,
    },
}

pub(super) fn update<'e>(writer: &EventWriter<'e>, changed: &'e ChangedSetting) -> UserSettings<'e> {
    UserSettings::Update {
        property: changed.name,
        value: setting(writer.directory, &changed.value),
        language_name: language_name(changed),
    }
}

/// What a new language is called; none for other settings. An unknown language is called by its code.
pub(super) fn language_name(changed: &ChangedSetting) -> Option<&str> {
    match &changed.value {
        SettingValue::Text(code) if changed.name == "default_language" => {
            Some(name_of_language(code).unwrap_or(code))
        }
        _ => None,
    }
}
