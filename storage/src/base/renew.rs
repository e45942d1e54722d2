//! Makes bases anew before contents are erased, so that they do not have what was deleted since they were made.

use super::Bases;
use crate::checkpoint::Pace;
use crate::error::StoreError;
use crate::log::RealmLog;

impl Bases {
    /// Replaces older bases, if there are any, by one of frame `upto`. False: the server stops.
    ///
    /// # Errors
    /// Those of the journal, and of reading and writing. The bases before stay until the new one is complete.
    pub fn renew(&self, log: &dyn RealmLog, upto: u64, pace: &Pace) -> Result<bool, StoreError> {
        let known = self.sequences();
        let old: Vec<u64> = known.iter().copied().filter(|sequence| *sequence < upto).collect();
        let is_needed = !old.is_empty() && old.len() == known.len();
        if is_needed && !self.make(log, upto, pace)? {
            return Ok(false);
        }
        old.into_iter().try_for_each(|old| self.remove(old))?;
        Ok(true)
    }
}
