//! `POST /user_groups/create`: a new group (docs/api/groups.md#create-a-group).

use super::permissions::optional_group_setting;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply};
use actors::commands;
use model::GroupId;
use rules::groups::GroupRequest;
use rules::settings::GroupPermission;
use serde::Serialize;

/// The parameters.
pub struct CreateGroup(GroupRequest);

impl FromFields for CreateGroup {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let mut request = GroupRequest {
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
        Ok(Self(request))
    }
}

#[derive(Serialize)]
struct Created {
    group_id: GroupId,
}

/// `group_id` of the new group. Its creator is not in it unless listed.
pub async fn create_group(
    caller: Caller,
    Params(CreateGroup(request)): Params<CreateGroup>,
) -> HandlerResult {
    let group_id = caller.realm.execute(commands::CreateGroup { by: caller.user.id, request }).await?;
    reply(&Created { group_id })
}
