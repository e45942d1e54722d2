//! Frames: encoding, decoding and applying them, and writing what they lead to to the trees.

use crate::batch::Applied;
use crate::codec;
use crate::error::StoreError;
use crate::log::{FrameBytes, RealmLog};
use crate::projection::Trees;
use crate::view::{Rows, View};
use bytes::Bytes;
use model::{Frame, RealmId, Sequence};
use std::sync::atomic::Ordering;

/// How many frames are written to the trees in one batch while replaying.
const REPLAY_FRAMES_MAX: usize = 1024;

/// Encodes a frame for the log.
pub fn encode_frame(frame: &Frame) -> Result<Bytes, StoreError> {
    Ok(codec::encode(frame)?.into())
}

/// The size of a frame before it is compressed, in bytes: what its bound of 4 MB is of.
pub fn frame_bytes(frame: &Frame) -> u64 {
    codec::plain_bytes(frame)
}

/// Decodes a frame of the log.
pub fn decode_frame(bytes: &[u8]) -> Result<Frame, StoreError> {
    codec::decode(bytes, "frame")
}

/// Applies every frame after the ones that `view` reflects, up to frame `upto`, and writes the rows. `None` when `goes_on` says no.
pub(crate) fn replay_until(
    log: &dyn RealmLog,
    trees: &Trees,
    (realm, upto): (RealmId, u64),
    view: Option<View>,
    goes_on: &dyn Fn(u64) -> Result<bool, StoreError>,
) -> Result<Option<Option<View>>, StoreError> {
    let from = view.as_ref().map_or(1, |view| view.progress.sequence.0 + 1);
    let frames = log.read(realm.0, from)?.map(|frame| frame.map_err(StoreError::from));
    replay_frames(frames, trees, (realm, upto), view, goes_on)
}

/// Applies frames from another source, which begin with the one after those that `view` reflects, and writes the rows.
pub(crate) fn replay_frames(
    frames: impl Iterator<Item = Result<FrameBytes, StoreError>>,
    trees: &Trees,
    (realm, upto): (RealmId, u64),
    mut view: Option<View>,
    goes_on: &dyn Fn(u64) -> Result<bool, StoreError>,
) -> Result<Option<Option<View>>, StoreError> {
    let mut batch = Vec::new();
    for frame in frames {
        let frame = frame?;
        if frame.sequence > upto {
            break;
        }
        let rows = apply(&mut view, &frame)?;
        if let Some(view) = &view {
            batch.push(Applied { realm, progress: view.progress, rows, stored: view.recent.stored() });
        }
        if batch.len() >= REPLAY_FRAMES_MAX {
            if !goes_on(frame.sequence)? {
                return Ok(None);
            }
            trees.write(std::mem::take(&mut batch))?;
            mark_stored(view.as_ref());
        }
    }
    trees.write(batch)?;
    mark_stored(view.as_ref());
    Ok(Some(view))
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
