//! `/user_groups/{user_group_id}/members`: lists and changes the members of a group
//! (docs/api/groups.md#change-members).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply, reply_ok};
use actors::commands;
use model::{Directory, GroupId, UserId};
use rules::groups::{MembersRequest, access_group};
use serde::Serialize;

/// The parameters of the POST.
pub struct ChangeMembers(MembersRequest);

impl FromFields for ChangeMembers {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(MembersRequest {
            delete: fields.optional_ints("delete")?.unwrap_or_default(),
            add: fields.optional_ints("add")?.unwrap_or_default(),
            delete_subgroups: fields.optional_ints("delete_subgroups")?.unwrap_or_default(),
            add_subgroups: fields.optional_ints("add_subgroups")?.unwrap_or_default(),
        }))
    }
}

/// All of it or, if anything is refused, none.
pub async fn change_members(
    caller: Caller,
    Path(group): Path<GroupId>,
    Params(ChangeMembers(request)): Params<ChangeMembers>,
) -> HandlerResult {
    caller
        .realm
        .execute(commands::ChangeGroupMembers { by: caller.user.id, group: group.0.into(), request })
        .await?;
    reply_ok()
}

/// The parameters of both GETs.
pub struct DirectOnly {
    direct_member_only: bool,
}

impl FromFields for DirectOnly {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { direct_member_only: fields.bool_or("direct_member_only", false)? })
    }
}

#[derive(Serialize)]
struct Members {
    members: Vec<UserId>,
}

/// `members` with active accounts, those of groups inside it included unless told otherwise.
pub async fn list_members(
    caller: Caller,
    Path(group): Path<GroupId>,
    Params(DirectOnly { direct_member_only }): Params<DirectOnly>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    let group = access_group(&directory, group.0.into())?;
    let is_active = |id: &UserId| directory.is_active_user(*id);
    let members = if direct_member_only {
        group.members.iter().copied().filter(is_active).collect()
    } else {
        directory.members_of(group.id).into_iter().filter(is_active).collect()
    };
    reply(&Members { members })
}

#[derive(Serialize)]
struct Membership {
    is_user_group_member: bool,
}

/// `is_user_group_member`: whether somebody is in a group, be it by way of a group inside it.
pub async fn is_member(
    caller: Caller,
    Path((group, user)): Path<(GroupId, UserId)>,
    Params(DirectOnly { direct_member_only }): Params<DirectOnly>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    let group = access_group(&directory, group.0.into())?;
    let user = access_active_user(&directory, user)?;
    let is_user_group_member = match direct_member_only {
        true => group.members.contains(&user),
        false => directory.is_in_group(group.id, user),
    };
    reply(&Membership { is_user_group_member })
}

fn access_active_user(directory: &Directory, id: UserId) -> Result<UserId, ApiError> {
    match directory.user(id) {
        Some(user) if user.is_active => Ok(id),
        Some(_) => Err(ApiError::bad_request("User is deactivated")),
        None => Err(ApiError::bad_request("No such user")),
    }
}
