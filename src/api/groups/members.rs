//! `/user_groups/{user_group_id}/members`: lists and changes the members of a group
//! (docs/api/groups.md#change-members).

use crate::api::wire::list::reply_list;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply_field};
use actors::commands;
use model::{Directory, GroupId, UserId};
use rules::groups::{MembersRequest, access_group};

impl FromFields for MembersRequest {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            delete: fields.optional_ints("delete")?.unwrap_or_default(),
            add: fields.optional_ints("add")?.unwrap_or_default(),
            delete_subgroups: fields.optional_ints("delete_subgroups")?.unwrap_or_default(),
            add_subgroups: fields.optional_ints("add_subgroups")?.unwrap_or_default(),
        })
    }
}

/// Makes all changes, or none if any is refused.
pub async fn change_members(
    caller: Caller,
    Path(group): Path<GroupId>,
    Params(request): Params<MembersRequest>,
) -> HandlerResult {
    let (by, group) = (caller.user.id, group.0.into());
    caller.execute(commands::ChangeGroupMembers { by, group, request }).await
}

/// Whether members of subgroups are left out.
pub struct DirectOnly(bool);

impl FromFields for DirectOnly {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.bool_or("direct_member_only", false)?))
    }
}

/// Lists active `members`.
pub async fn list_members(
    caller: Caller,
    Path(group): Path<GroupId>,
    Params(DirectOnly(is_direct)): Params<DirectOnly>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    let group = access_group(&directory, group.0.into())?;
    let is_active = |id: &UserId| directory.is_active_user(*id);
    match is_direct {
        true => reply_list("members", group.members.iter().copied().filter(is_active)),
        false => reply_list("members", directory.members_of(group.id).into_iter().filter(is_active)),
    }
}

/// Returns `is_user_group_member`: whether a user is in a group or its subgroups.
pub async fn is_member(
    caller: Caller,
    Path((group, user)): Path<(GroupId, UserId)>,
    Params(DirectOnly(is_direct)): Params<DirectOnly>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    let group = access_group(&directory, group.0.into())?;
    let user = access_active_user(&directory, user)?;
    let is_member =
        if is_direct { group.members.contains(&user) } else { directory.is_in_group(group.id, user) };
    reply_field("is_user_group_member", &is_member)
}

fn access_active_user(directory: &Directory, id: UserId) -> Result<UserId, ApiError> {
    match directory.user(id) {
        Some(user) if user.is_active => Ok(id),
        Some(_) => Err(ApiError::bad_request("User is deactivated")),
        None => Err(ApiError::bad_request("No such user")),
    }
}
