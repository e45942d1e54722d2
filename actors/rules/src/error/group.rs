//! Why a user group cannot be created, changed or deactivated (docs/api/groups.md).

use model::{ChannelId, GroupId, UserId};

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupError {
    #[error("User group name can't be empty!")]
    NameEmpty,
    #[error("User group name cannot exceed 100 characters.")]
    NameTooLong,
    /// A prefix that is reserved for mentions and system groups.
    #[error("User group name cannot start with '{prefix}'.")]
    NamePrefix { prefix: &'static str },
    /// Another group has this name, perhaps a deactivated one.
    #[error("User group '{name}' already exists.")]
    AlreadyExists { name: String },
    /// Deactivated groups count: they keep their names.
    #[error("Too many user groups (maximum {limit}).")]
    TooMany { limit: usize },
    #[error("You have created too many user groups (maximum {limit}).")]
    TooManyOwn { limit: usize },
    /// Of all groups of the organization together.
    #[error("Too many subgroups in this organization (maximum {limit}).")]
    TooManySubgroups { limit: usize },
    #[error("The user groups that you have created have too many subgroups (maximum {limit}).")]
    TooManyOwnSubgroups { limit: usize },
    /// Of all groups of the organization together, members of their subgroups included.
    #[error("Too many members of user groups in this organization (maximum {limit}).")]
    TooManyMembers { limit: usize },
    #[error("No new data supplied")]
    NothingNew,
    #[error(
        "Nothing to do. Specify at least one of \"add\", \"delete\", \"add_subgroups\" or \"delete_subgroups\"."
    )]
    NobodyToChange,
    #[error("Nothing to do. Specify at least one of \"add\" or \"delete\".")]
    NoSubgroupToChange,
    #[error("User {id} is already a member of this group")]
    MemberExists { id: UserId },
    #[error("There is no member '{id}' in this user group")]
    MemberMissing { id: i64 },
    #[error("User group {id} is already a subgroup of this group.")]
    SubgroupExists { id: GroupId },
    #[error("User group {id} is not a subgroup of this group.")]
    SubgroupMissing { id: i64 },
    /// The group `id` would be a subgroup of itself.
    #[error("User group {id} is already a subgroup of one of the passed subgroups.")]
    SubgroupCycle { id: GroupId },
    /// The edge repeats the objections.
    #[error("Cannot deactivate user group in use.")]
    InUse { objections: Vec<GroupObjection> },
}

/// Why a group cannot be deactivated: other groups contain it, or permissions name it (`settings`, by wire name).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupObjection {
    Subgroup { supergroups: Vec<GroupId> },
    Realm { settings: Vec<&'static str> },
    Channel { channel: ChannelId, settings: Vec<&'static str> },
    UserGroup { group: GroupId, settings: Vec<&'static str> },
}
