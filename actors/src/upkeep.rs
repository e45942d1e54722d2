//! The threads of background work, and their end.

use crate::error::DomainError;
use crate::priority::lower_thread_priority;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often the threads check whether the server stops.
const STOP_TICK: Duration = Duration::from_millis(100);

/// Bytes of a checkpoint that are written in a second while the server runs.
pub const CHECKPOINT_BYTES_PER_SEC: u64 = 16 * 1024 * 1024;

/// The threads of background work.
#[derive(Debug, Default)]
pub(crate) struct BackgroundThreads {
    is_stopping: Arc<AtomicBool>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl BackgroundThreads {
    /// Starts a thread, which ends soon after its argument is set.
    pub fn spawn(
        &self,
        name: &str,
        run: impl FnOnce(&Arc<AtomicBool>) + Send + 'static,
    ) -> Result<(), DomainError> {
        let is_stopping = self.is_stopping.clone();
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            lower_thread_priority();
            run(&is_stopping);
        });
        self.threads.lock().push(thread.map_err(|error| DomainError::Storage(error.to_string()))?);
        Ok(())
    }

    /// Set when the server stops.
    pub fn stopping(&self) -> Arc<AtomicBool> {
        self.is_stopping.clone()
    }

    /// Ends the threads. A checkpoint that is being written is given up.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            // The last owner of the server may be one of its threads.
            let is_own = thread.thread().id() == std::thread::current().id();
            if !is_own && thread.join().is_err() {
                tracing::error!("a thread that maintains the data folder panicked");
            }
        }
    }
}

/// Waits. False: the server stops.
pub fn wait(time: Duration, is_stopping: &AtomicBool) -> bool {
    let mut left = time;
    while !left.is_zero() && !is_stopping.load(Ordering::Relaxed) {
        let step = left.min(STOP_TICK);
        std::thread::sleep(step);
        left -= step;
    }
    !is_stopping.load(Ordering::Relaxed)
}
