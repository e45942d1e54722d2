//! Facts about subscriptions, and users' settings for channels and topics.

use super::bounds::EVENTS_OF_RECORD;
use crate::ids::{ChannelId, MessageId, UserId};
use crate::subscription::Subscription;
use crate::topic::{UserTopic, VisibilityPolicy};
use serde::{Deserialize, Serialize};

/// A change of subscriptions or of policies for topics.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SubscriptionFact {
    /// Users were subscribed. Their subscription records are now these.
    Added { channel: ChannelId, subscribers: Vec<(UserId, Subscription)>, by: UserId },
    /// Users were unsubscribed.
    Removed {
        channel: ChannelId,
        /// The newest message that they still received.
        last: MessageId,
        users: Vec<UserId>,
        by: UserId,
    },
    /// A user's settings for a channel are now these; subscribing and unsubscribing have their own facts.
    Changed { user: UserId, channel: ChannelId, subscription: Box<Subscription> },
    /// A property was set to its present value. Has no effect; clients receive it again.
    Restated {
        user: UserId,
        channel: ChannelId,
        /// Wire name of the property.
        property: String,
    },
    /// The policy of users for a topic is now this.
    TopicPolicySet {
        channel: ChannelId,
        /// The topic as spelled in the request.
        topic: String,
        /// The policy; `Inherit` removes the records.
        policy: VisibilityPolicy,
        /// Ids of the users, sorted.
        users: Vec<UserId>,
    },
    /// Policies of a user as an import found them, with the times at which they were set. Nothing is announced: no client is
    /// connected during an import.
    TopicPoliciesImported { user: UserId, topics: Vec<(ChannelId, UserTopic)> },
}

impl SubscriptionFact {
    /// An upper bound of the number of events of this fact.
    pub fn events_max(&self) -> u64 {
        match self {
            // One for each subscriber (own record inside), one for the others.
            Self::Added { subscribers, .. } => subscribers.len() as u64 + 2,
            Self::Removed { .. } => 4,
            Self::Changed { .. } => EVENTS_OF_RECORD,
            // Muting is sent under two names.
            Self::Restated { .. } => 2,
            // One for all of them, and all muted topics of each for legacy clients.
            Self::TopicPolicySet { users, .. } => users.len() as u64 + 1,
            Self::TopicPoliciesImported { .. } => 0,
        }
    }
}
