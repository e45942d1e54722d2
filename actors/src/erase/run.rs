//! One run of erasing. It can be interrupted at any point, also by a crash; what was done is recorded at the end, and the next
//! run does the rest.
//!
//! 1. What is deleted now is noted. Where the organization hides the edit history, a fact says which old versions are erased.
//! 2. The trees have all of that on the disk.
//! 3. Checkpoints and bases from before are replaced.
//! 4. The journal: the part that is being written is ended, and the parts with such contents are written again.
//! 5. The trees are rewritten, and the search index drops the words of deleted messages.
//! 6. Files that were kept for copies that are being made are removed.

use super::pending;
use super::state::Erased;
use crate::error::DomainError;
use crate::handle::RealmHandle;
use crate::realm::EraseHistories;
use crate::server::Server;
use crate::upkeep::{CHECKPOINT_BYTES_PER_SEC, wait};
use model::{MessageId, RealmId};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use storage::base::Bases;
use storage::checkpoint::Pace;
use storage::erase::{EraseRecord, ErasureTargets, RealmRecord, erase_parts};
use storage::{Checkpoints, StoreError};

/// How often the run checks whether other threads have done what it waits for.
const TICK: Duration = Duration::from_millis(50);

/// How often files are removed that were kept for copies.
const ORIGINALS_TICK: Duration = Duration::from_secs(1);

/// Messages of one fact about histories.
const HISTORIES_MAX: usize = 2_000;

/// Bytes after which the thread pauses.
const PIECE_BYTES: u64 = 256 * 1024;

/// Bytes read and written in a second, where compaction is switched off.
const BYTES_PER_SEC: u64 = 16 * 1024 * 1024;

/// Gets the name of the step, and how much of it is done.
type Report<'r> = dyn Fn(&'static str, u64, u64) + 'r;

/// One run of erasing, with what it needs.
pub(super) struct Run<'r> {
    server: &'r Arc<Server>,
    /// Without keeping files for copies that are being made.
    at_once: bool,
    is_stopping: &'r AtomicBool,
    report: &'r Report<'r>,
}

/// An organization with what is to be erased of it.
struct Target {
    realm: RealmHandle,
    gone: ErasureTargets,
}

impl<'r> Run<'r> {
    pub(super) fn new(
        server: &'r Arc<Server>,
        at_once: bool,
        is_stopping: &'r AtomicBool,
        report: &'r Report<'r>,
    ) -> Self {
        Self { server, at_once, is_stopping, report }
    }

    /// Erases what is deleted now. `None`: the server stops.
    pub(super) fn run(&self) -> Result<Option<Erased>, DomainError> {
        let path = self.server.folder.erased();
        let mut record = EraseRecord::read(&path);
        let targets = self.targets(&record)?;
        let mut erased = Erased::default();
        if !targets.is_empty() {
            self.erase_histories(&targets)?;
            if !self.renew_checkpoints(&targets)?
                || !self.erase_journals(&targets, &mut record, &mut erased)?
            {
                return Ok(None);
            }
            // What is known of the parts is true whatever happens to the rest.
            record.write(&path)?;
            if !self.renew_trees()? || !self.expunge(&targets)? {
                return Ok(None);
            }
            if !self.remove_originals()? {
                return Ok(None);
            }
        }
        for Target { realm, gone } in targets {
            erased.messages += gone.messages.len();
            erased.histories += gone.histories.len() as u64;
            erased.accounts += gone.accounts.len() as u64;
            let known = record.realms.entry(realm.id().0).or_default();
            known.messages |= gone.messages;
            known.users.extend(gone.accounts.iter().map(|account| account.placeholder.id.0));
            known.histories.extend(gone.histories);
            known.histories.retain(|id, _| !known.messages.contains(*id));
        }
        record.completed = self.server.options.clock.now();
        record.write(&path)?;
        metrics::gauge!("millstream_erase_completed_seconds").set(record.completed.secs() as f64);
        Ok(Some(erased))
    }

    /// The organizations of which something is to be erased.
    fn targets(&self, record: &EraseRecord) -> Result<Vec<Target>, DomainError> {
        let (mut targets, new) = (Vec::new(), RealmRecord::default());
        for realm in self.server.realms() {
            let known = record.realms.get(&realm.id().0).unwrap_or(&new);
            let gone = pending::targets(self.server, &realm, known)?;
            if !gone.is_empty() {
                targets.push(Target { realm, gone });
            }
        }
        Ok(targets)
    }

    /// Commits which old versions are erased.
    fn erase_histories(&self, targets: &[Target]) -> Result<(), DomainError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.map_err(|error| DomainError::Storage(error.to_string()))?;
        for Target { realm, gone } in targets {
            let versions: Vec<(MessageId, u32)> =
                gone.histories.iter().map(|(id, kept)| (MessageId(*id), *kept)).collect();
            for versions in versions.chunks(HISTORIES_MAX) {
                runtime.block_on(realm.execute(EraseHistories { versions: versions.to_vec() }))?;
            }
        }
        Ok(())
    }

    /// Waits until the trees have what is deleted, and replaces the checkpoints and bases from before. False: the server stops.
    fn renew_checkpoints(&self, targets: &[Target]) -> Result<bool, DomainError> {
        let server = self.server;
        for (done, Target { realm, .. }) in targets.iter().enumerate() {
            (self.report)("checkpoints", done as u64, targets.len() as u64);
            let upto = realm.read(|view| view.progress.sequence.0);
            while realm.read(|view| view.recent.stored_sequence().0) < upto {
                if !server.trees.is_open() {
                    return Err(StoreError::TreesClosed.into());
                }
                if !wait(TICK, self.is_stopping) {
                    return Ok(false);
                }
            }
            server.trees.flush()?;
            let _one = server.checkpointing.lock();
            let checkpoints = Checkpoints::of(&server.folder.checkpoints(), realm.id());
            let pace = match self.at_once {
                true => Pace::until(server.upkeep.stopping()),
                false => Pace::limited(CHECKPOINT_BYTES_PER_SEC, server.upkeep.stopping()),
            };
            let log = server.log_of(realm.id());
            let bases = Bases::of(&server.folder.bases(), realm.id());
            if !checkpoints.renew(&*log, upto, &pace)? || !bases.renew(&*log, upto, &pace)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// False: the server stops.
    fn erase_journals(
        &self,
        targets: &[Target],
        record: &mut EraseRecord,
        erased: &mut Erased,
    ) -> Result<bool, DomainError> {
        for (shard, log) in (0..).zip(self.server.logs()) {
            let gone: BTreeMap<u32, ErasureTargets> = targets
                .iter()
                .filter(|target| self.server.placement.shard(target.realm.id()) == shard as usize)
                .map(|target| (target.realm.id().0, target.gone.clone()))
                .collect();
            let (Some(parts), Some(realm)) = (log.parts(), gone.keys().next()) else { continue };
            parts.seal(*realm).map_err(StoreError::from)?;
            let known = record.shards.entry(shard).or_default();
            let report = &mut |done, all| (self.report)("journal", done as u64, all as u64);
            let Some(done) = erase_parts(parts, &gone, known, &mut self.pace(), report)? else {
                return Ok(false);
            };
            erased.frames += done.frames;
            erased.parts += done.parts;
        }
        Ok(true)
    }

    /// False: the server stops.
    fn renew_trees(&self) -> Result<bool, DomainError> {
        (self.report)("trees", 0, 0);
        let is_renewed = self.server.trees.renew(&mut self.pace())?;
        match is_renewed || self.is_stopping.load(Ordering::Relaxed) {
            true => Ok(is_renewed),
            false => Err(DomainError::Storage("the trees were opened again meanwhile".to_owned())),
        }
    }

    /// Removes the words of deleted messages from the search indexes. False: the server stops.
    fn expunge(&self, targets: &[Target]) -> Result<bool, DomainError> {
        let root = self.server.folder.search();
        let goes_on = || !self.is_stopping.load(Ordering::Relaxed);
        for (done, Target { realm, .. }) in targets.iter().enumerate() {
            (self.report)("search", done as u64, targets.len() as u64);
            let id: RealmId = realm.id();
            let expunged = realm.shared.search.expunge(&root, id, &goes_on);
            if !expunged.map_err(|error| DomainError::Storage(error.to_string()))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits until no file is left that an archive has taken the place of. False: the server stops.
    fn remove_originals(&self) -> Result<bool, DomainError> {
        for log in self.server.logs() {
            let Some(parts) = log.parts() else { continue };
            // Those that compaction adds meanwhile were made from files without such contents.
            let mut waiting: Option<Vec<u64>> = None;
            loop {
                let at_once = self.at_once || self.server.erasing.is_wanted();
                let left = parts.remove_originals(at_once).map_err(StoreError::from)?;
                let waiting = waiting.get_or_insert_with(|| left.clone());
                waiting.retain(|number| left.contains(number));
                if waiting.is_empty() {
                    break;
                }
                if !wait(ORIGINALS_TICK, self.is_stopping) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Pauses, unless the operator waits; says whether to go on.
    fn pace(&self) -> impl FnMut(u64) -> bool + use<'_> {
        let rate = match self.server.options.compact_bytes_per_sec {
            0 => BYTES_PER_SEC,
            rate => rate,
        };
        let mut unpaced = 0;
        move |bytes| {
            unpaced += bytes;
            if unpaced >= PIECE_BYTES {
                if !self.at_once {
                    std::thread::sleep(Duration::from_secs_f64(unpaced as f64 / rate as f64));
                }
                unpaced = 0;
            }
            !self.is_stopping.load(Ordering::Relaxed)
        }
    }
}
