//! `PATCH /realm/user_settings_defaults`: personal settings that new accounts start with
//! (docs/api/organization.md#update-defaults-for-new-users).

use super::setting_fields::settings;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params};
use actors::commands;
use model::SettingValue;
use rules::settings::{Setting, USER_SETTINGS, user_default_settings};

/// The defaults to change.
pub struct UpdateDefaults(Vec<(&'static Setting, SettingValue)>);

impl FromFields for UpdateDefaults {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let mut found = settings(fields, USER_SETTINGS)?;
        found.retain(|(setting, _)| user_default_settings().any(|known| known.name == setting.name));
        Ok(Self(found))
    }
}

/// Changes the given defaults, or none if any is refused. Existing accounts keep their settings.
pub async fn update_user_defaults(
    caller: Caller,
    Params(UpdateDefaults(settings)): Params<UpdateDefaults>,
) -> HandlerResult {
    caller.execute(commands::UpdateUserDefaults { by: caller.user.id, settings }).await
}
