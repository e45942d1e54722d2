//! How many messages the senders of a phase may still send together.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of messages that may still be sent.
#[derive(Debug)]
pub struct Budget(AtomicU64);

impl Budget {
    /// A budget of `messages`.
    pub fn new(messages: u64) -> Self {
        Self(AtomicU64::new(messages))
    }

    /// Takes one; `false` if there is none left.
    pub fn take(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// Sets the budget to zero, which ends the sending.
    pub fn close(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Returns the one that a failed send took.
    pub fn give_back(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
