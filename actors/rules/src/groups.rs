//! User groups: names, and who may create and change them (docs/api/groups.md).

mod deactivate;
mod members;

pub use deactivate::{access_group_to_deactivate, group_objections};
pub use members::{MembersChange, MembersRequest, check_members_change, check_subgroups_change, is_inside};

use crate::error::{GroupError, RuleError};
use crate::permissions::group_setting::{
    ProposedGroupSetting, active_group, check_group_setting, check_holds_realm, default_group_permissions,
    holds_realm,
};
use crate::permissions::group_setting_change::{ProposedChange, check_group_setting_change};
use crate::permissions::roles::check_not_guest;
use crate::settings::{GroupPermission, RealmPermission};
use crate::text;
use model::group::GroupPermissions;
use model::{Directory, GroupId, GroupSetting, User, UserGroup, UserId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Longest group name, in code points.
pub const GROUP_NAME_LENGTH_MAX: usize = 100;

/// Longest description, in code points. Nothing is documented: so long that nobody meets it, short enough to store.
pub const GROUP_DESCRIPTION_LENGTH_MAX: usize = 10_000;

/// How group names must not begin: mentions and system groups do.
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

/// A description as sent → the text to store.
fn parse_group_description(raw: &str) -> Result<&str, RuleError> {
    if raw.chars().count() > GROUP_DESCRIPTION_LENGTH_MAX {
        return Err(RuleError::TooLong { field: "description", limit: GROUP_DESCRIPTION_LENGTH_MAX });
    }
    Ok(raw)
}

/// Whether a group (none: a new one) may have a parsed name. Deactivated groups keep theirs.
pub fn check_group_name_free(dir: &Directory, name: &str, group: Option<GroupId>) -> Result<(), RuleError> {
    match dir.group_by_name(name) {
        Some(taken) if Some(taken.id) != group => {
            Err(GroupError::AlreadyExists { name: name.to_owned() }.into())
        }
        _ => Ok(()),
    }
}

/// A group to be made, as a client wants it.
#[derive(Clone, Debug, Default)]
pub struct GroupRequest {
    /// As sent.
    pub name: String,
    /// As sent.
    pub description: String,
    /// User ids.
    pub members: Vec<i64>,
    /// Group ids.
    pub subgroups: Vec<i64>,
    /// Permissions that are not to be the default.
    pub permissions: Vec<(GroupPermission, ProposedGroupSetting)>,
}

/// A group that may be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPlan {
    /// Unique name.
    pub name: String,
    /// Plain text.
    pub description: String,
    /// Direct members.
    pub members: BTreeSet<UserId>,
    /// Direct subgroups.
    pub subgroups: BTreeSet<GroupId>,
    /// Who may do what with it.
    pub permissions: GroupPermissions,
}

/// Decides a new group: permission, name, members, subgroups, settings.
pub fn check_new_group(
    dir: &Directory,
    creator: &User,
    request: &GroupRequest,
) -> Result<GroupPlan, RuleError> {
    check_not_guest(creator)?;
    check_holds_realm(dir, RealmPermission::CreateGroups, creator.id)?;
    let name = parse_group_name(&request.name)?;
    check_group_name_free(dir, name, None)?;
    let description = parse_group_description(&request.description)?.to_owned();
    let mut members = BTreeSet::new();
    for id in &request.members {
        members.insert(active_member(dir, *id)?);
    }
    let mut subgroups = BTreeSet::new();
    for id in &request.subgroups {
        subgroups.insert(active_group(dir, *id)?.id);
    }
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

/// Whether a user may change a group: in its `can_manage_group`, or one who manages all groups. Never a guest.
pub fn manages_group(dir: &Directory, user: &User, group: &UserGroup) -> bool {
    if user.is_guest() {
        return false;
    }
    dir.holds(&group.permissions.manage, user.id)
        || holds_realm(dir, RealmPermission::ManageAllGroups, user.id)
}

/// Finds a group to change, perhaps a deactivated one: `InvalidUserGroup` for none and for system groups,
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

/// What a client wants changed of a group.
#[derive(Clone, Debug, Default)]
pub struct GroupUpdate {
    /// As sent.
    pub name: Option<String>,
    /// As sent.
    pub description: Option<String>,
    /// Permissions by name.
    pub permissions: Vec<(GroupPermission, ProposedChange)>,
    /// `deactivated`; only false means something.
    pub is_deactivated: Option<bool>,
}

/// One thing that changes; every value differs from the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupChange {
    /// In use again.
    Reactivated,
    /// Name.
    Name(String),
    /// Description.
    Description(String),
    /// Who may do something with it.
    Permission(GroupPermission, GroupSetting),
}

/// Decides a change of a group: `NothingNew` if nothing is asked for, then access, name, settings.
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
        let description = parse_group_description(raw)?;
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

/// Changes a group's record.
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
