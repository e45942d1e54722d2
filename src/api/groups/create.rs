//! `POST /user_groups/create`: a new group (docs/api/groups.md#create-a-group).

use super::permissions::optional_group_setting;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_field};
use actors::commands;
use rules::groups::GroupRequest;
use rules::settings::GroupPermission;

impl FromFields for GroupRequest {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let mut request = Self {
            name: fields.required("name")?,
            description: fields.required("description")?,
            members: fields.required_ints("members")?,
            subgroups: fields.optional_ints("subgroups")?.unwrap_or_default(),
            permissions: Vec::new(),
        };
        for permission in GroupPermission::ALL {
            if let Some(value) = optional_group_setting(fields, permission.rule().name)? {
                request.permissions.push((permission, value));
            }
        }
        Ok(request)
    }
}

/// Returns the `group_id` of the new group. Its creator is a member only if listed.
pub async fn create_group(caller: Caller, Params(request): Params<GroupRequest>) -> HandlerResult {
    let group_id = caller.realm.execute(commands::CreateGroup { by: caller.user.id, request }).await?;
    reply_field("group_id", &group_id)
}
