//! How fast a checkpoint is made beside the running server.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// After this many frames, the thread pauses.
const FRAMES_IN_A_ROW: u64 = 128;

/// How fast a checkpoint is made.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Bytes written in a second; none for no bound.
    bytes_per_sec: Option<u64>,
    /// The server stops: give up.
    is_stopping: Arc<AtomicBool>,
}

impl Pace {
    /// As fast as the disk.
    pub fn unlimited() -> Self {
        Self { bytes_per_sec: None, is_stopping: Arc::default() }
    }

    /// As fast as the disk, until `is_stopping` is set.
    pub fn until(is_stopping: Arc<AtomicBool>) -> Self {
        Self { bytes_per_sec: None, is_stopping }
    }

    /// At most this many bytes in a second, until `is_stopping` is set.
    pub fn limited(bytes_per_sec: u64, is_stopping: Arc<AtomicBool>) -> Self {
        Self { bytes_per_sec: Some(bytes_per_sec.max(1)), is_stopping }
    }

    /// Waits after writing `bytes`.
    pub(crate) fn wrote(&self, bytes: usize) -> io::Result<()> {
        if let Some(rate) = self.bytes_per_sec {
            std::thread::sleep(Duration::from_secs_f64(bytes as f64 / rate as f64));
        }
        match self.is_stopping.load(Ordering::Relaxed) {
            true => Err(io::Error::new(io::ErrorKind::Interrupted, "the server stops")),
            false => Ok(()),
        }
    }

    /// Waits after each few frames. False: give up.
    pub(crate) fn applied(&self, frames: u64) -> bool {
        if self.bytes_per_sec.is_some() && frames.is_multiple_of(FRAMES_IN_A_ROW) {
            // As long as the frames took, or longer: half of a core at most.
            std::thread::sleep(Duration::from_millis(3));
        }
        !self.is_stopping.load(Ordering::Relaxed)
    }
}
