//! Opening an organization: loading the trees and replaying the frames that they lack.

use crate::base::{self, Bases};
use crate::checkpoint::frame_checksum;
use crate::error::StoreError;
use crate::log::{FrameBytes, LogError, Opened, RealmLog};
use crate::projection::Trees;
use crate::replay::{apply, replay_frames, replay_until};
use crate::view::{View, message_bytes};
use model::{Fact, RealmId, Sequence};
use std::sync::Arc;

pub use crate::replay::{decode_frame, encode_frame, frame_bytes};

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

/// Opens an organization: loads it from the trees and replays the frames that they lack.
///
/// # Errors
/// [`StoreError::JournalBehind`] when the trees reflect frames that the log does not have, and errors of reading.
pub fn open_realm(log: &dyn RealmLog, trees: &Trees, realm: RealmId) -> Result<OpenedRealm, StoreError> {
    let opened = log.open(realm.0, 0)?;
    let view = trees.load(realm)?;
    if view.is_none() && opened.last_sequence > 0 && trees.clear(realm)? > 0 {
        tracing::warn!(%realm, "the database in state/ had only part of the organization, which is rebuilt from the journal");
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
    let view = replay_to_memory(log, trees, realm, view)?;
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

/// Applies every frame after the ones that `view` reflects, and writes the rows. Without a view, or where the journal does not
/// have the frame after it any more, it begins with the base of the journal, if there is one.
pub fn replay(
    log: &dyn RealmLog,
    trees: &Trees,
    realm: RealmId,
    mut view: Option<View>,
) -> Result<Option<View>, StoreError> {
    let next = view.as_ref().map_or(1, |view| view.progress.sequence.0 + 1);
    if next < base::first_of(log, realm)? {
        trees.clear(realm)?;
        view = Bases::beside(trees, realm).load_into(log, trees)?;
    }
    replay_until(log, trees, (realm, u64::MAX), view, &|_| Ok(!trees.is_stopping()))?
        .ok_or(StoreError::TreesClosed)
}

/// An organization at some frame of its log.
#[derive(Debug)]
pub struct FollowedRealm {
    pub view: View,
    /// The checksum of that frame, if it was read from the log.
    frame: Option<u64>,
}

impl FollowedRealm {
    /// What the trees have.
    pub fn new(view: View) -> Self {
        Self { view, frame: None }
    }

    /// Whether the log still has the frame that was read: after a failover of its database it may have another one.
    ///
    /// # Errors
    /// Those of the log.
    pub fn is_of(&self, log: &dyn RealmLog) -> Result<bool, StoreError> {
        let Some(own) = self.frame else { return Ok(true) };
        let frame = match log.read(self.view.realm().0, self.view.progress.sequence.0) {
            Err(LogError::OutOfRange { first, asked, .. }) => return Ok(asked < first),
            frames => frames?.next().transpose()?,
        };
        Ok(frame.is_some_and(|frame| frame_checksum(&frame) == own))
    }
}

/// Applies at most `frames_max` frames after the ones that `followed` reflects, and writes the rows, for a reader that does not
/// own the organization. `None` if the log has no frame yet.
///
/// # Errors
/// Those of the log and of the trees.
pub fn follow(
    log: &dyn RealmLog,
    trees: &Trees,
    realm: RealmId,
    followed: Option<FollowedRealm>,
    frames_max: u64,
) -> Result<Option<FollowedRealm>, StoreError> {
    let (view, mut newest) = followed.map_or((None, None), |followed| (Some(followed.view), followed.frame));
    let from = view.as_ref().map_or(0, |view| view.progress.sequence.0);
    let upto = from.saturating_add(frames_max);
    let frames = log.read(realm.0, from + 1)?.take_while(|frame| match frame {
        Ok(frame) => frame.sequence <= upto,
        Err(_) => true,
    });
    let frames = frames.map(|frame| frame.map_err(StoreError::from)).inspect(|frame| {
        if let Ok(frame) = frame {
            newest = Some(frame_checksum(frame));
        }
    });
    let view = replay_frames(frames, trees, (realm, upto), view, &|_| Ok(!trees.is_stopping()))?
        .ok_or(StoreError::TreesClosed)?;
    Ok(view.map(|view| FollowedRealm { view, frame: newest }))
}

/// Applies every frame after the ones that `view` reflects, without writing to the trees, so every message that is new or
/// changed stays in memory.
fn replay_to_memory(
    log: &dyn RealmLog,
    trees: &Trees,
    realm: RealmId,
    mut view: Option<View>,
) -> Result<Option<View>, StoreError> {
    let from = view.as_ref().map_or(1, |view| view.progress.sequence.0 + 1);
    if from < base::first_of(log, realm)? {
        // A base is only of use in trees.
        return Err(StoreError::NoRoom);
    }
    let mut bytes = 0;
    for frame in log.read(realm.0, from)? {
        let frame = frame?;
        bytes += frame.payload.len();
        if let Some(view) = &mut view {
            bytes += load_changed(trees, realm, view, &frame)?;
        }
        if bytes > MEMORY_REPLAY_BYTES_MAX {
            return Err(StoreError::TooLongForMemory { limit_bytes: MEMORY_REPLAY_BYTES_MAX });
        }
        apply(&mut view, &frame)?;
    }
    Ok(view)
}

/// Loads the bodies that a frame changes from the trees, which will not have the change. Returns their size in bytes.
fn load_changed(
    trees: &Trees,
    realm: RealmId,
    view: &mut View,
    stored: &FrameBytes,
) -> Result<usize, StoreError> {
    let mut bytes = 0;
    for id in decode_frame(&stored.payload)?.facts.iter().filter_map(Fact::changed_message) {
        if view.recent.get(id).is_some() || !view.messages.all.contains(id.0) {
            continue;
        }
        if let Some(own) = trees.message(realm, id, view.changes_of(id))? {
            bytes += message_bytes(&own);
            view.warm(Sequence(stored.sequence), Arc::new(own));
        }
    }
    Ok(bytes)
}
