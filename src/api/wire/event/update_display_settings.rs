//! `update_display_settings`: a display setting of the user, for clients without `user_settings`.

use super::user_settings::language_name;
use super::writer::EventWriter;
use crate::api::wire::settings::{SettingJson, setting};
use model::event::ChangedSetting;
use rules::permissions::users::api_email;
use serde::Serialize;
use std::borrow::Cow;

#[derive(Serialize)]
pub(super) struct UpdateDisplaySettings<'e> {
    user: Cow<'e, str>,
    setting_name: &'static str,
    setting: SettingJson<'e>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language_name: Option<&'e str>,
}

pub(super) fn changed<'e>(
    writer: &EventWriter<'e>,
    changed: &'e ChangedSetting,
) -> UpdateDisplaySettings<'e> {
    UpdateDisplaySettings {
        user: api_email(writer.directory, writer.owner),
        setting_name: changed.name,
        setting: setting(writer.directory, &changed.value),
        language_name: language_name(changed),
    }
}
