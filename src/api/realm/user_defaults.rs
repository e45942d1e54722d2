//! `PATCH /realm/user_settings_defaults`: personal settings that new people start with (companions.md 5).

use super::setting_fields::settings;
use crate::http::{Answer, ApiError, Caller, Fields, FromFields, Params, reply_ok};
use model::SettingValue;
use rules::settings::{Setting, USER_SETTINGS, user_default_settings};

/// The parameters.
pub struct UpdateDefaults(Vec<(&'static Setting, SettingValue)>);

impl FromFields for UpdateDefaults {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let mut found = settings(fields, USER_SETTINGS)?;
        found.retain(|(setting, _)| user_default_settings().any(|known| known.name == setting.name));
        Ok(Self(found))
    }
}

/// Changes what is given, all of it or nothing. Nobody who has an account notices.
pub async fn update_user_defaults(
    caller: Caller,
    Params(UpdateDefaults(settings)): Params<UpdateDefaults>,
) -> Answer {
    caller.realm.update_user_defaults(caller.user.id, settings).await?;
    reply_ok()
}
