//! `PATCH /user_groups/{user_group_id}`: name, description and permissions of a group, and reactivating it
//! (docs/api/groups.md#update-a-group).

use super::permissions::optional_group_setting_change;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply_ok};
use actors::commands;
use model::GroupId;
use rules::groups::GroupUpdate;
use rules::settings::GroupPermission;

/// The parameters.
pub struct UpdateGroup(GroupUpdate);

impl FromFields for UpdateGroup {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let mut update = GroupUpdate {
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
        Ok(Self(update))
    }
}

/// Changes what is given; success without an event where that is what holds already.
pub async fn update_group(
    caller: Caller,
    Path(group): Path<GroupId>,
    Params(UpdateGroup(update)): Params<UpdateGroup>,
) -> HandlerResult {
    caller.realm.execute(commands::UpdateGroup { by: caller.user.id, group: group.0.into(), update }).await?;
    reply_ok()
}
