//! `PATCH /user_groups/{user_group_id}`: name, description and permissions of a group, and reactivating it
//! (docs/api/groups.md#update-a-group).

use super::permissions::optional_group_setting_change;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path};
use actors::commands;
use model::GroupId;
use rules::groups::GroupUpdate;
use rules::settings::GroupPermission;

impl FromFields for GroupUpdate {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let mut update = Self {
            name: fields.optional("name"),
            description: fields.optional("description"),
            permissions: Vec::new(),
            is_deactivated: None,
        };
        for permission in GroupPermission::ALL {
            if let Some(change) = optional_group_setting_change(fields, permission.rule().name)? {
                update.permissions.push((permission, change));
            }
        }
        update.is_deactivated = fields.optional_bool("deactivated")?;
        Ok(update)
    }
}

/// Changes the given properties; success without an event if nothing differs.
pub async fn update_group(
    caller: Caller,
    Path(group): Path<GroupId>,
    Params(update): Params<GroupUpdate>,
) -> HandlerResult {
    caller.execute(commands::UpdateGroup { by: caller.user.id, group: group.0.into(), update }).await
}
