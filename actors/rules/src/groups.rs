//! User groups: names, and who may create and change them (docs/api/groups.md).

mod deactivate;
mod members;

pub use deactivate::{access_group_to_deactivate, group_objections};
pub use members::{MembersChange, MembersRequest, check_members_change, check_subgroups_change};

use crate::error::{GroupError, RuleError};
use crate::names::check_length;
use crate::permissions::group_setting::{
    ProposedGroupSetting, active_group, check_group_setting, check_holds_realm, default_group_permissions,
    holds_realm,
};
use crate::permissions::group_setting_change::{ProposedChange, check_group_setting_change};
use crate::permissions::roles::check_not_guest;
use crate::settings::{GroupPermission, RealmPermission};
use crate::shares::Account;
use crate::text;
use model::group::GroupPermissions;
use model::{Directory, GroupId, GroupSetting, User, UserGroup, UserId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Longest group name, in code points.
pub const GROUP_NAME_LENGTH_MAX: usize = 100;

/// Longest description, in code points. The API documents no limit; this one only bounds storage.
pub const GROUP_DESCRIPTION_LENGTH_MAX: usize = 10_000;

/// Maximum number of groups of an organization, system groups and deactivated ones included.
pub const GROUPS_MAX: usize = 10_000;

/// Most groups that one account that is no administrator has created, those of its bots and deactivated ones included.
pub const CREATED_MAX: usize = 1_000;

/// Maximum number of direct subgroups of all groups of an organization together. A change of a group's members is resolved
/// for every group above it.
pub const SUBGROUPS_MAX: usize = 5_000;

/// The same for the groups that one account that is no administrator has created with its bots, and the one that it changes.
pub const CREATED_SUBGROUPS_MAX: usize = 500;

/// Most members of all groups of an organization together, of each group its direct and indirect ones, which are in memory.
pub const MEMBERSHIPS_MAX: usize = 5_000_000;

/// Prefixes that are reserved for mentions and system groups.
const NAME_PREFIXES_REFUSED: [&str; 5] = ["@", "role:", "user:", "stream:", "channel:"];

/// A group name as sent → the name to store.
pub fn parse_group_name(raw: &str) -> Result<&str, RuleError> {
    let name = text::strip(raw);
    if name.is_empty() {
        return Err(GroupError::NameEmpty.into());
    }
    if name.chars().count() > GROUP_NAME_LENGTH_MAX {
        return Err(GroupError::NameTooLong.into());
    }
    match NAME_PREFIXES_REFUSED.into_iter().find(|prefix| name.starts_with(prefix)) {
        Some(prefix) => Err(GroupError::NamePrefix { prefix }.into()),
        None => Ok(name),
    }
}

/// Whether a group (none: a new one) may have a parsed name. Names of deactivated groups are taken as well.
fn check_group_name_free(dir: &Directory, name: &str, group: Option<GroupId>) -> Result<(), RuleError> {
    match dir.group_by_name(name) {
        Some(taken) if Some(taken.id) != group => {
            Err(GroupError::AlreadyExists { name: name.to_owned() }.into())
        }
        _ => Ok(()),
    }
}

/// Whether the organization, and an account, may have another group: `TooMany`, `TooManyOwn`.
fn check_room_for_group(dir: &Directory, creator: &User) -> Result<(), RuleError> {
    if dir.group_count() >= GROUPS_MAX {
        return Err(GroupError::TooMany { limit: GROUPS_MAX }.into());
    }
    let account = Account::of(dir, creator);
    let created = || dir.groups().filter(|group| account.created(group.creator)).count();
    if !creator.is_administrator() && created() >= CREATED_MAX {
        return Err(GroupError::TooManyOwn { limit: CREATED_MAX }.into());
    }
    Ok(())
}

/// Whether a group (none: a new one) may have this many more direct subgroups: `TooManySubgroups`, `TooManyOwnSubgroups`.
fn check_room_for_subgroups(
    dir: &Directory,
    requester: &User,
    group: Option<GroupId>,
    more: usize,
) -> Result<(), RuleError> {
    if more == 0 {
        return Ok(());
    }
    let account = Account::of(dir, requester);
    let (mut all, mut own) = (more, more);
    for known in dir.groups() {
        all += known.subgroups.len();
        if Some(known.id) == group || account.created(known.creator) {
            own += known.subgroups.len();
        }
    }
    if all > SUBGROUPS_MAX {
        return Err(GroupError::TooManySubgroups { limit: SUBGROUPS_MAX }.into());
    }
    if !requester.is_administrator() && own > CREATED_SUBGROUPS_MAX {
        return Err(GroupError::TooManyOwnSubgroups { limit: CREATED_SUBGROUPS_MAX }.into());
    }
    Ok(())
}

/// Whether the organization has room for more members of groups, where `groups` groups get the same ones: direct members and
/// those of subgroups. `TooManyMembers`; users who are members already are counted once more.
fn check_room_for_members(
    dir: &Directory,
    direct: usize,
    subgroups: &BTreeSet<GroupId>,
    groups: usize,
) -> Result<(), RuleError> {
    let added = direct + subgroups.iter().map(|group| dir.members_of(*group).len()).sum::<usize>();
    if added > 0 && dir.membership_count() + added.saturating_mul(groups) > MEMBERSHIPS_MAX {
        return Err(GroupError::TooManyMembers { limit: MEMBERSHIPS_MAX }.into());
    }
    Ok(())
}

/// A request to create a group; values as sent.
#[derive(Clone, Debug, Default)]
pub struct GroupRequest {
    pub name: String,
    pub description: String,
    pub members: Vec<i64>,
    pub subgroups: Vec<i64>,
    /// Permissions that differ from the default.
    pub permissions: Vec<(GroupPermission, ProposedGroupSetting)>,
}

/// A permitted new group; see `model::UserGroup` for the fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPlan {
    pub name: String,
    pub description: String,
    pub members: BTreeSet<UserId>,
    pub subgroups: BTreeSet<GroupId>,
    pub permissions: GroupPermissions,
}

/// Decides a new group. Checks permission, number of groups, name, members, subgroups and settings, in this order.
pub fn check_new_group(
    dir: &Directory,
    creator: &User,
    request: &GroupRequest,
) -> Result<GroupPlan, RuleError> {
    check_not_guest(creator)?;
    check_holds_realm(dir, RealmPermission::CreateGroups, creator.id)?;
    check_room_for_group(dir, creator)?;
    let name = parse_group_name(&request.name)?;
    check_group_name_free(dir, name, None)?;
    let description =
        check_length("description", &request.description, GROUP_DESCRIPTION_LENGTH_MAX)?.to_owned();
    let members = request.members.iter().map(|id| active_member(dir, *id)).collect::<Result<_, _>>()?;
    let subgroups = request.subgroups.iter().map(|id| Ok(active_group(dir, *id)?.id));
    let subgroups = subgroups.collect::<Result<BTreeSet<_>, RuleError>>()?;
    check_room_for_subgroups(dir, creator, None, subgroups.len())?;
    check_room_for_members(dir, request.members.len(), &subgroups, 1)?;
    let mut permissions = default_group_permissions(dir, Some(creator.id));
    for (permission, proposed) in &request.permissions {
        permission.set(&mut permissions, check_group_setting(dir, permission.rule(), proposed)?);
    }
    Ok(GroupPlan { name: name.to_owned(), description, members, subgroups, permissions })
}

fn active_member(dir: &Directory, id: i64) -> Result<UserId, RuleError> {
    let user = u32::try_from(id).ok().and_then(|id| dir.user(UserId(id)));
    let user = user.filter(|user| user.is_active && !user.is_system_bot());
    user.map(|user| user.id).ok_or(RuleError::InvalidMember { id })
}

/// Finds any group, system groups and deactivated ones included: `InvalidUserGroup`.
pub fn access_group(dir: &Directory, id: i64) -> Result<&Arc<UserGroup>, RuleError> {
    let group = u32::try_from(id).ok().and_then(|id| dir.group(GroupId(id)));
    group.ok_or(RuleError::InvalidUserGroup)
}

/// Whether a user may change a group: non-guests in its `can_manage_group` or the organization's
/// `can_manage_all_groups`.
pub fn manages_group(dir: &Directory, user: &User, group: &UserGroup) -> bool {
    let holds = dir.holds(&group.permissions.manage, user.id)
        || holds_realm(dir, RealmPermission::ManageAllGroups, user.id);
    holds && !user.is_guest()
}

/// Finds a group to change, deactivated ones included: `InvalidUserGroup` (also for system groups),
/// `InsufficientPermission`.
pub fn access_group_to_manage<'d>(
    dir: &'d Directory,
    requester: &User,
    id: i64,
) -> Result<&'d Arc<UserGroup>, RuleError> {
    check_not_guest(requester)?;
    let group = access_group(dir, id)?;
    if group.is_system {
        return Err(RuleError::InvalidUserGroup);
    }
    if manages_group(dir, requester, group) { Ok(group) } else { Err(RuleError::InsufficientPermission) }
}

/// A request to change a group; values as sent.
#[derive(Clone, Debug, Default)]
pub struct GroupUpdate {
    pub name: Option<String>,
    pub description: Option<String>,
    pub permissions: Vec<(GroupPermission, ProposedChange)>,
    /// False reactivates the group; true has no effect.
    pub is_deactivated: Option<bool>,
}

/// A changed property with its new value, which differs from the old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupChange {
    Reactivated,
    Name(String),
    Description(String),
    Permission(GroupPermission, GroupSetting),
}

/// Decides a change of a group: `NothingNew` without any parameter, then access, name, settings.
pub fn check_group_update<'d>(
    dir: &'d Directory,
    requester: &User,
    id: i64,
    update: &GroupUpdate,
) -> Result<(&'d Arc<UserGroup>, Vec<GroupChange>), RuleError> {
    let GroupUpdate { name, description, permissions, is_deactivated } = update;
    if name.is_none() && description.is_none() && permissions.is_empty() && is_deactivated.is_none() {
        return Err(GroupError::NothingNew.into());
    }
    let group = access_group_to_manage(dir, requester, id)?;
    let mut changes = Vec::new();
    if *is_deactivated == Some(false) && group.is_deactivated {
        changes.push(GroupChange::Reactivated);
    }
    if let Some(raw) = name {
        let name = parse_group_name(raw)?;
        check_group_name_free(dir, name, Some(group.id))?;
        if name != group.name {
            changes.push(GroupChange::Name(name.to_owned()));
        }
    }
    if let Some(raw) = description {
        let description = check_length("description", raw, GROUP_DESCRIPTION_LENGTH_MAX)?;
        if description != group.description {
            changes.push(GroupChange::Description(description.to_owned()));
        }
    }
    for (permission, change) in permissions {
        let new = check_group_setting_change(dir, permission.rule(), permission.of(group), change)?;
        changes.extend(new.map(|new| GroupChange::Permission(*permission, new)));
    }
    Ok((group, changes))
}

/// Applies a change to a group's record.
pub fn apply_group_change(group: &mut UserGroup, change: &GroupChange) {
    match change {
        GroupChange::Reactivated => group.is_deactivated = false,
        GroupChange::Name(name) => group.name.clone_from(name),
        GroupChange::Description(description) => group.description.clone_from(description),
        GroupChange::Permission(permission, value) => permission.set(&mut group.permissions, value.clone()),
    }
}

#[cfg(test)]
mod tests;
