//! Uncommitted policies for topics. Decisions must know them: otherwise a message sent at the same time would lower the
//! policy that its sender has chosen.

use model::{ChannelId, Fact, Sequence, SubscriptionFact, TopicKey, UserId, VisibilityPolicy};
use std::collections::HashMap;

/// Number of entries from which durable ones are dropped.
const ENTRIES_KEPT: usize = 256;

/// The uncommitted policies of one channel, each with the frame that contains it.
#[derive(Clone, Debug, Default)]
pub struct UncommittedPolicies {
    entries: HashMap<(UserId, TopicKey), (Sequence, VisibilityPolicy)>,
}

impl UncommittedPolicies {
    /// A policy that the directory does not have yet; `durable` is the directory's newest frame.
    pub fn get(&self, user: UserId, topic: &TopicKey, durable: Sequence) -> Option<VisibilityPolicy> {
        if self.entries.is_empty() {
            return None;
        }
        let (sequence, policy) = self.entries.get(&(user, topic.clone()))?;
        (*sequence > durable).then_some(*policy)
    }

    /// Records the policies that frame `sequence` sets in the channel `own`. A move also sets policies in other channels.
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
