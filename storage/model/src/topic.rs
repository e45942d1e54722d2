//! Topic names, which are compared ignoring case, and users' visibility policies for topics.

use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::borrow::{Borrow, Cow};
use std::sync::Arc;

/// A topic name in lower case; topics with equal keys are the same topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TopicKey(Arc<str>);

impl TopicKey {
    /// The key of a topic name.
    pub fn new(name: &str) -> Self {
        Self(Self::fold(name).into())
    }

    /// The lower-case form of a topic name, which finds its key in maps.
    pub fn fold(name: &str) -> Cow<'_, str> {
        // Most names need no second copy.
        match name.bytes().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii()) {
            false => name.into(),
            true => name.to_lowercase().into(),
        }
    }

    /// The lower-case name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for TopicKey {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// A user's visibility policy for a topic, with its API code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum VisibilityPolicy {
    /// Code 0: the channel's setting applies.
    #[default]
    Inherit,
    /// Code 1: hidden and without notifications.
    Muted,
    /// Code 2: shown even if the channel is muted.
    Unmuted,
    /// Code 3: shown, with notifications of all messages.
    Followed,
}

impl VisibilityPolicy {
    /// The code in the API.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// A user's policy for one topic. `Inherit` is never stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserTopic {
    /// The topic name as spelled when the policy was set.
    pub name: String,
    pub policy: VisibilityPolicy,
    pub updated: Timestamp,
}
