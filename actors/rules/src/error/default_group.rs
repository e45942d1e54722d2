//! Why a group of default channels is refused (docs/api/channels.md#groups-of-default-channels).

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefaultGroupError {
    /// A name without anything in it.
    #[error("Invalid default channel group name '{name}'")]
    InvalidName {
        /// The name, as sent.
        name: String,
    },
    /// A name of too many characters.
    #[error("Default channel group name too long (limit: {limit} characters)")]
    NameTooLong {
        /// The maximum length, in code points.
        limit: usize,
    },
    /// Another group has the name.
    #[error("Default channel group '{name}' already exists")]
    NameTaken {
        /// The name of that group.
        name: String,
    },
    /// The group has this name already.
    #[error("This default channel group is already named '{name}'")]
    SameName {
        /// The name of that group.
        name: String,
    },
    /// There is no such group.
    #[error("Default channel group with id '{id}' does not exist.")]
    Missing {
        /// The id, as sent.
        id: i64,
    },
    /// New users are subscribed to the channel anyway.
    #[error("'{channel}' is a default channel and cannot be added to '{group}'")]
    IsDefault {
        /// The name of the channel.
        channel: String,
        /// The name of the group.
        group: String,
    },
    /// The channel is in the group.
    #[error("Channel '{channel}' is already present in default channel group '{group}'")]
    ChannelPresent {
        /// The name of the channel.
        channel: String,
        /// The name of the group.
        group: String,
    },
    /// The channel is not in the group.
    #[error("Channel '{channel}' is not present in default channel group '{group}'")]
    ChannelAbsent {
        /// The name of the channel.
        channel: String,
        /// The name of the group.
        group: String,
    },
    /// Neither a name nor a description was given.
    #[error("You must pass \"new_description\" or \"new_group_name\".")]
    NothingToChange,
    /// More groups than an organization may have.
    #[error("Too many default channel groups (maximum {limit}).")]
    TooManyGroups {
        /// The maximum number.
        limit: usize,
    },
    /// More channels than a group may have.
    #[error("Too many channels in default channel group '{group}' (maximum {limit}).")]
    TooManyChannels {
        /// The name of the group.
        group: String,
        /// The maximum number.
        limit: usize,
    },
}
