//! Makes the next checkpoint from the newest one and the frames since then, beside the running server: without a lock,
//! without its memory, and slowly.

use super::pace::Pace;
use super::{CheckpointBuilder, Checkpoints, file};
use crate::base;
use crate::error::StoreError;
use crate::log::RealmLog;
use std::io;
use std::sync::atomic::Ordering;

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
    let mut builder = CheckpointBuilder::from(checkpoints.newest(log, upto));
    let from = builder.sequence() + 1;
    // From a base, only a clean stop makes a checkpoint again: from the trees.
    if from > upto || from < base::first_of(log, checkpoints.realm)? {
        return Ok(Advanced::Nothing);
    }
    for frame in log.read(checkpoints.realm.0, from)?.take((upto + 1 - from) as usize) {
        let frame = frame?;
        let sequence = frame.sequence;
        builder.apply(frame)?;
        if let Some(view) = &builder.view {
            // Versions of texts are not part of a checkpoint: they may be evicted from memory.
            view.recent.stored().store(sequence, Ordering::Relaxed);
        }
        if !pace.applied(sequence) {
            return Ok(Advanced::Stopped);
        }
    }
    let Some((mut view, mut rows, frame)) = builder.finish()? else { return Ok(Advanced::Nothing) };
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

impl Checkpoints {
    /// Makes a checkpoint that stands for frame `upto` or a later one, unless there is one, and removes all older ones, which
    /// may have what was deleted since. False: the server stops.
    ///
    /// # Errors
    /// Those of [`advance`], and of removing files.
    pub fn renew(&self, log: &dyn RealmLog, upto: u64, pace: &Pace) -> Result<bool, StoreError> {
        if self.sequences().first().is_none_or(|newest| *newest < upto)
            && advance(self, log, upto, pace)? == Advanced::Stopped
        {
            return Ok(false);
        }
        for old in self.sequences().into_iter().filter(|sequence| *sequence < upto) {
            file::remove(&self.folder, old)?;
        }
        Ok(true)
    }
}
