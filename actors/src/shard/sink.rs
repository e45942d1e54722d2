//! The reports of the log's writer thread to the shard's thread. Reports are merged: there is one result and one
//! wake-up for any number of durable groups.

use model::RealmId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use storage::log::{Durable, LogError, Ticket};
use tokio::sync::Notify;

/// The durable position of a shard's log.
#[derive(Debug, Default)]
pub struct Durability {
    upto: AtomicU64,
    failure: Mutex<Option<LogError>>,
    /// Organizations that another machine owns now, with the first ticket that was not stored.
    fenced: Mutex<HashMap<RealmId, Ticket>>,
    is_any_fenced: AtomicBool,
    changed: Notify,
}

impl Durability {
    /// The newest durable ticket.
    pub fn upto(&self) -> Ticket {
        self.upto.load(Ordering::Acquire)
    }

    /// Why no further frames become durable, after a failure.
    pub fn failure(&self) -> Option<LogError> {
        self.failure.lock().clone()
    }

    /// Clears the failure after the log has recovered.
    pub fn forget_failure(&self) {
        self.failure.lock().take();
    }

    /// Organizations that another machine owns now, with the first ticket of each that is not stored.
    pub fn fenced(&self) -> Vec<(RealmId, Ticket)> {
        if !self.is_any_fenced.load(Ordering::Acquire) {
            return Vec::new();
        }
        self.fenced.lock().iter().map(|(realm, from)| (*realm, *from)).collect()
    }

    /// Whether a frame of an organization is not stored, because another machine owns it.
    pub fn is_lost(&self, realm: RealmId, ticket: Ticket) -> bool {
        self.is_any_fenced.load(Ordering::Acquire)
            && self.fenced.lock().get(&realm).is_some_and(|from| *from <= ticket)
    }

    /// The organization was opened again.
    #[cfg(any(test, feature = "cluster"))]
    pub fn forget_fence(&self, realm: RealmId) {
        self.fenced.lock().remove(&realm);
    }

    /// The tickets from `from` up to `upto` are of an organization that another machine owns.
    fn fence(&self, realm: RealmId, from: Ticket, upto: Ticket) {
        self.fenced.lock().entry(realm).or_insert(from);
        self.is_any_fenced.store(true, Ordering::Release);
        self.upto.store(upto, Ordering::Release);
    }

    /// Waits for a report.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Wakes the waiting task without a report.
    pub fn wake(&self) {
        self.changed.notify_one();
    }
}

/// The log's end of it.
#[derive(Clone, Debug)]
pub struct DurableSink(pub Arc<Durability>);

impl Durable for DurableSink {
    fn durable(&mut self, upto: Ticket, result: Result<(), LogError>) {
        match result {
            Ok(()) => self.0.upto.store(upto, Ordering::Release),
            // Of one organization; the others go on.
            Err(LogError::Fenced { realm, .. }) => self.0.fence(RealmId(realm), self.0.upto() + 1, upto),
            Err(error) => {
                let mut failure = self.0.failure.lock();
                failure.get_or_insert(error);
            }
        }
        self.0.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fenced_organization_does_not_stop_the_others() {
        let durability = Arc::new(Durability::default());
        let mut sink = DurableSink(durability.clone());
        let fenced = |realm| Err(LogError::Fenced { realm, epoch: 1, current: 2 });
        sink.durable(3, Ok(()));
        sink.durable(4, fenced(7));
        sink.durable(5, Ok(()));
        sink.durable(6, fenced(7));
        assert_eq!((durability.upto(), durability.fenced()), (6, vec![(RealmId(7), 4)]));
        assert!(durability.failure().is_none());
        assert!(!durability.is_lost(RealmId(7), 3) && durability.is_lost(RealmId(7), 6));
        assert!(!durability.is_lost(RealmId(8), 6));
        durability.forget_fence(RealmId(7));
        assert!(durability.fenced().is_empty());
    }
}
