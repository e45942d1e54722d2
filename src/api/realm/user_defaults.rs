//! `PATCH /realm/user_settings_defaults`: personal settings that new accounts start with
//! (docs/api/organization.md#update-defaults-for-new-users).

use super::setting_fields::settings;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params};
use actors::commands;
use model::SettingValue;
use rules::settings::{Setting, user_default_settings};

/// The defaults to change.
pub struct UpdateDefaults(Vec<(&'static Setting, SettingValue)>);

impl FromFields for UpdateDefaults {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        settings(fields, user_default_settings()).map(Self)
    }
}

/// Changes the given defaults, or none if any is refused. Existing accounts keep their settings.
pub async fn update_user_defaults(
    caller: Caller,
    Params(UpdateDefaults(settings)): Params<UpdateDefaults>,
) -> HandlerResult {
    caller.execute(commands::UpdateUserDefaults { by: caller.user.id, settings }).await
}
