//! Makes bases anew before contents are erased, so that they do not have what was deleted since they were made.

use super::{Bases, FOLDER};
use crate::checkpoint::Pace;
use crate::error::StoreError;
use crate::folder::DataFolder;
use crate::log::{Durable, Journal, JournalOptions, LogError, RealmLog, Ticket};
use model::RealmId;

/// Ignores reports of durable frames: nothing is appended.
struct IgnoreReports;

impl Durable for IgnoreReports {
    fn durable(&mut self, _: Ticket, _: Result<(), LogError>) {}
}

/// Replaces the bases of a data folder that no server uses by bases of the last frames.
///
/// # Errors
/// Those of the journal, and of reading and writing. The bases before stay until the new one is complete.
pub fn renew(folder: &DataFolder) -> Result<(), StoreError> {
    let all = folder.path().join(FOLDER);
    if !all.exists() {
        return Ok(());
    }
    for shard in 0..folder.shards() {
        let journal =
            Journal::open(&folder.journal(shard), &JournalOptions::default(), Box::new(IgnoreReports))?;
        for realm in journal.realms() {
            let bases = Bases::of(&all, RealmId(realm));
            let last = journal.open(realm, 0)?.last_sequence;
            let known = bases.sequences();
            if known.first().is_none_or(|newest| *newest == last) {
                continue;
            }
            bases.make(&journal, last, &Pace::unlimited())?;
            known.into_iter().try_for_each(|old| bases.remove(old))?;
        }
    }
    Ok(())
}
