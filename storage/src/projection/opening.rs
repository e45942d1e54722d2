//! Opening the trees on a thread of its own, while others wait for them.

use super::{Shared, Trees, TreesOpening};
use crate::error::StoreError;
use std::sync::Arc;

impl Trees {
    /// Opens closed trees on a thread of its own, because sled reads everything that was written since it was last opened.
    /// `complete` brings them to the state from which others continue; until then writing waits, and so does reading, unless
    /// they are rebuilt. When it fails the trees stay closed.
    ///
    /// # Errors
    /// [`StoreError::Io`] when no thread can be started.
    pub fn open_in_background(
        &self,
        is_rebuilt: bool,
        complete: impl FnOnce(&Self) -> Result<(), StoreError> + Send + 'static,
    ) -> Result<(), StoreError> {
        // Ended by the thread.
        std::mem::forget(self.begin_opening(if is_rebuilt {
            TreesOpening::Rebuilding
        } else {
            TreesOpening::Opening
        }));
        let trees = self.clone();
        let run = move || {
            // Also after a panic, those who wait must go on.
            let finished = Finished(&trees.0);
            let own = Self::sharing_stop(&trees);
            let opened = own.reopen().and_then(|()| complete(&own));
            match opened {
                Ok(()) => *trees.0.open.write() = own.0.open.write().take(),
                Err(error) => {
                    tracing::error!(%error, "the database in state/ could not be opened");
                    own.close();
                }
            }
            drop(finished);
        };
        let thread = std::thread::Builder::new().name("trees-open".into()).spawn(run);
        thread.map(drop).map_err(|source| {
            drop(Finished(&self.0));
            StoreError::io("cannot start a thread for", &self.0.path, source)
        })
    }

    /// Trees of the same folder, closed, whose rebuild and whose calls are given up with those of `other`.
    fn sharing_stop(other: &Self) -> Self {
        let (is_stopping, calls) = (other.0.is_stopping.clone(), other.0.calls.clone());
        Self(Arc::new(Shared { is_stopping, calls, ..Shared::closed(&other.0.path, other.0.cache_bytes) }))
    }

    /// Whether they can be read, possibly after waiting until they are open.
    pub fn is_open(&self) -> bool {
        *self.0.opening.lock() != TreesOpening::None || self.0.open.read().is_some()
    }

    /// Until the result is dropped, others wait for the trees.
    pub(super) fn begin_opening(&self, how: TreesOpening) -> Finished<'_> {
        *self.0.opening.lock() = how;
        Finished(&self.0)
    }

    /// Waits while a thread opens them.
    pub(super) fn wait(&self) {
        let mut opening = self.0.opening.lock();
        while *opening != TreesOpening::None {
            self.0.opened.wait(&mut opening);
        }
    }
}

/// Ends the opening of the trees when it is dropped.
pub(super) struct Finished<'s>(&'s Shared);

impl Drop for Finished<'_> {
    fn drop(&mut self) {
        *self.0.opening.lock() = TreesOpening::None;
        self.0.opened.notify_all();
    }
}
