//! `POST /user_groups/{user_group_id}/deactivate`: deactivates a group that nothing refers to
//! (docs/api/groups.md#deactivate-a-group).

use crate::http::{Caller, HandlerResult, Params, Path, reply_ok};
use actors::commands;
use model::GroupId;

/// Puts it out of use; CANNOT_DEACTIVATE_GROUP_IN_USE says what names it.
pub async fn deactivate_group(caller: Caller, Path(group): Path<GroupId>, _: Params<()>) -> HandlerResult {
    caller.realm.execute(commands::DeactivateGroup { by: caller.user.id, group: group.0.into() }).await?;
    reply_ok()
}
