//! `PATCH /realm`: settings of the organization (docs/api/organization.md#update-the-organization).

use super::setting_fields::settings;
use crate::api::groups::permissions::optional_group_setting_or_change;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params};
use actors::commands;
use model::SettingValue;
use rules::settings::{REALM_SETTINGS, RealmPermission, RealmUpdate, realm_setting};

impl FromFields for RealmUpdate {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let mut update = Self {
            name: fields.optional("name"),
            description: fields.optional("description"),
            settings: settings(fields, REALM_SETTINGS)?,
            permissions: Vec::new(),
        };
        // The older form of `topics_policy`.
        if let (Some(is_mandatory), Some(policy)) =
            (fields.optional_bool("mandatory_topics")?, realm_setting("topics_policy"))
        {
            let word = if is_mandatory { "disable_empty_topic" } else { "allow_empty_topic" };
            update.settings.push((policy, SettingValue::Text(word.to_owned())));
        }
        for permission in RealmPermission::ALL {
            if let Some(change) = optional_group_setting_or_change(fields, permission.rule().name)? {
                update.permissions.push((permission, change));
            }
        }
        Ok(update)
    }
}

/// Changes the given settings, or none if any is refused; success without an event if nothing differs.
pub async fn update_realm(caller: Caller, Params(update): Params<RealmUpdate>) -> HandlerResult {
    caller.execute(commands::UpdateRealm { by: caller.user.id, update }).await
}
