//! Opening an organization: loading the trees and replaying the frames that they lack.

use crate::batch::Applied;
use crate::codec;
use crate::error::StoreError;
use crate::log::{FrameBytes, Opened, RealmLog};
use crate::projection::Trees;
use crate::view::{Rows, View};
use bytes::Bytes;
use model::{Frame, RealmId, Sequence};
use std::sync::atomic::Ordering;

/// How many frames are written to the trees in one batch while replaying.
const REPLAY_FRAMES_MAX: usize = 1024;

/// Limit of the frames that are replayed into memory while the trees cannot be opened, in bytes.
pub const MEMORY_REPLAY_BYTES_MAX: usize = 512 * 1024 * 1024;

/// An organization at the end of its log.
#[derive(Debug)]
pub struct OpenedRealm {
    /// The organization in memory; `None` if it is not yet created.
    pub view: Option<View>,
    /// The bounds of its log, and the epoch to append with.
    pub opened: Opened,
    /// How many frames the trees lacked.
    pub replayed: u64,
}

/// Encodes a frame for the log.
pub fn encode_frame(frame: &Frame) -> Result<Bytes, StoreError> {
    Ok(codec::encode(frame)?.into())
}

/// Decodes a frame of the log.
pub fn decode_frame(bytes: &[u8]) -> Result<Frame, StoreError> {
    codec::decode(bytes, "frame")
}

/// Opens an organization: loads it from the trees and replays the frames that they lack.
///
/// # Errors
/// [`StoreError::JournalBehind`] when the trees reflect frames that the log does not have, and errors of reading.
pub fn open_realm(log: &dyn RealmLog, trees: &Trees, realm: RealmId) -> Result<OpenedRealm, StoreError> {
    let opened = log.open(realm.0, 0)?;
    let view = trees.load(realm)?;
    if view.is_none() && opened.last_sequence > 0 && trees.clear(realm)? > 0 {
        tracing::warn!(%realm, "the trees had only part of the organization; it is rebuilt from the journal");
    }
    let applied = applied_frames(view.as_ref(), realm, &opened)?;
    let view = replay(log, trees, realm, view)?;
    Ok(OpenedRealm { view, opened, replayed: opened.last_sequence - applied })
}

/// Like `open_realm`, but on a full disk: nothing is written. What the trees lack (everything, if they are closed) stays
/// in memory until they have it; until then no later frame may be written to the trees.
///
/// # Errors
/// [`StoreError::TooLongForMemory`], besides those of `open_realm`.
pub fn open_realm_in_memory(
    log: &dyn RealmLog,
    trees: &Trees,
    realm: RealmId,
) -> Result<OpenedRealm, StoreError> {
    let opened = log.open(realm.0, 0)?;
    let view = if trees.is_open() { trees.load(realm)? } else { None };
    let applied = applied_frames(view.as_ref(), realm, &opened)?;
    let view = replay_to_memory(log, realm, view)?;
    Ok(OpenedRealm { view, opened, replayed: opened.last_sequence - applied })
}

/// How many frames a view from the trees reflects.
fn applied_frames(view: Option<&View>, realm: RealmId, opened: &Opened) -> Result<u64, StoreError> {
    let (trees, journal) = (view.map_or(0, |view| view.progress.sequence.0), opened.last_sequence);
    if trees > journal {
        return Err(StoreError::JournalBehind { realm: realm.0, trees, journal });
    }
    Ok(trees)
}

/// Applies every frame after the ones that `view` reflects, and writes the rows.
pub fn replay(
    log: &dyn RealmLog,
    trees: &Trees,
    realm: RealmId,
    mut view: Option<View>,
) -> Result<Option<View>, StoreError> {
    let from = view.as_ref().map_or(1, |view| view.progress.sequence.0 + 1);
    let mut batch = Vec::new();
    for frame in log.read(realm.0, from)? {
        let rows = apply(&mut view, &frame?)?;
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

/// Applies every frame after the ones that `view` reflects, without writing to the trees, so every message stays in memory.
fn replay_to_memory(
    log: &dyn RealmLog,
    realm: RealmId,
    mut view: Option<View>,
) -> Result<Option<View>, StoreError> {
    let from = view.as_ref().map_or(1, |view| view.progress.sequence.0 + 1);
    let mut bytes = 0;
    for frame in log.read(realm.0, from)? {
        let frame = frame?;
        bytes += frame.payload.len();
        if bytes > MEMORY_REPLAY_BYTES_MAX {
            return Err(StoreError::TooLongForMemory { limit_bytes: MEMORY_REPLAY_BYTES_MAX });
        }
        apply(&mut view, &frame)?;
    }
    Ok(view)
}

/// Applies one frame to a view; the first frame creates it.
pub(crate) fn apply(view: &mut Option<View>, stored: &FrameBytes) -> Result<Rows, StoreError> {
    let (sequence, frame) = (Sequence(stored.sequence), decode_frame(&stored.payload)?);
    match view {
        Some(view) => view.apply(sequence, &frame),
        None => {
            let (created, rows) = View::create(sequence, &frame)?;
            *view = Some(created);
            Ok(rows)
        }
    }
}

/// Records that the trees have everything that a view reflects.
fn mark_stored(view: Option<&View>) {
    if let Some(view) = view {
        view.recent.stored().store(view.progress.sequence.0, Ordering::Release);
    }
}
