//! Opening: what the trees have, brought up to the end of the log.

use crate::codec;
use crate::error::StoreError;
use crate::log::{Opened, RealmLog};
use crate::projection::{Applied, Trees};
use crate::view::View;
use bytes::Bytes;
use model::{Frame, RealmId, Sequence};
use std::sync::atomic::Ordering;

/// Frames that are written to the trees in one batch while replaying.
const REPLAY_FRAMES_MAX: usize = 1024;

/// An organization at the end of its log.
#[derive(Debug)]
pub struct OpenedRealm {
    /// Everything in memory; none for an organization that is yet to be created.
    pub view: Option<View>,
    /// What to append with.
    pub opened: Opened,
    /// How many frames the trees lacked.
    pub replayed: u64,
}

/// The bytes of a frame for the log.
///
/// # Errors
/// [`StoreError::Encode`].
pub fn encode_frame(frame: &Frame) -> Result<Bytes, StoreError> {
    Ok(codec::encode(frame)?.into())
}

/// The frame in bytes from the log.
///
/// # Errors
/// [`StoreError::Decode`].
pub fn decode_frame(bytes: &[u8]) -> Result<Frame, StoreError> {
    codec::decode(bytes, "frame")
}

/// Opens an organization: loads what the trees have and replays the frames they lack.
///
/// # Errors
/// [`StoreError::JournalBehind`] when the trees know frames that the log has not, besides those of
/// reading either.
pub fn open_realm(log: &dyn RealmLog, trees: &Trees, realm: RealmId) -> Result<OpenedRealm, StoreError> {
    let opened = log.open(realm.0, 0)?;
    let view = trees.load(realm)?;
    if view.is_none() && opened.last_sequence > 0 && trees.clear(realm)? > 0 {
        tracing::warn!(%realm, "the trees had only part of the organization; it is rebuilt from the journal");
    }
    let applied = view.as_ref().map_or(0, |view| view.progress.sequence.0);
    if applied > opened.last_sequence {
        return Err(StoreError::JournalBehind {
            realm: realm.0,
            trees: applied,
            journal: opened.last_sequence,
        });
    }
    let view = replay(log, trees, realm, view)?;
    Ok(OpenedRealm { view, opened, replayed: opened.last_sequence - applied })
}

/// Applies every frame after the ones that `view` reflects, and writes the rows.
///
/// # Errors
/// As for `open_realm`.
pub fn replay(
    log: &dyn RealmLog,
    trees: &Trees,
    realm: RealmId,
    mut view: Option<View>,
) -> Result<Option<View>, StoreError> {
    let from = view.as_ref().map_or(1, |view| view.progress.sequence.0 + 1);
    let mut batch = Vec::new();
    for frame in log.read(realm.0, from)? {
        let stored = frame?;
        let (sequence, frame) = (Sequence(stored.sequence), decode_frame(&stored.payload)?);
        let rows = match &mut view {
            Some(view) => view.apply(sequence, &frame)?,
            None => {
                let (created, rows) = View::create(sequence, &frame)?;
                view = Some(created);
                rows
            }
        };
        if let Some(view) = &view {
            batch.push(Applied { realm, progress: view.progress, rows, stored: view.recent.stored() });
        }
        if batch.len() >= REPLAY_FRAMES_MAX {
            trees.write(std::mem::take(&mut batch))?;
            mark_stored(view.as_ref());
        }
    }
    trees.write(batch)?;
    mark_stored(view.as_ref());
    Ok(view)
}

/// Everything that a view reflects is in the trees.
fn mark_stored(view: Option<&View>) {
    if let Some(view) = view {
        view.recent.stored().store(view.progress.sequence.0, Ordering::Release);
    }
}
