//! `POST /user_groups/{user_group_id}/deactivate`: deactivates a group that nothing refers to
//! (docs/api/groups.md#deactivate-a-group). `DELETE /user_groups/{user_group_id}`, by which clients older than level 294 remove
//! a group, does the same.

use crate::http::{Caller, HandlerResult, Params, Path};
use actors::commands;
use model::GroupId;

/// Deactivates a group. CANNOT_DEACTIVATE_GROUP_IN_USE lists what refers to it.
pub async fn deactivate_group(caller: Caller, Path(group): Path<GroupId>, _: Params<()>) -> HandlerResult {
    caller.execute(commands::DeactivateGroup { by: caller.user.id, group: group.0.into() }).await
}
