//! User groups and group-setting values as clients read them (docs/api/groups.md#group-object,
//! docs/api/permissions.md#group-setting-values).

use super::list::Object;
use model::{Directory, GroupId, GroupSetting, UserGroup, UserId};
use rules::permissions::group_setting::shown_group_setting;
use rules::settings::GroupPermission;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// A group-setting value: the id of a named group, or `{direct_members, direct_subgroups}`.
#[derive(Clone, Debug)]
pub struct GroupSettingJson<'a>(Cow<'a, GroupSetting>);

impl Serialize for GroupSettingJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &*self.0 {
            GroupSetting::Group(group) => group.serialize(serializer),
            GroupSetting::Anonymous { members, subgroups } => {
                let mut object = serializer.serialize_struct("GroupSetting", 2)?;
                object.serialize_field("direct_members", members)?;
                object.serialize_field("direct_subgroups", subgroups)?;
                object.end()
            }
        }
    }
}

/// The value of a permission setting, without deactivated users.
pub fn group_setting<'a>(directory: &Directory, setting: &'a GroupSetting) -> GroupSettingJson<'a> {
    GroupSettingJson(shown_group_setting(directory, setting))
}

/// A computed value of a permission setting, without deactivated users.
pub fn group_setting_owned(directory: &Directory, setting: GroupSetting) -> GroupSettingJson<'static> {
    GroupSettingJson(Cow::Owned(shown_group_setting(directory, &setting).into_owned()))
}

/// The user group object of the API.
#[derive(Clone, Debug, Serialize)]
pub struct GroupJson<'a> {
    id: GroupId,
    name: &'a str,
    description: &'a str,
    members: Vec<UserId>,
    direct_subgroup_ids: Vec<GroupId>,
    is_system_group: bool,
    creator_id: Option<UserId>,
    date_created: Option<u64>,
    deactivated: bool,
    /// The `can_…_group` settings, in the order of their table.
    #[serde(flatten)]
    permissions: Object<[(&'static str, GroupSettingJson<'a>); 6]>,
}

/// A group with its direct members, without deactivated ones.
pub fn group<'a>(directory: &Directory, group: &'a UserGroup) -> GroupJson<'a> {
    let is_active = |id: &UserId| directory.is_active_user(*id);
    GroupJson {
        id: group.id,
        name: &group.name,
        description: &group.description,
        members: group.members.iter().copied().filter(is_active).collect(),
        direct_subgroup_ids: group.subgroups.iter().copied().collect(),
        is_system_group: group.is_system,
        creator_id: group.creator,
        date_created: group.created.map(|created| created.secs()),
        deactivated: group.is_deactivated,
        permissions: Object(
            GroupPermission::ALL
                .map(|permission| (permission.rule().name, group_setting(directory, permission.of(group)))),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::wire::fixture::{CORDELIA, IAGO, directory};
    use model::User;
    use serde_json::json;

    #[test]
    fn deactivated_members_are_left_out() {
        let mut directory = directory();
        let mut cordelia = User::clone(directory.user(CORDELIA).unwrap());
        cordelia.is_active = false;
        directory.put_user(cordelia);
        let everyone = directory.group_by_name("role:everyone").unwrap();
        let shown = serde_json::to_value(group(&directory, everyone)).unwrap();
        assert_eq!(shown["members"], json!([1, 3]));
        let setting = GroupSetting::Anonymous { members: vec![IAGO, CORDELIA], subgroups: vec![everyone.id] };
        let shown = serde_json::to_value(group_setting(&directory, &setting)).unwrap();
        assert_eq!(shown, json!({"direct_members": [1], "direct_subgroups": [everyone.id.0]}));
        let id = GroupSetting::Group(everyone.id);
        assert_eq!(serde_json::to_value(group_setting_owned(&directory, id)).unwrap(), json!(everyone.id.0));
    }

    #[test]
    fn group_has_exactly_the_documented_fields() {
        let directory = directory();
        let record = directory.group_by_name("role:nobody").unwrap();
        let shown = serde_json::to_value(group(&directory, record)).unwrap();
        let keys: Vec<&str> = shown.as_object().unwrap().keys().map(String::as_str).collect();
        let expected = [
            "can_add_members_group",
            "can_join_group",
            "can_leave_group",
            "can_manage_group",
            "can_mention_group",
            "can_remove_members_group",
            "creator_id",
            "date_created",
            "deactivated",
            "description",
            "direct_subgroup_ids",
            "id",
            "is_system_group",
            "members",
            "name",
        ];
        assert_eq!(keys, expected);
    }
}
