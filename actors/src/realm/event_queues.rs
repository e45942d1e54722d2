//! The event queues of an organization, uncommitted decisions included. No actor, no clock, no storage.

use crate::session::QueueHolder;
use crate::shared::QueueLimits;
use model::{Fact, QueueFact, QueueId, UserId};
use std::collections::{HashMap, HashSet};

/// The registered queues of each user, and the ended ones whose end is not durable yet.
#[derive(Clone, Debug, Default)]
pub struct EventQueues {
    ended_queues: HashSet<QueueId>,
    queues: RegisteredQueues,
}

impl EventQueues {
    /// The state of an organization where everything decided is durable.
    pub fn of(view: &storage::View) -> Self {
        let mut state = Self::default();
        let mut queues: Vec<_> = view.queues.values().collect();
        queues.sort_by_key(|record| record.registered);
        queues.into_iter().for_each(|record| state.queues.add(record.user, &record.id));
        state
    }

    /// A user's queues, those about to be registered included, in the order of registration.
    pub fn queues_of(&self, user: UserId) -> &[QueueId] {
        self.queues.by_user.get(&user).map(Vec::as_slice).unwrap_or_default()
    }

    /// The oldest registrations of users who have more than they may, and of owners whose bots have more together.
    pub fn queues_past(
        &self,
        limits: &QueueLimits,
        owner_of: impl Fn(UserId) -> Option<UserId>,
    ) -> Vec<(UserId, QueueId)> {
        let mut past = Vec::new();
        let mut of_bots: HashMap<UserId, Vec<(u64, UserId, &QueueId)>> = HashMap::new();
        for (user, own) in &self.queues.by_user {
            let max = QueueHolder::Account(*user).queues_max(limits);
            let (over, kept) = own.split_at(own.len().saturating_sub(max));
            past.extend(over.iter().map(|queue| (*user, queue.clone())));
            if let Some(owner) = owner_of(*user) {
                let kept = kept.iter().map(|queue| (self.queues.order_of(queue), *user, queue));
                of_bots.entry(owner).or_default().extend(kept);
            }
        }
        for (owner, mut queues) in of_bots {
            queues.sort_unstable();
            let over = queues.len().saturating_sub(QueueHolder::BotsOf(owner).queues_max(limits));
            past.extend(queues.into_iter().take(over).map(|(_, user, queue)| (user, queue.clone())));
        }
        past
    }

    /// Whether a queue has ended, and the end is not durable yet.
    pub fn has_ended(&self, queue: &QueueId) -> bool {
        self.ended_queues.contains(queue)
    }

    /// Applies facts that were queued for the log or became durable.
    pub fn apply(&mut self, facts: &[Fact], is_durable: bool) {
        for fact in facts {
            if let Fact::Queue(fact) = fact {
                self.apply_queue(fact, is_durable);
            }
        }
    }

    fn apply_queue(&mut self, fact: &QueueFact, is_durable: bool) {
        match fact {
            QueueFact::Ended(queue) if is_durable => {
                self.ended_queues.remove(queue);
            }
            QueueFact::Ended(queue) => {
                self.ended_queues.insert(queue.clone());
                self.queues.remove(queue);
            }
            QueueFact::Registered(record) if !is_durable => self.queues.add(record.user, &record.id),
            QueueFact::Registered(_) | QueueFact::EventNumbersReserved(_) => {}
        }
    }

    /// Updates queues whose facts are durable, or were refused by the disk, from the view.
    pub fn reconcile_with_view(&mut self, view: &storage::View, facts: &[Fact]) {
        for fact in facts {
            let Fact::Queue(fact) = fact else { continue };
            let id = match fact {
                QueueFact::Registered(record) => &record.id,
                QueueFact::Ended(queue) => queue,
                QueueFact::EventNumbersReserved(_) => continue,
            };
            match view.queues.get(id).filter(|_| !self.ended_queues.contains(id)) {
                Some(record) => self.queues.add(record.user, id),
                None => self.queues.remove(id),
            }
        }
    }
}

/// The queues by user, and the users by queue.
#[derive(Clone, Debug, Default)]
struct RegisteredQueues {
    by_user: HashMap<UserId, Vec<QueueId>>,
    /// With the place in the order of registration.
    owners: HashMap<QueueId, (UserId, u64)>,
    /// The number of registrations so far.
    count: u64,
}

impl RegisteredQueues {
    fn add(&mut self, user: UserId, queue: &QueueId) {
        if self.owners.contains_key(queue) {
            return;
        }
        self.count += 1;
        self.owners.insert(queue.clone(), (user, self.count));
        self.by_user.entry(user).or_default().push(queue.clone());
    }

    fn order_of(&self, queue: &QueueId) -> u64 {
        self.owners.get(queue).map_or(0, |(_, order)| *order)
    }

    fn remove(&mut self, queue: &QueueId) {
        let Some((user, _)) = self.owners.remove(queue) else { return };
        let Some(own) = self.by_user.get_mut(&user) else { return };
        own.retain(|known| known != queue);
        if own.is_empty() {
            self.by_user.remove(&user);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ClientCapabilities, EventKinds, EventNumber, QueueOptions, QueueRecord, Timestamp};
    use std::sync::Arc;

    fn registered(user: u32, name: &str) -> Fact {
        Fact::Queue(QueueFact::Registered(Box::new(QueueRecord {
            id: QueueId(name.into()),
            user: UserId(user),
            registered: Timestamp(0),
            after: EventNumber(0),
            options: QueueOptions {
                kinds: EventKinds::ALL,
                apply_markdown: true,
                client_gravatar: false,
                slim_presence: false,
                all_public_channels: false,
                narrow: Vec::new(),
                capabilities: ClientCapabilities::default(),
                idle_secs_max: 600,
            },
        })))
    }

    #[test]
    fn oldest_queues_above_the_limits_are_past() {
        let mut queues = EventQueues::default();
        // Users 2 to 9 are bots of user 1.
        let facts = |round: &str| {
            let bots = (2..=9).map(|bot| registered(bot, &format!("{round}{bot}")));
            bots.chain([registered(1, &format!("{round}1"))]).collect::<Vec<_>>()
        };
        queues.apply(&facts("a"), false);
        queues.apply(&facts("b"), false);
        let owner_of = |user| (user > UserId(1)).then_some(UserId(1));
        let past = |max| {
            let limits = QueueLimits { queues_per_user_max: max, ..QueueLimits::default() };
            let mut past: Vec<_> =
                queues.queues_past(&limits, owner_of).into_iter().map(|(_, queue)| queue.0).collect();
            past.sort_unstable();
            past
        };
        let names = |names: &str| names.split_whitespace().map(Arc::from).collect::<Vec<Arc<str>>>();
        assert_eq!(past(4), names(""));
        assert_eq!(past(3), names("a2 a3 a4 a5"));
        assert_eq!(past(2), names("a2 a3 a4 a5 a6 a7 a8 a9"));
        assert_eq!(past(1), names("a1 a2 a3 a4 a5 a6 a7 a8 a9 b2 b3 b4 b5"));
    }
}
