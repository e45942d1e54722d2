//! The events that queues hold, by number, so that a rebuilt queue shares them instead of holding copies.

use model::{Event, EventNumber};
use std::collections::HashMap;
use std::sync::{Arc, Weak};

/// Number of entries from which dropped events are removed.
const FIRST_PRUNE: usize = 4096;

/// Weak references to events; those of dropped events are removed by the next pruning.
#[derive(Debug)]
pub(super) struct LiveEvents {
    /// Several, if different users have different events with one number.
    events: HashMap<EventNumber, Vec<Weak<Event>>>,
    prune_at: usize,
}

impl Default for LiveEvents {
    fn default() -> Self {
        Self { events: HashMap::new(), prune_at: FIRST_PRUNE }
    }
}

impl LiveEvents {
    /// Remembers an event.
    pub fn note(&mut self, event: &Arc<Event>) {
        self.prune();
        self.events.entry(event.number).or_default().push(Arc::downgrade(event));
    }

    /// An equal event that is held already; otherwise this one, which is remembered.
    pub fn shared(&mut self, event: Arc<Event>) -> Arc<Event> {
        let known = self.events.get(&event.number).map(Vec::as_slice).unwrap_or_default();
        let is_same = |held: &Arc<Event>| held.clients == event.clients && held.body == event.body;
        if let Some(held) = known.iter().filter_map(Weak::upgrade).find(is_same) {
            return held;
        }
        self.note(&event);
        event
    }

    /// Removes dropped events; rarely enough to cost little for each event.
    fn prune(&mut self) {
        if self.events.len() < self.prune_at {
            return;
        }
        self.events.retain(|_, events| {
            events.retain(|event| event.strong_count() > 0);
            !events.is_empty()
        });
        self.prune_at = FIRST_PRUNE.max(2 * self.events.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::EventBody;

    fn event(number: u64, word: &str) -> Arc<Event> {
        Arc::new(Event::new(EventNumber(number), EventBody::AlertWords(vec![word.to_owned()])))
    }

    #[test]
    fn equal_events_are_shared() {
        let mut held = LiveEvents::default();
        let first = held.shared(event(1, "a"));
        assert!(Arc::ptr_eq(&first, &held.shared(event(1, "a"))));
        assert!(!Arc::ptr_eq(&first, &held.shared(event(1, "b"))), "for another user");
        assert!(!Arc::ptr_eq(&first, &held.shared(event(2, "a"))));
        let live = event(3, "c");
        held.note(&live);
        assert!(Arc::ptr_eq(&live, &held.shared(event(3, "c"))));
    }

    #[test]
    fn dropped_events_are_pruned() {
        let mut held = LiveEvents::default();
        let kept = held.shared(event(1, "a"));
        for number in 2..3 * FIRST_PRUNE as u64 {
            held.shared(event(number, "a"));
        }
        assert!(held.events.len() <= FIRST_PRUNE, "{}", held.events.len());
        assert!(Arc::ptr_eq(&kept, &held.shared(event(1, "a"))));
    }
}
