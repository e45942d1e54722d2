//! Closing the trees, and giving them up when a call into sled never ends.
//!
//! sled 0.34 reserves a place in its log before it writes a long page to a file of its own. When that file cannot be written
//! the place is never filled, and whatever waits for the log after it (a flush, closing) waits for ever. Such a thread cannot be
//! ended, it holds locks that sled has for the whole process, and its lock of the folder: the trees can be opened again only by
//! another process.

use super::calls::Call;
use super::{OpenTrees, Trees, TreesOpening, is_locked};
use crate::error::StoreError;
use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use parking_lot::MutexGuard;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

/// How often it is checked whether closing goes on.
const CLOSE_TICK: Duration = Duration::from_millis(100);

/// Checks without progress after which closing is given up.
const CLOSE_TICKS_MAX: u32 = 300;

/// Attempts to open, of some seconds each, after which the lock of an earlier handle is never released: the thread that uses it hangs.
const LOCK_FAILURES_MAX: u64 = 20;

impl Trees {
    /// Closes the trees. Errors of the disk are only logged: the journal has everything. Trees that were given up are left
    /// behind as they are: closing them would never end.
    pub fn close(&self) {
        if *self.0.opening.lock() != TreesOpening::None {
            self.0.is_stopping.store(true, Ordering::Relaxed);
            self.wait();
            self.0.is_stopping.store(false, Ordering::Relaxed);
        }
        let Some(open) = self.0.open.write().take() else { return };
        self.close_sled(open);
    }

    /// Closes sled on a thread of its own, and waits for it as long as it goes on.
    pub(super) fn close_sled(&self, open: OpenTrees) {
        if self.is_given_up() {
            std::mem::forget(open);
            return;
        }
        let (ended, has_ended) = bounded(1);
        let calls = self.0.calls.clone();
        let close = move || {
            let _call = calls.begin();
            // sled panics when its last sync fails.
            if std::panic::catch_unwind(AssertUnwindSafe(|| drop(open))).is_err() {
                tracing::warn!(
                    "the database in state/ could not be closed cleanly; the next start replays what it lacks from the journal"
                );
            }
            // The other end may have given up.
            let _ = ended.send(());
        };
        let thread = std::thread::Builder::new().name("trees-close".into());
        // Without a thread they are dropped here.
        match std::panic::catch_unwind(AssertUnwindSafe(|| thread.spawn(close))) {
            Ok(Ok(_)) => self.wait_for_close(&has_ended),
            Ok(Err(_)) | Err(_) => tracing::warn!("the trees were closed without a thread for it"),
        }
    }

    fn wait_for_close(&self, has_ended: &Receiver<()>) {
        let mut watch = StallWatch::default();
        while let Err(RecvTimeoutError::Timeout) = has_ended.recv_timeout(CLOSE_TICK) {
            let ticks = watch.tick(self);
            if self.is_given_up() || (watch.has_call() && ticks >= CLOSE_TICKS_MAX) {
                tracing::error!("the database in state/ cannot be closed");
                self.give_up();
                return;
            }
        }
    }

    /// Flushes everything to the disk.
    ///
    /// # Errors
    /// [`StoreError::Trees`], [`StoreError::TreesClosed`], and [`StoreError::TreesHang`] after they were given up.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.wait();
        self.check_given_up()?;
        // Ends last: dropping the last handle of sled is part of it.
        let _call = self.begin_call();
        let open = self.0.open.read().as_ref().map(|open| (open.db.clone(), open.users.clone()));
        let (db, _users) = open.ok_or(StoreError::TreesClosed)?;
        db.flush()?;
        Ok(())
    }

    /// Refuses every further use of the trees, because a call into sled does not end. It holds until the end of the process.
    pub fn give_up(&self) {
        self.0.calls.give_up();
    }

    /// Gives the trees up when an earlier handle is never released, although no call is known to hang: a reader does.
    pub(super) fn note_failure(&self, error: &StoreError) {
        if is_locked(error) && self.0.lock_failures.fetch_add(1, Ordering::SeqCst) + 1 >= LOCK_FAILURES_MAX {
            self.give_up();
        }
    }

    /// Whether the trees were given up.
    pub fn is_given_up(&self) -> bool {
        self.0.calls.is_given_up()
    }

    pub(super) fn check_given_up(&self) -> Result<(), StoreError> {
        if self.is_given_up() { Err(StoreError::TreesHang) } else { Ok(()) }
    }

    /// A call into sled begins; it ends when the result is dropped.
    pub(super) fn begin_call(&self) -> Call {
        self.0.calls.begin()
    }

    /// Until the result is dropped, calls that write, flush or close do not end, as after a fault inside sled. For tests.
    pub fn hold_calls(&self) -> HeldCalls<'_> {
        HeldCalls { _gate: self.0.calls.hold() }
    }
}

/// Calls into sled wait until this is dropped.
#[derive(Debug)]
pub struct HeldCalls<'t> {
    _gate: MutexGuard<'t, ()>,
}

/// Counts how often in a row nothing has gone on in the trees. It counts checks and not time, so that a machine that was
/// suspended is not taken for one that hangs.
#[derive(Debug, Default)]
pub struct StallWatch {
    /// The oldest call into sled that had not ended, and when its log was written last.
    before: (Option<u64>, Option<SystemTime>),
    ticks: u32,
}

impl StallWatch {
    /// Checks the trees, at regular intervals. Returns how often in a row no call has ended and nothing was written.
    pub fn tick(&mut self, trees: &Trees) -> u32 {
        let log = std::fs::metadata(trees.path().join("db"));
        let now = (trees.0.calls.oldest(), log.and_then(|log| log.modified()).ok());
        self.ticks = if now == self.before { self.ticks + 1 } else { 0 };
        self.before = now;
        self.ticks
    }

    /// Whether a call into sled had not ended at the last check.
    pub fn has_call(&self) -> bool {
        self.before.0.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trees(folder: &tempfile::TempDir) -> Trees {
        Trees::open(&folder.path().join("state"), 8 * 1024 * 1024).unwrap()
    }

    #[test]
    fn call_that_does_not_end_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let trees = trees(&folder);
        // The log of sled is at rest.
        trees.flush().unwrap();
        let mut watch = StallWatch::default();
        let first = trees.begin_call();
        watch.tick(&trees);
        let second = trees.begin_call();
        // The end of a call is progress, also while another one waits.
        drop(first);
        assert_eq!(watch.tick(&trees), 0);
        assert!(watch.has_call());
        // Nothing goes on any more.
        while watch.tick(&trees) < 3 {
            std::thread::yield_now();
        }
        drop(second);
        assert_eq!(watch.tick(&trees), 0);
        assert!(!watch.has_call());
    }

    #[test]
    fn trees_that_were_given_up_refuse_everything_and_do_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let trees = trees(&folder);
        let held = trees.hold_calls();
        trees.give_up();
        assert!(matches!(trees.flush(), Err(StoreError::TreesHang)));
        assert!(matches!(trees.state(), Err(StoreError::TreesHang)));
        assert!(matches!(trees.reopen(), Err(StoreError::TreesHang)));
        // It would wait for the held calls.
        trees.close();
        drop(held);
    }

    #[test]
    fn closing_that_hangs_ends_once_the_trees_are_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let trees = trees(&folder);
        let held = trees.hold_calls();
        let closing = std::thread::spawn({
            let trees = trees.clone();
            move || trees.close()
        });
        // The call that closes them has begun.
        while trees.0.calls.oldest().is_none() {
            std::thread::yield_now();
        }
        trees.give_up();
        closing.join().unwrap();
        drop(held);
    }
}
