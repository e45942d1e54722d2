//! Starting from checkpoints: the view comes from the newest one and the tail of the journal; the trees are opened beside
//! it, and completed before anything else is written to them.

use super::{Checkpoints, Loaded};
use crate::batch::Applied;
use crate::error::StoreError;
use crate::log::{Opened, RealmLog};
use crate::open::replay;
use crate::projection::Trees;
use crate::replay::apply;
use crate::view::View;
use model::RealmId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many frames are written to the trees in one batch.
const BATCH_FRAMES_MAX: usize = 1024;

/// An organization that was started from its checkpoint.
#[derive(Debug)]
pub struct Started {
    pub view: View,
    /// The bounds of its log, and the epoch to append with.
    pub opened: Opened,
    /// How many frames follow the checkpoint.
    pub replayed: u64,
}

/// Loads the newest checkpoint of an organization and applies the frames since then; `None` if there is no valid one, or more
/// than `frames_max` frames follow it. Every body of those frames stays in memory until the trees are complete.
///
/// # Errors
/// Those of the journal, and of frames that cannot be decoded.
pub fn start_from(
    checkpoints: &Checkpoints,
    log: &dyn RealmLog,
    frames_max: u64,
) -> Result<Option<Started>, StoreError> {
    let opened = log.open(checkpoints.realm.0, 0)?;
    let last = opened.last_sequence;
    let is_near =
        checkpoints.sequences().first().is_some_and(|newest| last.saturating_sub(*newest) <= frames_max);
    let Some(Loaded { view, .. }) = checkpoints.newest(log, last).filter(|_| is_near) else {
        return Ok(None);
    };
    let from = view.progress.sequence.0;
    if last - from > frames_max {
        return Ok(None);
    }
    view.recent.stored().store(from, Ordering::Release);
    let mut view = Some(view);
    for frame in log.read(checkpoints.realm.0, from + 1)? {
        apply(&mut view, &frame?)?;
    }
    Ok(view.map(|view| Started { view, opened, replayed: last - from }))
}

/// Writes to the trees what they lack of the frames up to `upto`, and reports it to `stored`.
///
/// # Errors
/// [`StoreError::JournalBehind`] when the trees have later frames; errors of reading and writing.
pub fn complete_trees(
    checkpoints: &Checkpoints,
    log: &dyn RealmLog,
    trees: &Trees,
    upto: u64,
    stored: &AtomicU64,
) -> Result<u64, StoreError> {
    let realm = checkpoints.realm;
    let known = trees.progress(realm)?;
    if known > upto {
        return Err(StoreError::JournalBehind { realm: realm.0, trees: known, journal: upto });
    }
    if known < upto {
        match checkpoints.newest(log, known).filter(|_| known > 0) {
            Some(loaded) => write_missing(log, trees, loaded.view, (known, upto))?,
            None => rebuild(log, trees, realm, known)?,
        }
    }
    stored.fetch_max(upto, Ordering::Release);
    Ok(upto - known)
}

/// Completes trees that are older than every checkpoint, as a start without checkpoints does.
fn rebuild(log: &dyn RealmLog, trees: &Trees, realm: RealmId, known: u64) -> Result<(), StoreError> {
    let view = trees.load(realm)?;
    tracing::warn!(%realm, known, "the database in state/ is older than the checkpoints; it is completed from the journal");
    if view.is_none() {
        trees.clear(realm)?;
    }
    replay(log, trees, realm, view).map(drop)
}

/// Applies frames to a view of its own, and writes the rows of those that the trees lack.
fn write_missing(
    log: &dyn RealmLog,
    trees: &Trees,
    view: View,
    (known, upto): (u64, u64),
) -> Result<(), StoreError> {
    let (realm, from) = (view.realm(), view.progress.sequence.0 + 1);
    let mut view = Some(view);
    let mut batch = Vec::new();
    for frame in log.read(realm.0, from)?.take((upto + 1 - from) as usize) {
        let frame = frame?;
        let rows = apply(&mut view, &frame)?;
        let Some(view) = view.as_ref().filter(|_| frame.sequence > known) else { continue };
        batch.push(Applied { realm, progress: view.progress, rows, stored: Arc::default() });
        if batch.len() >= BATCH_FRAMES_MAX {
            trees.write(std::mem::take(&mut batch))?;
            view.recent.stored().store(frame.sequence, Ordering::Relaxed);
        }
    }
    trees.write(batch)
}
