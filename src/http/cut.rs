//! A switch that makes all further writes to a connection fail, for faults of development servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A switch that makes all further writes to a connection fail.
#[derive(Clone, Debug, Default)]
pub struct Cut(Arc<AtomicBool>);

impl Cut {
    /// Whether writes fail.
    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Makes writes fail from now on.
    pub fn turn_on(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
