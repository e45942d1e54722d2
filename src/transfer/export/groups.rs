//! User groups with their members, and the anonymous groups that are values of permission settings.

use super::snapshot::Snapshot;
use super::tables::TableWriter;
use crate::transfer::problem::TransferError;
use model::{GroupId, GroupSetting, UserId};
use rules::settings::GroupPermission;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The ids of anonymous groups, which exist only in exports.
#[derive(Debug, Default)]
pub struct AnonymousGroups {
    last: u32,
    made: Vec<(u32, Vec<UserId>, Vec<GroupId>)>,
}

impl AnonymousGroups {
    /// Ids after those of the groups of the organization.
    pub fn new(snapshot: &Snapshot<'_>) -> Self {
        let last = snapshot.directory.groups().map(|group| group.id.0).max().unwrap_or_default();
        Self { last, ..Self::default() }
    }

    /// The id of the group that is a setting's value.
    pub fn id_of(&mut self, setting: &GroupSetting) -> u32 {
        match setting {
            GroupSetting::Group(id) => id.0,
            GroupSetting::Anonymous { members, subgroups } => {
                self.last += 1;
                self.made.push((self.last, members.clone(), subgroups.clone()));
                self.last
            }
        }
    }
}

impl Snapshot<'_> {
    /// The tables of groups. Every setting was written before.
    pub fn groups(
        &self,
        tables: &mut TableWriter,
        mut anonymous: AnonymousGroups,
    ) -> Result<(), TransferError> {
        self.named_groups(tables, &mut anonymous)?;
        let mut members: BTreeMap<u32, Vec<UserId>> = BTreeMap::new();
        let mut subgroups: BTreeMap<u32, Vec<GroupId>> = BTreeMap::new();
        for group in self.directory.groups() {
            members.insert(group.id.0, group.members.iter().copied().collect());
            subgroups.insert(group.id.0, group.subgroups.iter().copied().collect());
        }
        for (id, users, groups) in anonymous.made {
            members.insert(id, users);
            subgroups.insert(id, groups);
        }
        let realm = self.realm_id();
        tables.table("zerver_usergroup", members.keys().map(|id| json!({"id": id, "realm": realm})))?;
        tables.begin("zerver_usergroupmembership")?;
        for (group, user) in members.iter().flat_map(|(id, all)| all.iter().map(move |user| (id, user))) {
            let id = tables.row_count() + 1;
            tables.row(&json!({"id": id, "user_group": group, "user_profile": user}))?;
        }
        tables.begin("zerver_groupgroupmembership")?;
        for (group, below) in subgroups.iter().flat_map(|(id, all)| all.iter().map(move |below| (id, below)))
        {
            let id = tables.row_count() + 1;
            tables.row(&json!({"id": id, "supergroup": group, "subgroup": below}))?;
        }
        Ok(())
    }

    fn named_groups(
        &self,
        tables: &mut TableWriter,
        anonymous: &mut AnonymousGroups,
    ) -> Result<(), TransferError> {
        tables.begin("zerver_namedusergroup")?;
        for group in self.directory.groups() {
            let mut row = json!({
                "id": group.id,
                "usergroup_ptr": group.id,
                "name": group.name,
                "description": group.description,
                "date_created": group.created.map(super::snapshot::seconds),
                "creator": group.creator,
                "is_system_group": group.is_system,
                "realm_for_sharding": self.realm_id(),
                "deactivated": group.is_deactivated,
            });
            for permission in GroupPermission::ALL {
                let value = anonymous.id_of(permission.of(group));
                row[permission.rule().name] = Value::from(value);
            }
            tables.row(&row)?;
        }
        Ok(())
    }
}
