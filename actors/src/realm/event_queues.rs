//! The event queues of an organization, uncommitted decisions included. No actor, no clock, no storage.

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

    /// The oldest registrations of users who have more than `max`.
    pub fn queues_past(&self, max: usize) -> Vec<(UserId, QueueId)> {
        let past = self.queues.by_user.iter().flat_map(|(user, own)| {
            own[..own.len().saturating_sub(max)].iter().map(|queue| (*user, queue.clone()))
        });
        past.collect()
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
    owners: HashMap<QueueId, UserId>,
}

impl RegisteredQueues {
    fn add(&mut self, user: UserId, queue: &QueueId) {
        if self.owners.insert(queue.clone(), user).is_none() {
            self.by_user.entry(user).or_default().push(queue.clone());
        }
    }

    fn remove(&mut self, queue: &QueueId) {
        let Some(user) = self.owners.remove(queue) else { return };
        let Some(own) = self.by_user.get_mut(&user) else { return };
        own.retain(|known| known != queue);
        if own.is_empty() {
            self.by_user.remove(&user);
        }
    }
}
