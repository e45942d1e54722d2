//! The calls into sled that have not ended, so that one that never ends is detected.

use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The calls into sled that write, flush or close, and have not ended.
#[derive(Debug, Default)]
pub(super) struct Calls {
    running: Mutex<RunningCalls>,
    /// Locked by tests: calls wait for it, as they wait inside sled after a fault.
    gate: Mutex<()>,
    is_given_up: AtomicBool,
}

#[derive(Debug, Default)]
struct RunningCalls {
    newest: u64,
    numbers: BTreeSet<u64>,
}

impl Calls {
    /// A call begins; it ends when the result is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> Call {
        let number = {
            let mut running = self.running.lock();
            running.newest += 1;
            let number = running.newest;
            running.numbers.insert(number);
            number
        };
        let call = Call { calls: self.clone(), number };
        drop(self.gate.lock());
        call
    }

    /// The number of the oldest call that has not ended.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.running.lock().numbers.first().copied()
    }

    /// Further calls are refused.
    pub(super) fn give_up(&self) {
        self.is_given_up.store(true, Ordering::SeqCst);
    }

    /// Whether further calls are refused.
    pub(super) fn is_given_up(&self) -> bool {
        self.is_given_up.load(Ordering::SeqCst)
    }

    /// Calls wait until the result is dropped.
    pub(super) fn hold(&self) -> MutexGuard<'_, ()> {
        self.gate.lock()
    }
}

/// A call into sled, until it is dropped.
#[derive(Debug)]
pub(super) struct Call {
    calls: Arc<Calls>,
    number: u64,
}

impl Drop for Call {
    fn drop(&mut self) {
        self.calls.running.lock().numbers.remove(&self.number);
    }
}
