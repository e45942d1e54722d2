//! Policies for topics that were decided and are not durable yet: the next decision must not overlook them, or a
//! message sent at the same time would lower what its sender has just chosen.

use model::{ChannelId, Fact, Sequence, SubscriptionFact, TopicKey, UserId, VisibilityPolicy};
use std::collections::HashMap;

/// From so many entries on, those that have become durable are let go of.
const ENTRIES_KEPT: usize = 256;

/// The policies of one channel that are not durable yet, each with the frame that contains it.
#[derive(Clone, Debug, Default)]
pub struct UncommittedPolicies {
    entries: HashMap<(UserId, TopicKey), (Sequence, VisibilityPolicy)>,
}

impl UncommittedPolicies {
    /// A policy that the directory does not know yet; `durable` is the newest frame that it knows.
    pub fn get(&self, user: UserId, topic: &TopicKey, durable: Sequence) -> Option<VisibilityPolicy> {
        if self.entries.is_empty() {
            return None;
        }
        let (sequence, policy) = self.entries.get(&(user, topic.clone()))?;
        (*sequence > durable).then_some(*policy)
    }

    /// Remembers what frame `sequence` sets in `own`, the channel. A move sets policies in other channels, too.
    pub fn note(&mut self, own: ChannelId, facts: &[Fact], sequence: Sequence, durable: Sequence) {
        if self.entries.len() >= ENTRIES_KEPT {
            self.entries.retain(|_, (known, _)| *known > durable);
        }
        for fact in facts {
            if let Fact::Subscription(SubscriptionFact::TopicPolicySet { channel, topic, policy, users }) =
                fact
                && *channel == own
            {
                let key = TopicKey::new(topic);
                let entries = users.iter().map(|user| ((*user, key.clone()), (sequence, *policy)));
                self.entries.extend(entries);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uncommitted_policy_is_kept_until_durable() {
        let (user, key) = (UserId(5), TopicKey::new("Lunch"));
        let set = |policy| {
            Fact::Subscription(SubscriptionFact::TopicPolicySet {
                users: vec![user],
                channel: ChannelId(1),
                topic: "LUNCH".into(),
                policy,
            })
        };
        let mut uncommitted = UncommittedPolicies::default();
        uncommitted.note(ChannelId(1), &[set(VisibilityPolicy::Muted)], Sequence(7), Sequence(5));
        assert_eq!(uncommitted.get(user, &key, Sequence(6)), Some(VisibilityPolicy::Muted));
        uncommitted.note(ChannelId(1), &[set(VisibilityPolicy::Followed)], Sequence(8), Sequence(6));
        assert_eq!(uncommitted.get(user, &key, Sequence(7)), Some(VisibilityPolicy::Followed));
        assert_eq!(uncommitted.get(user, &key, Sequence(8)), None);
        assert_eq!(uncommitted.get(UserId(6), &key, Sequence(0)), None);
    }
}
