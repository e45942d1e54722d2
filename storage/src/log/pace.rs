//! Pauses of work in the background that shares the disk with commits. They end at once when the work's result is needed.

use parking_lot::{Condvar, Mutex};
use std::time::Duration;

/// How long work pauses after each of its pieces, as a multiple of the time that the piece took.
pub(crate) struct Pace {
    factor: u32,
    is_urgent: Mutex<bool>,
    changed: Condvar,
}

impl Pace {
    /// Work that uses the disk for one part of the time in `factor + 1`, until it is urgent.
    pub(crate) fn new(factor: u32) -> Self {
        Self { factor, is_urgent: Mutex::new(false), changed: Condvar::new() }
    }

    /// Pauses after a piece of work, unless its result is needed now.
    pub(crate) fn pause(&self, took: Duration) {
        let mut is_urgent = self.is_urgent.lock();
        let pause = took.saturating_mul(self.factor);
        self.changed.wait_while_for(&mut is_urgent, |is_urgent| !*is_urgent, pause);
    }

    /// Ends the pauses: a commit waits for the result.
    pub(crate) fn hurry(&self) {
        *self.is_urgent.lock() = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn pause_ends_when_the_result_is_needed() {
        let pace = Arc::new(Pace::new(u32::MAX));
        let working = thread::spawn({
            let pace = Arc::clone(&pace);
            // Centuries, one after the other.
            move || (0..3).for_each(|_| pace.pause(Duration::from_secs(1)))
        });
        pace.hurry();
        working.join().unwrap();
    }
}
