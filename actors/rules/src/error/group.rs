//! Why a user group cannot be created, changed or deactivated (docs/api/groups.md).

use model::{ChannelId, GroupId, UserId};

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupError {
    /// Stripped name is empty.
    #[error("User group name can't be empty!")]
    NameEmpty,
    /// More than 100 characters.
    #[error("User group name cannot exceed 100 characters.")]
    NameTooLong,
    /// A beginning that mentions and system groups need.
    #[error("User group name cannot start with '{prefix}'.")]
    NamePrefix {
        /// That beginning.
        prefix: &'static str,
    },
    /// Another group has this name, perhaps a deactivated one.
    #[error("User group '{name}' already exists.")]
    AlreadyExists {
        /// As asked for.
        name: String,
    },
    /// A change of nothing.
    #[error("No new data supplied")]
    NothingNew,
    /// A change of members of nobody.
    #[error(
        "Nothing to do. Specify at least one of \"add\", \"delete\", \"add_subgroups\" or \"delete_subgroups\"."
    )]
    NobodyToChange,
    /// A change of subgroups of none.
    #[error("Nothing to do. Specify at least one of \"add\" or \"delete\".")]
    NoSubgroupToChange,
    /// To be added, but there already.
    #[error("User {id} is already a member of this group")]
    MemberExists {
        /// Who.
        id: UserId,
    },
    /// To be removed, but not there.
    #[error("There is no member '{id}' in this user group")]
    MemberMissing {
        /// Who.
        id: i64,
    },
    /// To be added, but there already.
    #[error("User group {id} is already a subgroup of this group.")]
    SubgroupExists {
        /// Which.
        id: GroupId,
    },
    /// To be removed, but not there.
    #[error("User group {id} is not a subgroup of this group.")]
    SubgroupMissing {
        /// Which.
        id: i64,
    },
    /// The group would be inside itself.
    #[error("User group {id} is already a subgroup of one of the passed subgroups.")]
    SubgroupCycle {
        /// The group.
        id: GroupId,
    },
    /// Something still names the group. The edge repeats the objections.
    #[error("Cannot deactivate user group in use.")]
    InUse {
        /// What names it.
        objections: Vec<GroupObjection>,
    },
}

/// What a group to be deactivated is used for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupObjection {
    /// It is inside these groups.
    Subgroup {
        /// They.
        supergroups: Vec<GroupId>,
    },
    /// Permissions of the organization name it.
    Realm {
        /// Their wire names.
        settings: Vec<&'static str>,
    },
    /// Permissions of a channel name it.
    Channel {
        /// The channel.
        channel: ChannelId,
        /// Their wire names.
        settings: Vec<&'static str>,
    },
    /// Permissions of another group name it.
    UserGroup {
        /// That group.
        group: GroupId,
        /// Their wire names.
        settings: Vec<&'static str>,
    },
}
