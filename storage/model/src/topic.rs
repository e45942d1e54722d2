//! Topics: names on messages, equal without regard to case, and what each user wants to see of them.

use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A topic name in lower case: topics are equal when their keys are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TopicKey(Arc<str>);

impl TopicKey {
    /// The key of a topic name.
    pub fn new(name: &str) -> Self {
        Self(name.to_lowercase().into())
    }

    /// The lower-case name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a user wants to see of a topic; codes as on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum VisibilityPolicy {
    /// 0: what the channel says.
    #[default]
    Inherit,
    /// 1
    Muted,
    /// 2
    Unmuted,
    /// 3
    Followed,
}

impl VisibilityPolicy {
    /// The code on the wire.
    pub fn code(self) -> u8 {
        match self {
            Self::Inherit => 0,
            Self::Muted => 1,
            Self::Unmuted => 2,
            Self::Followed => 3,
        }
    }
}

/// A user's policy for one topic. `Inherit` is never stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserTopic {
    /// The name as it was spelled when the policy was set.
    pub name: String,
    /// The policy.
    pub policy: VisibilityPolicy,
    /// When it was set.
    pub updated: Timestamp,
}
