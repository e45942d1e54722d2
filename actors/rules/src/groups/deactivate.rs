//! When a user group may be deactivated: only when nothing refers to it (docs/api/groups.md#deactivate-a-group).

use super::access_group_to_manage;
use crate::error::{GroupError, GroupObjection, RuleError};
use crate::permissions::group_setting::realm_group_setting;
use crate::settings::{ChannelPermission, GroupPermission, RealmPermission};
use model::{Directory, GroupId, GroupSetting, User, UserGroup};
use std::sync::Arc;

/// Finds a group to deactivate: managed by the actor, not deactivated yet, and not in use.
/// `InvalidUserGroup`, `InsufficientPermission`, `GroupError::InUse`.
pub fn access_group_to_deactivate<'d>(
    dir: &'d Directory,
    requester: &User,
    id: i64,
) -> Result<&'d Arc<UserGroup>, RuleError> {
    let group = access_group_to_manage(dir, requester, id)?;
    if group.is_deactivated {
        return Err(RuleError::InvalidUserGroup);
    }
    let objections = group_objections(dir, group.id);
    if objections.is_empty() { Ok(group) } else { Err(GroupError::InUse { objections }.into()) }
}

/// What a group is used for. Archived channels and deactivated groups do not count, nor do its own settings.
pub fn group_objections(dir: &Directory, group: GroupId) -> Vec<GroupObjection> {
    let mut objections = Vec::new();
    let others = || dir.groups().filter(|other| other.id != group && !other.is_deactivated);
    let supergroups: Vec<GroupId> =
        others().filter(|other| other.subgroups.contains(&group)).map(|other| other.id).collect();
    if !supergroups.is_empty() {
        objections.push(GroupObjection::Subgroup { supergroups });
    }
    let in_realm = RealmPermission::ALL.into_iter();
    let in_realm = in_realm.filter(|permission| names(&realm_group_setting(dir, *permission), group));
    let settings: Vec<&str> = in_realm.map(|permission| permission.rule().name).collect();
    if !settings.is_empty() {
        objections.push(GroupObjection::Realm { settings });
    }
    for channel in dir.channels().filter(|channel| !channel.is_archived) {
        let in_channel = ChannelPermission::ALL.into_iter();
        let in_channel = in_channel.filter(|permission| names(permission.of(channel), group));
        let settings: Vec<&str> = in_channel.map(|permission| permission.rule().name).collect();
        if !settings.is_empty() {
            objections.push(GroupObjection::Channel { channel: channel.id, settings });
        }
    }
    for other in others() {
        let in_group = GroupPermission::ALL.into_iter();
        let in_group = in_group.filter(|permission| names(permission.of(other), group));
        let settings: Vec<&str> = in_group.map(|permission| permission.rule().name).collect();
        if !settings.is_empty() {
            objections.push(GroupObjection::UserGroup { group: other.id, settings });
        }
    }
    objections
}

fn names(setting: &GroupSetting, group: GroupId) -> bool {
    match setting {
        GroupSetting::Group(id) => *id == group,
        GroupSetting::Anonymous { subgroups, .. } => subgroups.contains(&group),
    }
}
