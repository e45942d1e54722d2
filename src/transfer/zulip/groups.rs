//! User groups, and the anonymous groups that are values of settings.

use super::organization::Builder;
use crate::transfer::rows::Row;
use model::group::{GroupPermissions, SYSTEM_GROUPS};
use model::{Fact, GroupFact, GroupId, GroupSetting, UserGroup, UserId};
use rules::permissions::group_setting::default_group_permissions;
use rules::permissions::roles::system_groups_of;
use rules::settings::{GroupPermission, realm_int};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Members in one fact.
const MEMBERS_MAX: usize = 10_000;
const GROUP: &str = "zerver_namedusergroup";
const SUBGROUP: &str = "zerver_groupgroupmembership";

/// A group and one of its subgroups.
type Pair = (u32, u32);

fn membership(row: &Row) -> Option<Pair> {
    Some((row.id("supergroup")?, row.id("subgroup")?))
}

/// The pairs without which no group contains itself: of each circle the one that closes it, following the groups by id.
fn circular(pairs: impl Iterator<Item = Pair>) -> HashSet<Pair> {
    let mut below: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for (group, subgroup) in pairs {
        below.entry(group).or_default().insert(subgroup);
    }
    let (mut circles, mut above, mut finished) = (HashSet::new(), HashSet::new(), HashSet::new());
    for (first, subgroups) in &below {
        if finished.contains(first) {
            continue;
        }
        let mut open = vec![(*first, subgroups.iter())];
        above.insert(*first);
        while let Some((group, subgroups)) = open.last_mut() {
            match subgroups.next() {
                Some(subgroup) if above.contains(subgroup) => {
                    circles.insert((*group, *subgroup));
                }
                Some(subgroup) => {
                    if let Some(further) = below.get(subgroup).filter(|_| !finished.contains(subgroup)) {
                        above.insert(*subgroup);
                        open.push((*subgroup, further.iter()));
                    }
                }
                None => {
                    above.remove(group);
                    finished.insert(*group);
                    open.pop();
                }
            }
        }
    }
    circles
}

impl Builder<'_> {
    /// The value of a permission setting: a group, or the members of an anonymous one.
    pub fn group_setting(&self, id: Option<u32>) -> Option<GroupSetting> {
        let id = id?;
        let groups = &self.groups;
        if groups.named.contains(&id) {
            return Some(GroupSetting::Group(GroupId(id)));
        }
        groups.known.contains(&id).then(|| GroupSetting::Anonymous {
            members: groups.members.get(&id).into_iter().flatten().copied().collect(),
            subgroups: groups.subgroups.get(&id).into_iter().flatten().copied().collect(),
        })
    }

    /// Learns which groups there are, before anything refers to them.
    pub fn read_groups(&mut self) {
        let tables = self.tables;
        let id_of = |row: &Row| row.id("usergroup_ptr").or_else(|| row.id("id"));
        self.groups.named = tables.rows(GROUP).iter().filter_map(id_of).collect();
        self.groups.known = tables.rows("zerver_usergroup").iter().filter_map(|row| row.id("id")).collect();
        self.report.carry("zerver_usergroup", tables.rows("zerver_usergroup").len() as u64);
    }

    /// The members of groups; users are known.
    pub fn read_members(&mut self) {
        self.each_row("zerver_usergroupmembership", |own, row| {
            let user = own.user(row.id("user_profile")).ok_or("of a user that is not in the export")?;
            let group = row.id("user_group").ok_or("without a group")?;
            own.groups.members.entry(group).or_default().insert(user);
            Ok(())
        });
        let circles = circular(self.tables.rows(SUBGROUP).iter().filter_map(membership));
        self.each_row(SUBGROUP, |own, row| {
            if membership(row).is_some_and(|pair| circles.contains(&pair)) {
                return Err("by which a group would contain itself");
            }
            let subgroup = row.id("subgroup").filter(|id| own.groups.named.contains(id));
            let subgroup = subgroup.ok_or("of a group that is not in the export")?;
            let group = row.id("supergroup").ok_or("without a group")?;
            own.groups.subgroups.entry(group).or_default().insert(GroupId(subgroup));
            Ok(())
        });
    }

    /// The system groups without members. Those that the export lacks get new ids.
    pub fn system_groups(&mut self) {
        let named = self.tables.rows(GROUP);
        let used = self.groups.known.iter().chain(&self.groups.named).max();
        let mut last = GroupId(used.copied().unwrap_or_default());
        let mut before = None;
        let mut all = Vec::new();
        for (name, description) in SYSTEM_GROUPS {
            let row = named.iter().find(|row| row.text("name") == name && row.is("is_system_group"));
            let id = row.and_then(|row| row.id("id")).map_or_else(
                || {
                    last = last.next();
                    last
                },
                GroupId,
            );
            all.push((id, name, description, before));
            // Each wider group has the next stricter one as its subgroup; `role:nobody` is in none.
            before = (name != "role:nobody").then_some(id);
        }
        let nobody = all.first().map(|(id, ..)| *id).unwrap_or_default();
        for (id, name, description, subgroup) in all {
            let permissions = GroupPermissions::all(GroupSetting::Group(nobody));
            let group = UserGroup {
                is_system: true,
                subgroups: subgroup.into_iter().collect(),
                ..UserGroup::new(id, name, description, permissions)
            };
            self.groups.named.insert(id.0);
            self.put_group(group);
        }
        let system = named.iter().filter(|row| row.is("is_system_group")).count();
        self.report.carry(GROUP, system as u64);
    }

    fn put_group(&mut self, group: UserGroup) {
        self.directory.put_group(group.clone());
        self.facts.push(Fact::Group(GroupFact::Created(Box::new(group))));
    }

    fn put_members(&mut self, group: GroupId, members: &[UserId]) {
        for added in members.chunks(MEMBERS_MAX) {
            self.directory.change_members(group, added, &[]);
            let (added, removed) = (added.to_vec(), Vec::new());
            self.facts.push(Fact::Group(GroupFact::MembersChanged { group, added, removed }));
        }
    }

    /// Everyone in the system groups of their role.
    pub fn system_members(&mut self) {
        let waiting_days = realm_int(self.directory.realm(), "waiting_period_threshold");
        let waiting_days = waiting_days.and_then(|days| u64::try_from(days).ok()).unwrap_or_default();
        let mut members: BTreeMap<GroupId, Vec<UserId>> = BTreeMap::new();
        for user in self.directory.users().filter(|user| !user.is_system_bot()) {
            for name in system_groups_of(user, waiting_days, self.now) {
                if let Some(group) = self.directory.group_by_name(name) {
                    members.entry(group.id).or_default().push(user.id);
                }
            }
        }
        members.into_iter().for_each(|(group, members)| self.put_members(group, &members));
    }

    /// The groups that people made.
    pub fn made_groups(&mut self) {
        let rows: Vec<&Row> =
            self.tables.rows(GROUP).iter().filter(|row| !row.is("is_system_group")).collect();
        for row in rows {
            let Some(id) = row.id("usergroup_ptr").or_else(|| row.id("id")) else {
                self.report.leave_out(GROUP, "without an id", 1);
                continue;
            };
            let creator = self.user(row.id("creator"));
            let mut permissions = default_group_permissions(&self.directory, creator);
            for permission in GroupPermission::ALL {
                if let Some(value) = self.group_setting(row.id(permission.rule().name)) {
                    permission.set(&mut permissions, value);
                }
            }
            let group = UserGroup {
                creator,
                created: row.time("date_created"),
                is_deactivated: row.is("deactivated"),
                subgroups: self.groups.subgroups.get(&id).cloned().unwrap_or_default(),
                ..UserGroup::new(GroupId(id), row.text("name"), row.text("description"), permissions)
            };
            self.put_group(group);
            let members: Vec<UserId> = self.groups.members.get(&id).into_iter().flatten().copied().collect();
            self.put_members(GroupId(id), &members);
            self.report.carry(GROUP, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn circles_are_cut_where_they_close() {
        let of = |pairs: &[Pair]| circular(pairs.iter().copied());
        assert_eq!(of(&[(1, 2), (2, 3), (1, 3), (4, 3)]), HashSet::new());
        assert_eq!(of(&[(1, 1)]), HashSet::from([(1, 1)]));
        assert_eq!(of(&[(3, 1), (2, 3), (1, 2), (1, 4)]), HashSet::from([(3, 1)]));
        let chain: Vec<Pair> = (0..200_000).map(|id| (id, id + 1)).chain([(200_000, 0)]).collect();
        assert_eq!(of(&chain), HashSet::from([(200_000, 0)]));
    }

    proptest! {
        #[test]
        fn what_is_left_has_no_circle(pairs in prop::collection::vec((0_u32..12, 0_u32..12), 0..40)) {
            let circles = circular(pairs.iter().copied());
            let left: Vec<Pair> = pairs.iter().copied().filter(|pair| !circles.contains(pair)).collect();
            prop_assert!(circular(left.iter().copied()).is_empty());
            // Each step up ends at a group that nothing contains, after as many steps as there are groups.
            let mut groups: HashSet<u32> = (0..12).collect();
            for _ in 0..12 {
                groups = left.iter().filter(|(group, _)| groups.contains(group)).map(|(_, below)| *below).collect();
            }
            prop_assert!(groups.is_empty());
        }
    }
}
