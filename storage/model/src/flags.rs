//! Flags of a message for one user: read, starred, mentioned …

use serde::{Deserialize, Serialize};

/// A flag of a message for one user (docs/api/message-flags.md#flags).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Flag {
    Read,
    Starred,
    Collapsed,
    /// The user is mentioned, by name or through a group.
    Mentioned,
    /// Everyone in the channel is mentioned.
    ChannelWildcardMentioned,
    /// All participants of the topic are mentioned, and the user is one of them.
    TopicWildcardMentioned,
    HasAlertWord,
    /// Readable, but was never delivered to the user.
    Historical,
}

impl Flag {
    /// All flags, in the order of the API.
    pub const ALL: [Self; 8] = [
        Self::Read,
        Self::Starred,
        Self::Collapsed,
        Self::Mentioned,
        Self::ChannelWildcardMentioned,
        Self::TopicWildcardMentioned,
        Self::HasAlertWord,
        Self::Historical,
    ];

    /// Flags that a client may change.
    pub const EDITABLE: [Self; 3] = [Self::Read, Self::Starred, Self::Collapsed];

    /// The name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Starred => "starred",
            Self::Collapsed => "collapsed",
            Self::Mentioned => "mentioned",
            Self::ChannelWildcardMentioned => "stream_wildcard_mentioned",
            Self::TopicWildcardMentioned => "topic_wildcard_mentioned",
            Self::HasAlertWord => "has_alert_word",
            Self::Historical => "historical",
        }
    }
}

/// A set of flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Flags(pub u8);

impl Flags {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// The set of a single flag.
    pub fn only(flag: Flag) -> Self {
        Self(1 << flag as u8)
    }

    /// This set with one more flag.
    #[must_use]
    pub fn with(self, flag: Flag) -> Self {
        Self(self.0 | 1 << flag as u8)
    }

    /// This set with one more flag if a condition holds.
    #[must_use]
    pub fn with_if(self, flag: Flag, condition: bool) -> Self {
        if condition { self.with(flag) } else { self }
    }

    /// The union of both sets.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a flag is in the set.
    pub fn contains(self, flag: Flag) -> bool {
        self.0 & (1 << flag as u8) != 0
    }

    /// The flags of the set, in the order of the API.
    pub fn iter(self) -> impl Iterator<Item = Flag> {
        Flag::ALL.into_iter().filter(move |flag| self.contains(*flag))
    }

    /// Whether the set contains any kind of mention.
    pub fn is_mention(self) -> bool {
        self.contains(Flag::Mentioned)
            || self.contains(Flag::ChannelWildcardMentioned)
            || self.contains(Flag::TopicWildcardMentioned)
    }
}

/// A change of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FlagOp {
    Add,
    Remove,
}

impl FlagOp {
    /// The name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Remove => "remove",
        }
    }
}
