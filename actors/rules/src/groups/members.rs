//! Who may be added to and removed from a user group (docs/api/groups.md#change-members).

use super::{access_group, active_member, check_room_for_members, check_room_for_subgroups, manages_group};
use crate::error::{GroupError, RuleError};
use crate::permissions::group_setting::active_group;
use model::{Directory, GroupId, User, UserGroup, UserId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Ids of users and groups to add and remove, as sent.
#[derive(Clone, Debug, Default)]
pub struct MembersRequest {
    pub add: Vec<i64>,
    pub delete: Vec<i64>,
    pub add_subgroups: Vec<i64>,
    pub delete_subgroups: Vec<i64>,
}

/// Changes of direct members and direct subgroups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MembersChange {
    pub added: BTreeSet<UserId>,
    pub removed: BTreeSet<UserId>,
    pub added_subgroups: BTreeSet<GroupId>,
    pub removed_subgroups: BTreeSet<GroupId>,
}

/// Decides a change of members (POST /user_groups/{id}/members), also of deactivated groups. The request must name at
/// least one id, and every id must make a difference.
pub fn check_members_change<'d>(
    dir: &'d Directory,
    requester: &User,
    id: i64,
    request: &MembersRequest,
) -> Result<(&'d Arc<UserGroup>, MembersChange), RuleError> {
    let MembersRequest { add, delete, add_subgroups, delete_subgroups } = request;
    if add.is_empty() && delete.is_empty() && add_subgroups.is_empty() && delete_subgroups.is_empty() {
        return Err(GroupError::NobodyToChange.into());
    }
    check_change(dir, requester, id, request)
}

/// Decides a change of subgroups only (POST /user_groups/{id}/subgroups), likewise.
pub fn check_subgroups_change<'d>(
    dir: &'d Directory,
    requester: &User,
    id: i64,
    add: Vec<i64>,
    delete: Vec<i64>,
) -> Result<(&'d Arc<UserGroup>, MembersChange), RuleError> {
    if add.is_empty() && delete.is_empty() {
        return Err(GroupError::NoSubgroupToChange.into());
    }
    let request =
        MembersRequest { add_subgroups: add, delete_subgroups: delete, ..MembersRequest::default() };
    check_change(dir, requester, id, &request)
}

fn check_change<'d>(
    dir: &'d Directory,
    requester: &User,
    id: i64,
    request: &MembersRequest,
) -> Result<(&'d Arc<UserGroup>, MembersChange), RuleError> {
    let group = access_group(dir, id)?;
    if group.is_system {
        return Err(RuleError::InvalidUserGroup);
    }
    check_permission(dir, requester, group, request)?;
    let mut change = MembersChange::default();
    for id in &request.add {
        let user = active_member(dir, *id)?;
        if group.members.contains(&user) {
            return Err(GroupError::MemberExists { id: user }.into());
        }
        change.added.insert(user);
    }
    for id in &request.delete {
        let user = u32::try_from(*id).ok().map(UserId).filter(|user| group.members.contains(user));
        change.removed.insert(user.ok_or(GroupError::MemberMissing { id: *id })?);
    }
    // Groups that may not be below this one.
    let above = match request.add.is_empty() && request.add_subgroups.is_empty() {
        true => BTreeSet::new(),
        false => dir.group_and_supergroups(group.id),
    };
    for id in &request.add_subgroups {
        let below = active_group(dir, *id)?;
        if group.subgroups.contains(&below.id) {
            return Err(GroupError::SubgroupExists { id: below.id }.into());
        }
        if above.contains(&below.id) {
            return Err(GroupError::SubgroupCycle { id: group.id }.into());
        }
        change.added_subgroups.insert(below.id);
    }
    for id in &request.delete_subgroups {
        let below = u32::try_from(*id).ok().map(GroupId).filter(|below| group.subgroups.contains(below));
        change.removed_subgroups.insert(below.ok_or(GroupError::SubgroupMissing { id: *id })?);
    }
    let more = change.added_subgroups.len().saturating_sub(change.removed_subgroups.len());
    check_room_for_subgroups(dir, requester, Some(group.id), more)?;
    check_room_for_members(dir, change.added.len(), &change.added_subgroups, above.len())?;
    Ok((group, change))
}

/// Users may add and remove themselves with separate permissions. Guests may only leave: no other permission can be
/// granted to everyone.
fn check_permission(
    dir: &Directory,
    requester: &User,
    group: &UserGroup,
    request: &MembersRequest,
) -> Result<(), RuleError> {
    if manages_group(dir, requester, group) {
        return Ok(());
    }
    let is_self = |ids: &[i64]| ids.iter().all(|id| *id == i64::from(requester.id.0));
    let permissions = &group.permissions;
    let holds = |setting| !requester.is_guest() && dir.holds(setting, requester.id);
    let may_add = holds(&permissions.add_members);
    let may_remove = holds(&permissions.remove_members);
    let may_come = may_add || is_self(&request.add) && holds(&permissions.join);
    let may_go = may_remove || is_self(&request.delete) && dir.holds(&permissions.leave, requester.id);
    let may = (request.add.is_empty() || may_come)
        && (request.delete.is_empty() || may_go)
        && (request.add_subgroups.is_empty() || may_add)
        && (request.delete_subgroups.is_empty() || may_remove);
    if may { Ok(()) } else { Err(RuleError::InsufficientPermission) }
}
