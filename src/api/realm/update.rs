//! `PATCH /realm`: settings of the organization (docs/api/organization.md#update-the-organization).

use super::setting_fields::settings;
use crate::api::groups::permissions::optional_group_setting_or_change;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_ok};
use actors::commands;
use model::SettingValue;
use rules::settings::{REALM_SETTINGS, RealmPermission, RealmUpdate, realm_setting};

/// The parameters.
pub struct UpdateRealm(RealmUpdate);

impl FromFields for UpdateRealm {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let mut update = RealmUpdate {
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
        Ok(Self(update))
    }
}

/// Changes what is given, all of it or nothing; success without an event where that is what holds already.
pub async fn update_realm(caller: Caller, Params(UpdateRealm(update)): Params<UpdateRealm>) -> HandlerResult {
    caller.realm.execute(commands::UpdateRealm { by: caller.user.id, update }).await?;
    reply_ok()
}
