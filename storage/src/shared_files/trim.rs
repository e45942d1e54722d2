//! Trimming the log: frames that are older than they are kept there, and older than two checkpoints, are archived and removed.

use super::SharedStore;
use super::frames::FRAMES_MAX;
use crate::base::{first_of, last_before};
use crate::checkpoint::Pace;
use crate::error::StoreError;
use crate::log::RealmLog;
use model::RealmId;
use std::time::Duration;

/// Frames that are removed from the log at a time: appends wait meanwhile.
const TRIM_FRAMES: u64 = 1_000;
/// How long the log then has for appends.
const TRIM_PAUSE: Duration = Duration::from_millis(20);

/// Which frames may be removed.
#[derive(Clone, Copy, Debug)]
pub struct Archiving {
    pub realm: RealmId,
    /// Only those from before this time, in milliseconds since 1970.
    pub before: u64,
}

/// What was trimmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trimmed {
    /// There are no frames that may be removed, or too few.
    Nothing,
    /// The server stops.
    Stopped,
    /// The log begins with this frame.
    Before(u64),
}

impl SharedStore {
    /// Archives and removes the frames that may be removed. Both checkpoints are read to their ends before, and each file of
    /// archived frames after it was stored. The caller must own the organization.
    ///
    /// # Errors
    /// Those of the log, the disk and the place; what could not be read back stays in the log.
    pub fn trim(&self, log: &dyn RealmLog, archiving: Archiving, pace: &Pace) -> Result<Trimmed, StoreError> {
        let realm = archiving.realm;
        let &[newest, older, ..] = &*self.own_checkpoints(log, realm)? else { return Ok(Trimmed::Nothing) };
        let mut first = first_of(log, realm)?;
        if first > older {
            return Ok(Trimmed::Nothing);
        }
        let Some(upto) = last_before(log, realm, (first, older), archiving.before)? else {
            return Ok(Trimmed::Nothing);
        };
        // Whole files, except before a checkpoint.
        let is_worth = |first| first <= upto && (upto == older || upto + 1 - first >= FRAMES_MAX);
        if !is_worth(first) {
            return Ok(Trimmed::Nothing);
        }
        self.check_archives(log, realm, first)?;
        self.verify(realm, newest)?;
        self.verify(realm, older)?;
        while is_worth(first) {
            let Some(last) = self.archive(log, realm, (first, upto), pace)? else {
                return Ok(Trimmed::Stopped);
            };
            if !remove(log, realm, (first, last), pace)? {
                return Ok(Trimmed::Stopped);
            }
            first = last + 1;
        }
        Ok(Trimmed::Before(first))
    }
}

/// Removes frames from the log, a few at a time. False: the server stops.
fn remove(
    log: &dyn RealmLog,
    realm: RealmId,
    (first, last): (u64, u64),
    pace: &Pace,
) -> Result<bool, StoreError> {
    let mut before = first;
    while before <= last {
        before = (before + TRIM_FRAMES).min(last + 1);
        log.trim(realm.0, before)?;
        std::thread::sleep(TRIM_PAUSE);
        if !pace.applied(before) {
            return Ok(false);
        }
    }
    Ok(true)
}
