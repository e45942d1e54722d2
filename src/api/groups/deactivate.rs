//! `POST /user_groups/{user_group_id}/deactivate`: a group goes out of use, if nothing depends on it
//! (companions.md 7).

use crate::http::{Answer, Caller, Params, Path, reply_ok};
use model::GroupId;

/// Puts it out of use; CANNOT_DEACTIVATE_GROUP_IN_USE says what names it.
pub async fn deactivate_group(caller: Caller, Path(group): Path<GroupId>, _: Params<()>) -> Answer {
    caller.realm.deactivate_group(caller.user.id, group).await?;
    reply_ok()
}
