//! When a user group may be deactivated: only if nothing refers to it (docs/api/groups.md#deactivate-a-group).

use super::access_group_to_manage;
use crate::error::{GroupError, GroupObjection, RuleError};
use crate::permissions::group_setting::realm_group_setting;
use crate::settings::{ChannelPermission, GroupPermission, RealmPermission};
use model::{Directory, GroupId, GroupSetting, User, UserGroup};
use std::sync::Arc;

/// Finds a group to deactivate: managed by the requester, not deactivated yet, and not in use.
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

/// The uses of a group. Archived channels, deactivated groups and its own settings do not count.
pub fn group_objections(dir: &Directory, group: GroupId) -> Vec<GroupObjection> {
    let mut objections = Vec::new();
    let others = || dir.groups().filter(|other| other.id != group && !other.is_deactivated);
    let is_other = |id: &GroupId| *id != group && dir.group(*id).is_some_and(|other| !other.is_deactivated);
    let supergroups: Vec<GroupId> = dir.supergroups_of(group).filter(is_other).collect();
    if !supergroups.is_empty() {
        objections.push(GroupObjection::Subgroup { supergroups });
    }
    let realm = RealmPermission::ALL.map(|one| (one.rule().name, realm_group_setting(dir, one)));
    let settings = settings_with(realm.iter().map(|(name, value)| (*name, value)), group);
    objections.extend(settings.map(|settings| GroupObjection::Realm { settings }));
    for channel in dir.channels().filter(|channel| !channel.is_archived) {
        let settings =
            settings_with(ChannelPermission::ALL.map(|one| (one.rule().name, one.of(channel))), group);
        objections.extend(settings.map(|settings| GroupObjection::Channel { channel: channel.id, settings }));
    }
    for other in others() {
        let settings = settings_with(GroupPermission::ALL.map(|one| (one.rule().name, one.of(other))), group);
        objections.extend(settings.map(|settings| GroupObjection::UserGroup { group: other.id, settings }));
    }
    objections
}

/// The names of the settings that include a group; none if there are none.
fn settings_with<'s>(
    settings: impl IntoIterator<Item = (&'static str, &'s GroupSetting)>,
    group: GroupId,
) -> Option<Vec<&'static str>> {
    let found: Vec<&str> =
        settings.into_iter().filter(|(_, value)| names(value, group)).map(|(name, _)| name).collect();
    (!found.is_empty()).then_some(found)
}

fn names(setting: &GroupSetting, group: GroupId) -> bool {
    match setting {
        GroupSetting::Group(id) => *id == group,
        GroupSetting::Anonymous { subgroups, .. } => subgroups.contains(&group),
    }
}
