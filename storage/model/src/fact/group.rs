//! Facts about user groups.

use super::bounds::EVENTS_OF_RECORD;
use crate::group::UserGroup;
use crate::ids::{GroupId, UserId};
use serde::{Deserialize, Serialize};

/// A change of a user group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GroupFact {
    /// A group was created.
    Created(Box<UserGroup>),
    /// A group's record is now this: name, members, subgroups, permissions, deactivation.
    Changed(Box<UserGroup>),
    /// Direct members were added or removed.
    MembersChanged { group: GroupId, added: Vec<UserId>, removed: Vec<UserId> },
}

impl GroupFact {
    /// An upper bound of the number of events of this fact.
    pub fn events_max(&self) -> u64 {
        match self {
            Self::Created(_) => 1,
            // Channels may be gained and lost with a group's members.
            Self::Changed(_) => EVENTS_OF_RECORD,
            // Members added and removed, channels gained and lost with the group, and the same of archived ones.
            Self::MembersChanged { .. } => 6,
        }
    }
}
