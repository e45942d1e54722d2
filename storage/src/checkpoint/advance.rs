//! Makes the next checkpoint from the newest one and the frames since then, beside the running server: without a lock,
//! without its memory, and slowly.

use super::{Checkpoints, Making};
use crate::error::StoreError;
use crate::log::RealmLog;
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

    /// At most this many bytes in a second, until `is_stopping` is set.
    pub fn limited(bytes_per_sec: u64, is_stopping: Arc<AtomicBool>) -> Self {
        Self { bytes_per_sec: Some(bytes_per_sec.max(1)), is_stopping }
    }

    /// Waits after writing `bytes`.
    pub(super) fn wrote(&self, bytes: usize) -> io::Result<()> {
        if let Some(rate) = self.bytes_per_sec {
            std::thread::sleep(Duration::from_secs_f64(bytes as f64 / rate as f64));
        }
        match self.is_stopping.load(Ordering::Relaxed) {
            true => Err(io::Error::new(io::ErrorKind::Interrupted, "the server stops")),
            false => Ok(()),
        }
    }

    /// Waits after each few frames. False: give up.
    fn applied(&self, frames: u64) -> bool {
        if self.bytes_per_sec.is_some() && frames.is_multiple_of(FRAMES_IN_A_ROW) {
            // As long as the frames took, or longer: half of a core at most.
            std::thread::sleep(Duration::from_millis(3));
        }
        !self.is_stopping.load(Ordering::Relaxed)
    }
}

/// The result of making a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advanced {
    /// A checkpoint that stands for this frame was written.
    Written { sequence: u64, bytes: u64 },
    /// There are no frames since the newest checkpoint.
    Nothing,
    /// The server stops.
    Stopped,
}

/// Makes a checkpoint that stands for frame `upto` of an organization, from the newest one before it, or from the first
/// frame.
///
/// # Errors
/// Those of reading the journal and of writing; existing checkpoints stay as they are.
pub fn advance(
    checkpoints: &Checkpoints,
    log: &dyn RealmLog,
    upto: u64,
    pace: &Pace,
) -> Result<Advanced, StoreError> {
    let mut making = Making::from(checkpoints.newest(log, upto));
    let from = making.sequence() + 1;
    if from > upto {
        return Ok(Advanced::Nothing);
    }
    for frame in log.read(checkpoints.realm.0, from)?.take((upto + 1 - from) as usize) {
        let frame = frame?;
        making.apply(&frame)?;
        if let Some(view) = &making.view {
            // Bodies are not part of a checkpoint: they may be evicted from memory.
            view.recent.stored().store(frame.sequence, Ordering::Relaxed);
        }
        if !pace.applied(frame.sequence) {
            return Ok(Advanced::Stopped);
        }
    }
    let Making { view: Some(mut view), mut rows, frame } = making else { return Ok(Advanced::Nothing) };
    view.optimize();
    view.put_progress(&mut rows)?;
    let count = rows.len();
    let rows = rows.iter().map(|(key, value)| (&**key, &**value));
    match checkpoints.write(&view, rows, (count, frame), pace) {
        Ok(bytes) => Ok(Advanced::Written { sequence: upto, bytes }),
        Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::Interrupted => {
            Ok(Advanced::Stopped)
        }
        Err(error) => Err(error),
    }
}
