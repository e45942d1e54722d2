//! User groups, and the values of permission settings.

use crate::ids::{GroupId, UserId};
use crate::time::Timestamp;
use imbl::OrdSet;
use imbl::ordset::DiffItem;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The holders of a permission: a named group, or an anonymous group of users and groups
/// (docs/api/permissions.md#group-setting-values).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GroupSetting {
    /// All direct and indirect members of a group.
    Group(GroupId),
    /// These users, and all members of these groups. Both lists are sorted.
    Anonymous { members: Vec<UserId>, subgroups: Vec<GroupId> },
}

impl GroupSetting {
    /// An anonymous group of one user.
    pub fn only(user: UserId) -> Self {
        Self::Anonymous { members: vec![user], subgroups: Vec::new() }
    }

    /// Number of users and groups that the value lists. None for a group, and for a bot and its owner, which every channel has.
    pub fn listed_count(&self) -> usize {
        match self {
            Self::Group(_) => 0,
            Self::Anonymous { members, subgroups } => counted(members.len() + subgroups.len()),
        }
    }
}

/// The number of users and groups of a list, unless they are few.
pub fn counted(listed: usize) -> usize {
    if listed > UNCOUNTED_MAX { listed } else { 0 }
}

/// A list of so many is not counted.
const UNCOUNTED_MAX: usize = 2;

/// A user group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserGroup {
    pub id: GroupId,
    /// Unique name; `role:…` for system groups.
    pub name: String,
    /// Description in plain text.
    pub description: String,
    /// Maintained by the server, not editable.
    pub is_system: bool,
    /// No longer usable in settings and mentions.
    pub is_deactivated: bool,
    /// The user who created it; none for system groups.
    pub creator: Option<UserId>,
    /// The time of creation; none for system groups.
    pub created: Option<Timestamp>,
    /// Direct members, without those of subgroups. A copy of the record shares them.
    pub members: OrdSet<UserId>,
    /// Direct subgroups, without nested ones.
    pub subgroups: BTreeSet<GroupId>,
    pub permissions: GroupPermissions,
}

impl UserGroup {
    /// A new, active group without members that is no system group.
    pub fn new(
        id: GroupId,
        name: impl Into<String>,
        description: impl Into<String>,
        permissions: GroupPermissions,
    ) -> Self {
        Self {
            id,
            name: name.into(),
            description: description.into(),
            is_system: false,
            is_deactivated: false,
            creator: None,
            created: None,
            members: OrdSet::new(),
            subgroups: BTreeSet::new(),
            permissions,
        }
    }

    /// The direct members that another state of the group does not have, by id. The cost is that of the difference if one
    /// record was made from the other.
    pub fn members_not_in(&self, other: &Self) -> Vec<UserId> {
        let differences = other.members.diff(&self.members);
        let only_here = differences.filter_map(|difference| match difference {
            DiffItem::Add(user) => Some(*user),
            DiffItem::Remove(_) => None,
        });
        only_here.collect()
    }
}

/// Who may do what with a user group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupPermissions {
    pub add_members: GroupSetting,
    pub join: GroupSetting,
    pub leave: GroupSetting,
    pub manage: GroupSetting,
    pub mention: GroupSetting,
    pub remove_members: GroupSetting,
}

impl GroupPermissions {
    /// One value for all permissions of a group.
    pub fn all(setting: GroupSetting) -> Self {
        Self {
            add_members: setting.clone(),
            join: setting.clone(),
            leave: setting.clone(),
            manage: setting.clone(),
            mention: setting.clone(),
            remove_members: setting,
        }
    }

    /// The values of all permissions.
    pub fn values(&self) -> [&GroupSetting; 6] {
        let Self { add_members, join, leave, manage, mention, remove_members } = self;
        [add_members, join, leave, manage, mention, remove_members]
    }

    /// Number of users and groups that all values list.
    pub fn listed_count(&self) -> usize {
        self.values().into_iter().map(GroupSetting::listed_count).sum()
    }
}

/// The system groups, in the order in which a new organization creates them (docs/api/permissions.md#system-groups).
pub const SYSTEM_GROUPS: [(&str, &str); 8] = [
    ("role:nobody", "Nobody"),
    ("role:owners", "Owners of this organization"),
    ("role:administrators", "Administrators of this organization, including owners"),
    ("role:moderators", "Moderators of this organization, including administrators"),
    ("role:fullmembers", "Members of this organization, not including new accounts and guests"),
    ("role:members", "Members of this organization, not including guests"),
    ("role:everyone", "Everyone in this organization, including guests"),
    ("role:internet", "Everyone on the Internet"),
];
