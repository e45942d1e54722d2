//! `/user_groups/{user_group_id}/subgroups`: lists and changes the subgroups of a group
//! (docs/api/groups.md#change-members).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply_field};
use actors::commands;
use model::GroupId;
use rules::groups::access_group;

/// Subgroups to remove and to add.
pub struct ChangeSubgroups {
    delete: Vec<i64>,
    add: Vec<i64>,
}

impl FromFields for ChangeSubgroups {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let delete = fields.optional_ints("delete")?.unwrap_or_default();
        let add = fields.optional_ints("add")?.unwrap_or_default();
        Ok(Self { delete, add })
    }
}

/// Makes all changes, or none if any is refused.
pub async fn change_subgroups(
    caller: Caller,
    Path(group): Path<GroupId>,
    Params(ChangeSubgroups { delete, add }): Params<ChangeSubgroups>,
) -> HandlerResult {
    let (by, group) = (caller.user.id, group.0.into());
    caller.execute(commands::ChangeSubgroups { by, group, add, delete }).await
}

/// Whether subgroups of subgroups are left out.
pub struct DirectOnly(bool);

impl FromFields for DirectOnly {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.bool_or("direct_subgroup_only", false)?))
    }
}

/// Lists the ids of `subgroups`.
pub async fn list_subgroups(
    caller: Caller,
    Path(group): Path<GroupId>,
    Params(DirectOnly(is_direct)): Params<DirectOnly>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    let group = access_group(&directory, group.0.into())?;
    let subgroups = if is_direct { group.subgroups.clone() } else { directory.subgroups_of(group.id) };
    reply_field("subgroups", &subgroups)
}
