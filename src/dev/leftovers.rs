//! Files of organizations that were reset: what was uploaded before is deleted in the background.

use super::files::file_names;
use super::seed::SeedDocument;
use crate::integrations::blobs::sweep::sweep_reset;
use crate::integrations::blobs::{BlobError, Blobs};
use actors::RealmHandle;
use model::{RealmId, Timestamp};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// The time between two sweeps. The leftovers of a reset are deleted after one to two of it: who resets before each test has one
/// sweep for many resets, and a call that the reset overtook has ended.
pub const EVERY: Duration = Duration::from_secs(3);

/// An organization that was reset.
struct Reset {
    realm: RealmHandle,
    seed: Arc<SeedDocument>,
    /// What was written before is not of a later call, by the clock of the files.
    before: Timestamp,
}

/// The organizations whose leftovers are not deleted yet.
#[derive(Default)]
pub struct Leftovers(Mutex<State>);

#[derive(Default)]
struct State {
    /// Since the newest sweep.
    fresh: HashMap<RealmId, Reset>,
    /// Before that; the next sweep is for these.
    due: HashMap<RealmId, Reset>,
    /// Whether a task sweeps.
    is_swept: bool,
}

impl Leftovers {
    /// Remembers an organization that was reset now. True if the caller has to see to it that `sweep` is called until there is
    /// nothing more. Files in S3 wait for the sweep of all organizations, as their clock is not known.
    pub fn add(&self, blobs: &Blobs, realm: &RealmHandle, seed: Arc<SeedDocument>) -> bool {
        let written = blobs.time_of_folder().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let Some(millis) = written.and_then(|time| u64::try_from(time.as_millis()).ok()) else {
            return false;
        };
        let reset = Reset { realm: realm.clone(), seed, before: Timestamp(millis) };
        let mut state = self.0.lock();
        state.fresh.insert(realm.id(), reset);
        !std::mem::replace(&mut state.is_swept, true)
    }

    /// Deletes the leftovers of what was reset before the last sweep. False if nothing is left for another one: then no task
    /// sweeps any more.
    pub async fn sweep(&self, blobs: &Blobs) -> bool {
        let (resets, goes_on) = {
            let mut state = self.0.lock();
            let fresh = std::mem::take(&mut state.fresh);
            state.is_swept = !fresh.is_empty();
            (std::mem::replace(&mut state.due, fresh), state.is_swept)
        };
        for reset in resets.into_values() {
            match reset.sweep(blobs).await {
                Ok(0) => {}
                Ok(count) => tracing::debug!(count, "files of before a reset were deleted"),
                Err(error) => tracing::warn!(%error, "files of before a reset could not be deleted"),
            }
        }
        goes_on
    }
}

impl Reset {
    async fn sweep(&self, blobs: &Blobs) -> Result<usize, BlobError> {
        let kept = file_names(self.realm.id(), &self.seed);
        sweep_reset(blobs, &self.realm, self.before, &kept).await
    }
}
