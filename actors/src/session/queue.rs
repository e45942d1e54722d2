//! The queue itself: a cursor, limits and a list of references. No clock, no actor.

use super::delivered::Delivered;
use super::status::{HolderBytes, QueueHolders, QueueStatus};
use std::collections::VecDeque;
use std::sync::Arc;

/// Why an acknowledgement is refused (docs/api/events.md#poll-a-queue).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueError {
    /// The client has acknowledged a later event before.
    Pruned(i64),
    /// The event was never in this queue.
    Unknown(i64),
}

/// The unacknowledged events of a client, ascending.
#[derive(Debug)]
pub struct Queue {
    events: VecDeque<Delivered>,
    /// The newest acknowledged event, or the last one before the queue was registered.
    acknowledged: i64,
    /// The first poll may acknowledge -1, or any number up to the registration.
    was_polled: bool,
    events_max: usize,
    charge: Charge,
}

/// The bytes of one queue, which also count for its account, and those of a bot for all bots of its owner.
#[derive(Debug, Default)]
struct Charge {
    holders: Option<QueueHolders>,
    status: Arc<QueueStatus>,
}

impl Charge {
    fn holders(&self) -> impl Iterator<Item = &Arc<HolderBytes>> {
        self.holders.iter().flat_map(QueueHolders::iter)
    }

    fn add(&self, delivered: &Delivered) {
        self.holders().for_each(|holder| holder.add(&delivered.event));
        self.status.set_bytes(self.status.bytes() + delivered.bytes());
    }

    fn remove(&self, delivered: &Delivered) {
        self.holders().for_each(|holder| holder.remove(&delivered.event));
        self.status.set_bytes(self.status.bytes().saturating_sub(delivered.bytes()));
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.events.iter().for_each(|delivered| self.charge.remove(delivered));
    }
}

impl Queue {
    /// A queue whose client had acknowledged events up to `after` before the server was restarted.
    pub fn resumed(after: u64, events_max: usize) -> Self {
        let mut queue = Self::new(after, events_max);
        queue.was_polled = true;
        queue
    }

    /// An empty queue that starts after an event number, for up to `events_max` events.
    pub fn new(after: u64, events_max: usize) -> Self {
        let charge = Charge::default();
        Self { events: VecDeque::new(), acknowledged: after as i64, was_polled: false, events_max, charge }
    }

    /// This queue, still empty, with its bytes counted for holders and in a status.
    pub fn charged(mut self, holders: QueueHolders, status: Arc<QueueStatus>) -> Self {
        self.charge = Charge { holders: Some(holders), status };
        self
    }

    /// Adds an event; false if the queue is full and must end. Events that the client has acknowledged by registering
    /// are skipped.
    #[must_use]
    pub fn push(&mut self, delivered: Delivered) -> bool {
        if delivered.event.number.0 as i64 <= self.acknowledged {
            return true;
        }
        if self.events.len() >= self.events_max {
            return false;
        }
        self.charge.add(&delivered);
        self.events.push_back(delivered);
        true
    }

    /// Drops the acknowledged events. An event with several numbers is dropped only when its last one is acknowledged:
    /// until then it is sent again. `newest` is the organization's newest event: the first poll may acknowledge any
    /// number up to it, because the registration returned the state as of such a number. Nothing is dropped on an error.
    pub fn acknowledge(&mut self, last_event_id: i64, newest: i64) -> Result<(), QueueError> {
        if last_event_id < self.acknowledged {
            // New queues are often polled with -1, which requests all events.
            if !self.was_polled && last_event_id == -1 {
                return Ok(());
            }
            return Err(QueueError::Pruned(last_event_id));
        }
        let is_here = self.events.iter().any(|delivered| {
            let numbers = delivered.event.first_number().0..=delivered.event.number.0;
            u64::try_from(last_event_id).is_ok_and(|id| numbers.contains(&id))
        });
        let is_known = is_here || last_event_id == self.acknowledged;
        if !is_known && (self.was_polled || last_event_id > newest) {
            return Err(QueueError::Unknown(last_event_id));
        }
        while self.events.front().is_some_and(|first| first.event.number.0 as i64 <= last_event_id) {
            if let Some(first) = self.events.pop_front() {
                self.charge.remove(&first);
            }
        }
        self.acknowledged = last_event_id;
        self.was_polled = true;
        Ok(())
    }

    /// All unacknowledged events.
    pub fn events(&self) -> Vec<Delivered> {
        self.events.iter().cloned().collect()
    }

    /// Whether all events are acknowledged.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Event, EventBody, EventNumber, Flags};

    fn delivered(number: u64) -> Delivered {
        let event = Arc::new(Event::new(EventNumber(number), EventBody::Heartbeat));
        Delivered { event, flags: Flags::NONE, local_id: None }
    }

    fn numbers(queue: &Queue) -> Vec<u64> {
        queue.events().iter().map(|delivered| delivered.event.number.0).collect()
    }

    #[test]
    fn unacknowledged_events_are_repeated() {
        let mut queue = Queue::new(10, 100);
        for number in [11, 15, 20] {
            assert!(queue.push(delivered(number)));
        }
        queue.acknowledge(-1, 20).unwrap();
        assert_eq!(numbers(&queue), [11, 15, 20]);
        queue.acknowledge(15, 20).unwrap();
        queue.acknowledge(15, 20).unwrap();
        assert_eq!(numbers(&queue), [20]);
        assert_eq!(queue.acknowledge(11, 20), Err(QueueError::Pruned(11)));
        assert_eq!(queue.acknowledge(17, 20), Err(QueueError::Unknown(17)));
        assert_eq!(queue.acknowledge(99, 120), Err(QueueError::Unknown(99)));
        assert_eq!(numbers(&queue), [20]);
    }

    #[test]
    fn events_before_registration_are_not_delivered() {
        let mut queue = Queue::new(10, 100);
        assert!(queue.push(delivered(12)));
        assert!(queue.push(delivered(14)));
        queue.acknowledge(13, 14).unwrap();
        assert_eq!(numbers(&queue), [14]);
        assert!(queue.push(delivered(13)));
        assert_eq!(numbers(&queue), [14]);
    }

    #[test]
    fn event_with_several_numbers_stays_until_last_is_acknowledged() {
        let mut queue = Queue::resumed(10, 100);
        let body =
            EventBody::MessagesDeleted { place: None, messages: [1, 2, 3].map(model::MessageId).to_vec() };
        let event = Arc::new(Event::new(EventNumber(13), body));
        assert!(queue.push(Delivered { event, flags: Flags::NONE, local_id: None }));
        assert!(queue.push(delivered(14)));
        queue.acknowledge(11, 14).unwrap();
        assert_eq!(numbers(&queue), [13, 14]);
        queue.acknowledge(12, 14).unwrap();
        assert_eq!(numbers(&queue), [13, 14]);
        assert_eq!(queue.acknowledge(11, 14), Err(QueueError::Pruned(11)));
        queue.acknowledge(13, 14).unwrap();
        assert_eq!(numbers(&queue), [14]);
    }

    #[test]
    fn acknowledging_future_event_is_refused() {
        let mut queue = Queue::new(10, 100);
        assert_eq!(queue.acknowledge(99, 14), Err(QueueError::Unknown(99)));
        assert_eq!(queue.acknowledge(14, 14), Ok(()));
    }

    #[test]
    fn queue_past_event_limit_overflows() {
        let mut queue = Queue::new(0, 2);
        assert!(queue.push(delivered(1)));
        assert!(queue.push(delivered(2)));
        assert!(!queue.push(delivered(3)));
    }
}
