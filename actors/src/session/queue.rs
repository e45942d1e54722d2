//! The queue itself: a cursor, a bound and a list of references. No clock, no actor.

use model::{Event, Flags};
use std::collections::VecDeque;
use std::sync::Arc;

/// An event in one client's queue.
#[derive(Clone, Debug)]
pub struct Delivered {
    /// The event, shared.
    pub event: Arc<Event>,
    /// What the message is to this user.
    pub flags: Flags,
    /// The client's own name for its message.
    pub local_id: Option<Arc<str>>,
}

/// Why an acknowledgement is refused (companions.md 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueError {
    /// The client acknowledged more before than this.
    Pruned(i64),
    /// There was never such an event here.
    Unknown(i64),
}

/// Events that a client has not acknowledged, ascending.
#[derive(Debug)]
pub struct Queue {
    events: VecDeque<Delivered>,
    /// Newest acknowledged event, or where the queue began.
    acknowledged: i64,
    /// The client's first poll may say -1, or any number up to where it registered.
    was_polled: bool,
    events_max: usize,
}

impl Queue {
    /// A queue whose client had acknowledged events up to `after` before the server was restarted.
    pub fn resumed(after: u64, events_max: usize) -> Self {
        Self { was_polled: true, ..Self::new(after, events_max) }
    }

    /// An empty queue behind an event number, for so many events.
    pub fn new(after: u64, events_max: usize) -> Self {
        Self { events: VecDeque::new(), acknowledged: after as i64, was_polled: false, events_max }
    }

    /// Adds an event; false when the client is too far behind, so that the queue must end.
    /// Events that the client has already acknowledged by its registration are left out.
    #[must_use]
    pub fn push(&mut self, delivered: Delivered) -> bool {
        if delivered.event.number.0 as i64 <= self.acknowledged {
            return true;
        }
        if self.events.len() >= self.events_max {
            return false;
        }
        self.events.push_back(delivered);
        true
    }

    /// Drops what the client has. Of an event with several numbers nothing is dropped before its last: what a
    /// client already has of it comes again. `newest` is the organization's newest event: the first poll may
    /// acknowledge any number up to it, because the registration showed the state as of some such number.
    ///
    /// # Errors
    /// See [`QueueError`]. Nothing is dropped then.
    pub fn acknowledge(&mut self, last_event_id: i64, newest: i64) -> Result<(), QueueError> {
        if last_event_id < self.acknowledged {
            // A new queue is often polled with -1; that asks for everything there is.
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
            self.events.pop_front();
        }
        self.acknowledged = last_event_id;
        self.was_polled = true;
        Ok(())
    }

    /// Everything not acknowledged.
    pub fn events(&self) -> Vec<Delivered> {
        self.events.iter().cloned().collect()
    }

    /// Whether everything is acknowledged.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{EventBody, EventNumber};

    fn delivered(number: u64) -> Delivered {
        let event = Arc::new(Event::new(EventNumber(number), EventBody::Heartbeat));
        Delivered { event, flags: Flags::NONE, local_id: None }
    }

    fn numbers(queue: &Queue) -> Vec<u64> {
        queue.events().iter().map(|delivered| delivered.event.number.0).collect()
    }

    #[test]
    fn acknowledged_events_are_dropped_and_others_come_again() {
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
    fn what_the_registration_showed_is_not_repeated() {
        let mut queue = Queue::new(10, 100);
        assert!(queue.push(delivered(12)));
        assert!(queue.push(delivered(14)));
        queue.acknowledge(13, 14).unwrap();
        assert_eq!(numbers(&queue), [14]);
        assert!(queue.push(delivered(13)));
        assert_eq!(numbers(&queue), [14]);
    }

    #[test]
    fn an_event_of_several_numbers_stays_until_its_last() {
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
    fn the_first_poll_cannot_come_from_the_future() {
        let mut queue = Queue::new(10, 100);
        assert_eq!(queue.acknowledge(99, 14), Err(QueueError::Unknown(99)));
        assert_eq!(queue.acknowledge(14, 14), Ok(()));
    }

    #[test]
    fn a_client_too_far_behind_is_noticed() {
        let mut queue = Queue::new(0, 2);
        assert!(queue.push(delivered(1)));
        assert!(queue.push(delivered(2)));
        assert!(!queue.push(delivered(3)));
    }
}
