//! Groups of a directory with their resolved memberships, direct and through subgroups.
//!
//! A change propagates only the difference, from the changed group upwards, so that its cost does not depend on the
//! number of members. Groups never contain themselves (`rules::groups`).

use super::Directory;
use crate::group::{GroupSetting, UserGroup};
use crate::ids::{GroupId, UserId};
use imbl::OrdSet;
use imbl::ordset::DiffItem;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

impl Directory {
    /// A group by id.
    pub fn group(&self, id: GroupId) -> Option<&Arc<UserGroup>> {
        self.groups.get(&id)
    }

    /// A group by name, ignoring case.
    pub fn group_by_name(&self, name: &str) -> Option<&Arc<UserGroup>> {
        let id = self.groups_by_name.get(&name.to_lowercase())?;
        self.groups.get(id)
    }

    /// All groups by id.
    pub fn groups(&self) -> impl Iterator<Item = &Arc<UserGroup>> {
        self.groups.values()
    }

    /// Number of groups, system groups and deactivated ones included.
    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// Number of members of all groups together: of each group its direct and indirect ones.
    pub fn membership_count(&self) -> usize {
        self.membership_count
    }

    /// Number of users and groups that the permissions of all channels and groups list, in values that are no group.
    pub fn listed_count(&self) -> usize {
        self.listed_count
    }

    /// Whether a user is a direct or indirect member of a group.
    pub fn is_in_group(&self, group: GroupId, user: UserId) -> bool {
        self.group_members.get(&group).is_some_and(|members| members.contains(&user))
    }

    /// All direct and indirect members of a group.
    pub fn members_of(&self, group: GroupId) -> OrdSet<UserId> {
        self.group_members.get(&group).cloned().unwrap_or_default()
    }

    /// The users who are direct or indirect members of a group either now or in an earlier directory, but not in both. The
    /// cost is that of the difference: what a change has not copied is skipped.
    pub fn members_changed_since(&self, before: &Self, group: GroupId) -> BTreeSet<UserId> {
        let (was, is) = (before.members_of(group), self.members_of(group));
        let changed = was.diff(&is).map(|difference| match difference {
            DiffItem::Add(user) | DiffItem::Remove(user) => *user,
        });
        changed.collect()
    }

    /// All direct and indirect subgroups of a group, sorted, without itself.
    pub fn subgroups_of(&self, group: GroupId) -> BTreeSet<GroupId> {
        let mut found = BTreeSet::new();
        let mut open = vec![group];
        while let Some(id) = open.pop() {
            let Some(record) = self.groups.get(&id) else { continue };
            open.extend(record.subgroups.iter().copied().filter(|below| found.insert(*below)));
        }
        found.remove(&group);
        found
    }

    /// The groups that directly contain a group, by id.
    pub fn supergroups_of(&self, group: GroupId) -> impl Iterator<Item = GroupId> {
        self.supergroups.get(&group).into_iter().flatten().copied()
    }

    /// A group and all groups that contain it, directly or not, by id. The cost is that of the result.
    pub fn group_and_supergroups(&self, group: GroupId) -> BTreeSet<GroupId> {
        let mut found = BTreeSet::from([group]);
        let mut open = vec![group];
        while let Some(id) = open.pop() {
            open.extend(self.supergroups_of(id).filter(|above| found.insert(*above)));
        }
        found
    }

    /// Whether a user holds a permission. A bot also needs its owner to hold it: otherwise a user who loses a
    /// permission would keep it through a bot.
    pub fn holds(&self, setting: &GroupSetting, user: UserId) -> bool {
        self.is_named(setting, user) && self.bot_owner(user).is_none_or(|owner| self.is_named(setting, owner))
    }

    /// Whether a user is in the value of a group setting, regardless of a bot's owner.
    pub fn is_named(&self, setting: &GroupSetting, user: UserId) -> bool {
        match setting {
            GroupSetting::Group(group) => self.is_in_group(*group, user),
            GroupSetting::Anonymous { members, subgroups } => {
                members.binary_search(&user).is_ok()
                    || subgroups.iter().any(|group| self.is_in_group(*group, user))
            }
        }
    }

    /// Replaces a group's record and updates the members of the groups that contain it.
    pub fn put_group(&mut self, group: UserGroup) {
        let id = group.id;
        let before = self.groups.get(&id).cloned();
        if let Some(before) = &before {
            self.groups_by_name.remove(&before.name.to_lowercase());
            self.listed_count -= before.permissions.listed_count();
        }
        self.listed_count += group.permissions.listed_count();
        let (joined, left, old_subgroups) = match before.as_deref() {
            Some(before) => {
                let (joined, left) = (group.members_not_in(before), before.members_not_in(&group));
                (joined.into_iter().collect(), left.into_iter().collect(), &before.subgroups)
            }
            None => (group.members.clone(), OrdSet::new(), &BTreeSet::new()),
        };
        let below =
            |groups: BTreeSet<GroupId>| OrdSet::unions(groups.into_iter().map(|id| self.members_of(id)));
        let added = below(&group.subgroups - old_subgroups).union(joined);
        let removed = below(old_subgroups - &group.subgroups).union(left);
        self.list_supergroup(id, old_subgroups, &group.subgroups);
        self.groups_by_name.insert(group.name.to_lowercase(), id);
        self.groups.insert(id, Arc::new(group));
        self.resolve_above(id, &added, &removed);
    }

    /// Lists a group as one that contains its subgroups, and no longer as one that contains its former ones.
    fn list_supergroup(&mut self, group: GroupId, were: &BTreeSet<GroupId>, are: &BTreeSet<GroupId>) {
        for below in are.difference(were) {
            self.supergroups.entry(*below).or_default().insert(group);
        }
        for below in were.difference(are) {
            if let Some(above) = self.supergroups.get_mut(below) {
                above.remove(&group);
                if above.is_empty() {
                    self.supergroups.remove(below);
                }
            }
        }
    }

    /// Adds and removes direct members.
    pub fn change_members(&mut self, group: GroupId, added: &[UserId], removed: &[UserId]) {
        let Some(before) = self.groups.get(&group) else { return };
        let mut after = UserGroup::clone(before);
        after.members.extend(added.iter().copied());
        for user in removed {
            after.members.remove(user);
        }
        self.groups.insert(group, Arc::new(after));
        let added = added.iter().copied().filter(|user| !removed.contains(user));
        self.resolve_above(group, &added.collect(), &removed.iter().copied().collect());
    }

    /// Propagates a difference from a group to every group that contains it.
    fn resolve_above(&mut self, changed: GroupId, added: &OrdSet<UserId>, removed: &OrdSet<UserId>) {
        for group in self.upwards(changed) {
            let before = self.group_members.remove(&group).unwrap_or_default();
            self.membership_count -= before.len();
            let mut members = before.union(added.clone());
            let Some(record) = self.groups.get(&group) else { continue };
            let stays = |user: &UserId| {
                let mut below = record.subgroups.iter();
                record.members.contains(user) || below.any(|below| self.is_in_group(*below, *user))
            };
            let lost: Vec<UserId> = removed.iter().copied().filter(|user| !stays(user)).collect();
            for user in lost {
                members.remove(&user);
            }
            self.membership_count += members.len();
            self.group_members.insert(group, members);
        }
    }

    /// A group and all groups that contain it directly or indirectly, in topological order.
    fn upwards(&self, group: GroupId) -> Vec<GroupId> {
        // For each group, the number of its subgroups that must precede it.
        let mut open_below = HashMap::from([(group, 0_usize)]);
        let mut open = vec![group];
        while let Some(id) = open.pop() {
            for outer in self.supergroups_of(id) {
                let count = open_below.entry(outer).or_insert_with(|| {
                    open.push(outer);
                    0
                });
                *count += 1;
            }
        }
        let mut order = Vec::with_capacity(open_below.len());
        let mut ready = VecDeque::from([group]);
        while let Some(id) = ready.pop_front() {
            open_below.remove(&id);
            order.push(id);
            for outer in self.supergroups_of(id) {
                if let Some(count) = open_below.get_mut(&outer) {
                    *count -= 1;
                    if *count == 0 {
                        ready.push_back(outer);
                    }
                }
            }
        }
        // Only cycles would be left; there are none.
        order.extend(open_below.into_keys());
        order
    }
}

#[cfg(test)]
mod tests;
