//! User groups, and the values of settings that name who may do something.

use crate::ids::{GroupId, UserId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Who holds a permission (api.md, convention 6): a named group, or people and groups listed in place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GroupSetting {
    /// All direct and indirect members of a group.
    Group(GroupId),
    /// These people, and all members of these groups. Both lists are sorted.
    Anonymous {
        /// Individual users.
        members: Vec<UserId>,
        /// Groups.
        subgroups: Vec<GroupId>,
    },
}

impl GroupSetting {
    /// Exactly one person.
    pub fn only(user: UserId) -> Self {
        Self::Anonymous { members: vec![user], subgroups: Vec::new() }
    }
}

/// A user group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserGroup {
    /// Unique in the organization.
    pub id: GroupId,
    /// Unique name; `role:…` for system groups.
    pub name: String,
    /// Plain text.
    pub description: String,
    /// Kept by the server, not editable.
    pub is_system: bool,
    /// No longer usable.
    pub is_deactivated: bool,
    /// Who made it; none for system groups.
    pub creator: Option<UserId>,
    /// When; none for system groups.
    pub created: Option<Timestamp>,
    /// Direct members.
    pub members: BTreeSet<UserId>,
    /// Direct subgroups.
    pub subgroups: BTreeSet<GroupId>,
    /// Who may do what with the group.
    pub permissions: GroupPermissions,
}

impl UserGroup {
    /// A group of nobody, in use, that people made.
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
            members: BTreeSet::new(),
            subgroups: BTreeSet::new(),
            permissions,
        }
    }
}

/// Who may do what with a user group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupPermissions {
    /// `can_add_members_group`
    pub add_members: GroupSetting,
    /// `can_join_group`
    pub join: GroupSetting,
    /// `can_leave_group`
    pub leave: GroupSetting,
    /// `can_manage_group`
    pub manage: GroupSetting,
    /// `can_mention_group`
    pub mention: GroupSetting,
    /// `can_remove_members_group`
    pub remove_members: GroupSetting,
}

impl GroupPermissions {
    /// The same for everything.
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
}

/// The system groups, in the order in which a new organization creates them (endpoints.md 0.2).
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
