//! Making checkpoints: from the newest one and the frames since then, beside the running server, as bases are made.

use super::{KEPT, SharedStore, checkpoint_name};
use crate::checkpoint::Pace;
use crate::error::StoreError;
use crate::log::RealmLog;
use model::RealmId;
use std::fs;

/// A checkpoint that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    pub sequence: u64,
    pub bytes: u64,
}

impl SharedStore {
    /// Makes the checkpoint of frame `upto`, stores it, reads it back, and removes those before, but for the one that is the
    /// next newest. `None`: the server stops.
    ///
    /// # Errors
    /// Those of the log, the disk and the place; the checkpoints before stay.
    pub fn make(
        &self,
        log: &dyn RealmLog,
        realm: RealmId,
        upto: u64,
        pace: &Pace,
    ) -> Result<Option<Made>, StoreError> {
        let bases = self.local(realm);
        let load = |trees: &_| self.load(log, trees, realm, None);
        let is_made = bases.make_from(log, (upto, pace), load);
        for old in bases.sequences().into_iter().filter(|sequence| *sequence != upto) {
            bases.remove(old)?;
        }
        if !is_made? {
            return Ok(None);
        }
        let (path, name) = (bases.path(upto), checkpoint_name(realm, upto));
        let bytes = fs::metadata(&path).map_err(|error| StoreError::io("cannot read", &path, error))?.len();
        self.store(&name, &path)?;
        if let Err(error) = self.verify(realm, upto) {
            self.remove(&name)?;
            return Err(error);
        }
        for old in self.own_checkpoints(log, realm)?.into_iter().skip(KEPT) {
            self.remove(&checkpoint_name(realm, old))?;
        }
        tracing::info!(%realm, sequence = upto, bytes, "checkpoint stored for all nodes");
        Ok(Some(Made { sequence: upto, bytes }))
    }
}
