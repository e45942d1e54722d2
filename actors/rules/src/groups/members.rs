//! Who may be added to and removed from a user group (docs/api/groups.md#change-members).

use super::{access_group, active_member, manages_group};
use crate::error::{GroupError, RuleError};
use crate::permissions::group_setting::active_group;
use model::{Directory, GroupId, User, UserGroup, UserId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Ids as a client sends them.
#[derive(Clone, Debug, Default)]
pub struct MembersRequest {
    /// Users to add.
    pub add: Vec<i64>,
    /// Users to remove.
    pub delete: Vec<i64>,
    /// Groups to add.
    pub add_subgroups: Vec<i64>,
    /// Groups to remove.
    pub delete_subgroups: Vec<i64>,
}

/// Who comes and who goes; sorted, without doubles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MembersChange {
    /// New direct members.
    pub added: BTreeSet<UserId>,
    /// Former direct members.
    pub removed: BTreeSet<UserId>,
    /// New direct subgroups.
    pub added_subgroups: BTreeSet<GroupId>,
    /// Former direct subgroups.
    pub removed_subgroups: BTreeSet<GroupId>,
}

/// Decides a change of members (POST /user_groups/{id}/members): something to do, no system group, permission,
/// and that it makes a difference for everybody named. Deactivated groups can be changed, too.
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

/// Decides a change of subgroups alone (POST /user_groups/{id}/subgroups), likewise.
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
    for id in &request.add_subgroups {
        let below = active_group(dir, *id)?;
        if group.subgroups.contains(&below.id) {
            return Err(GroupError::SubgroupExists { id: below.id }.into());
        }
        if below.id == group.id || is_inside(dir, group.id, below.id) {
            return Err(GroupError::SubgroupCycle { id: group.id }.into());
        }
        change.added_subgroups.insert(below.id);
    }
    for id in &request.delete_subgroups {
        let below = u32::try_from(*id).ok().map(GroupId).filter(|below| group.subgroups.contains(below));
        change.removed_subgroups.insert(below.ok_or(GroupError::SubgroupMissing { id: *id })?);
    }
    Ok((group, change))
}

/// Oneself one may add or remove with a permission of its own. Guests may leave at most, as that alone can be for
/// everyone.
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

/// Whether a group is a subgroup of another one, directly or not.
pub fn is_inside(dir: &Directory, group: GroupId, outer: GroupId) -> bool {
    let mut seen = BTreeSet::from([outer]);
    let mut open = vec![outer];
    while let Some(id) = open.pop() {
        let Some(record) = dir.group(id) else { continue };
        if record.subgroups.contains(&group) {
            return true;
        }
        open.extend(record.subgroups.iter().copied().filter(|below| seen.insert(*below)));
    }
    false
}
