//! `realm_user_settings_defaults`: a default for the settings of new users.

use crate::api::wire::settings::SettingJson;
use serde::Serialize;

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(super) enum RealmUserSettingsDefaults<'e> {
    Update { property: &'static str, value: SettingJson<'e> },
}
