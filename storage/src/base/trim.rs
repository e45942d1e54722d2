//! Drops the frames of a journal that are older than they are kept, once a base stands for them.
//!
//! The steps are far enough apart that a copy of the folder that is being made meanwhile has what it needs: a base is written,
//! some time later the frames up to it are dropped, and some time after that the base before is removed. A crash between
//! them repeats the step.

use super::{Bases, FOLDER, first_of};
use crate::checkpoint::{self, Checkpoints, Pace};
use crate::error::StoreError;
use crate::log::RealmLog;
use crate::replay::decode_frame;
use model::RealmId;
use std::path::Path;
use std::time::Duration;

/// How long the frames of an organization are kept.
#[derive(Clone, Copy, Debug)]
pub struct TrimPolicy {
    pub realm: RealmId,
    /// Frames from before this time may be dropped, in milliseconds since 1970.
    pub before: u64,
    /// The newest frame that is in the trees, on the disk.
    pub stored: u64,
    /// Messages of the organization: a new base costs in proportion to them.
    pub messages: u64,
    /// Time between the steps.
    pub pause: Duration,
    /// A base is made at most this often.
    pub base_every: Duration,
}

/// A step that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimStep {
    /// Nothing is due.
    Nothing,
    /// The server stops.
    Stopped,
    /// A base was made that stands for this frame.
    Base(u64),
    /// Frames before this one were dropped.
    Trimmed(u64),
    /// The base before was removed.
    Removed(u64),
}

/// The next base is made when this many frames can be dropped: a share of the messages, as a divisor.
const SHARE: u64 = 4;

/// Takes the next step that is due for an organization. `data` is the data folder.
///
/// # Errors
/// Those of reading and writing; nothing is lost.
pub fn trim_step(
    data: &Path,
    log: &dyn RealmLog,
    policy: &TrimPolicy,
    pace: &Pace,
) -> Result<TrimStep, StoreError> {
    let realm = policy.realm;
    let bases = Bases::of(&data.join(FOLDER), realm);
    bases.remove_unfinished()?;
    let checkpoints = Checkpoints::of(&data.join(checkpoint::FOLDER), realm).sequences();
    // A checkpoint is only used with the frame that it stands for.
    let limit =
        checkpoints.last().map_or(policy.stored, |oldest| oldest.saturating_sub(1).min(policy.stored));
    let first = first_of(log, realm)?;
    let known = bases.sequences();
    if let Some(base) = known.first().copied().filter(|base| bases.age(*base) >= policy.pause) {
        let before = base.min(limit) + 1;
        if before > first {
            bases.verify(base)?;
            log.trim(realm.0, before)?;
            return Ok(TrimStep::Trimmed(before));
        }
        if let Some(old) = known.get(1).copied().filter(|_| bases.age(base) >= 2 * policy.pause) {
            bases.remove(old)?;
            return Ok(TrimStep::Removed(old));
        }
    }
    if known.first().is_some_and(|base| bases.age(*base) < policy.base_every) {
        return Ok(TrimStep::Nothing);
    }
    let from = known.first().map_or(first, |base| first.max(base + 1));
    let Some(upto) = last_before(log, realm, (from, limit), policy.before)? else {
        return Ok(TrimStep::Nothing);
    };
    if !known.is_empty() && upto + 1 - from < policy.messages / SHARE {
        return Ok(TrimStep::Nothing);
    }
    let is_made = bases.make(log, upto, pace)?;
    Ok(if is_made { TrimStep::Base(upto) } else { TrimStep::Stopped })
}

/// The last of the frames `from` to `limit` that is from before a time. Their times ascend, unless the clock was set back.
pub(crate) fn last_before(
    log: &dyn RealmLog,
    realm: RealmId,
    (from, limit): (u64, u64),
    time: u64,
) -> Result<Option<u64>, StoreError> {
    let is_before = |sequence| -> Result<bool, StoreError> {
        let frame = log.read(realm.0, sequence)?.next().transpose()?;
        Ok(frame
            .map(|frame| decode_frame(&frame.payload))
            .transpose()?
            .is_some_and(|frame| frame.at.0 < time))
    };
    // All frames before `low` are from before the time, and none from `high` on.
    let (mut low, mut high) = (from, limit + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle)? { low = middle + 1 } else { high = middle }
    }
    Ok((low > from).then(|| low - 1))
}
