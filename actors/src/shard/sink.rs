//! The reports of the log's writer thread to the shard's thread. Reports are merged: there is one result and one
//! wake-up for any number of durable groups.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use storage::log::{Durable, LogError, Ticket};
use tokio::sync::Notify;

/// The durable position of a shard's log.
#[derive(Debug, Default)]
pub struct Durability {
    upto: AtomicU64,
    failure: Mutex<Option<LogError>>,
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
            Err(error) => {
                let mut failure = self.0.failure.lock();
                failure.get_or_insert(error);
            }
        }
        self.0.changed.notify_one();
    }
}
