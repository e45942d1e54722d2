//! Work on the data folder in the background: checkpoints, and verifying the sealed parts of the journal.

use crate::error::DomainError;
use crate::opening::ends_of_unserved;
use crate::server::Server;
use crate::upkeep::{CHECKPOINT_BYTES_PER_SEC, wait};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use storage::checkpoint::{Advanced, Pace, advance};
use storage::log::{Compacted, LogError, RealmLog, scrub_segment, sealed_segments};
use storage::{Checkpoints, StoreError, disk};

/// How often the number of frames since the newest checkpoint is compared with the limit.
const CHECKPOINT_TICK: Duration = Duration::from_millis(500);

/// With fewer frames since the newest checkpoint, stopping writes none.
const STOP_FRAMES_MIN: u64 = 500;

/// Time until the journal is verified for the first time after a start.
const SCRUB_DELAY: Duration = Duration::from_secs(5);

/// Time between two verifications of the whole journal.
const SCRUB_PAUSE: Duration = Duration::from_secs(24 * 3600);

/// How often the thread searches for sealed segments that can be compacted.
const COMPACT_TICK: Duration = Duration::from_secs(5);

/// Time until compaction is tried again after it failed.
const COMPACT_RETRY: Duration = Duration::from_secs(600);

fn make_checkpoints(server: &Weak<Server>, is_stopping: &Arc<AtomicBool>) {
    let pace = Pace::limited(CHECKPOINT_BYTES_PER_SEC, is_stopping.clone());
    while wait(CHECKPOINT_TICK, is_stopping) {
        let Some(server) = server.upgrade() else { return };
        if let Err(error) = server.make_checkpoints(&pace) {
            metrics::counter!("millstream_checkpoint_failures_total").increment(1);
            tracing::warn!(%error, "a checkpoint could not be written; the next start may take longer");
        }
    }
}

impl Server {
    /// Starts the threads of background work.
    pub(crate) fn start_upkeep(self: &Arc<Self>) -> Result<(), DomainError> {
        let weak = Arc::downgrade(self);
        self.upkeep.spawn("trees-watchdog", move |stop| crate::storage_watchdog::run(&weak, stop))?;
        if self.is_node() {
            // The database has the logs, and a node opens organizations one by one, from its trees.
            return self.start_node_upkeep();
        }
        let weak = Arc::downgrade(self);
        self.upkeep.spawn("checkpoints", move |stop| make_checkpoints(&weak, stop))?;
        if self.options.scrub_bytes_per_sec > 0 {
            let weak = Arc::downgrade(self);
            self.upkeep.spawn("scrub", move |stop| scrub(&weak, stop))?;
        }
        if self.options.compact_bytes_per_sec > 0 {
            let (weak, rate) = (Arc::downgrade(self), self.options.compact_bytes_per_sec);
            self.upkeep.spawn("compaction", move |stop| compact(&weak, rate, stop))?;
        }
        let weak = Arc::downgrade(self);
        self.upkeep.spawn("erase", move |stop| crate::erase::run(&weak, stop))?;
        if let Some(time) = self.options.journal_keep {
            let weak = Arc::downgrade(self);
            self.upkeep.spawn("journal-keep", move |stop| crate::journal_trim::run(&weak, time, stop))?;
        }
        Ok(())
    }

    /// Writes the checkpoints that are due.
    fn make_checkpoints(&self, pace: &Pace) -> Result<(), StoreError> {
        let _one = self.checkpointing.lock();
        for realm in self.realms() {
            let checkpoints = Checkpoints::of(&self.folder.checkpoints(), realm.id());
            // The trees must have every frame of a checkpoint, on the disk.
            let stored = realm.shared.view.read().recent.stored_sequence().0;
            let newest = checkpoints.sequences().first().copied().unwrap_or_default();
            let has_room = disk::space(self.folder.path()).is_none_or(|space| space.has_room(0));
            if stored < newest + self.options.checkpoint_frames || !has_room || !self.trees.is_open() {
                continue;
            }
            self.trees.flush()?;
            let log = self.log_of(realm.id());
            if let Advanced::Written { sequence, bytes } = advance(&checkpoints, &*log, stored, pace)? {
                metrics::counter!("millstream_checkpoints_total").increment(1);
                metrics::gauge!("millstream_checkpoint_bytes").set(bytes as f64);
                tracing::info!(realm = realm.id().0, sequence, bytes, "checkpoint written");
            }
        }
        Ok(())
    }

    /// Writes last checkpoints and closes the trees, once nothing changes them any more.
    pub(crate) fn close_folder(&self) {
        let mut ends = ends_of_unserved(&self.folder, |realm| self.log_of(realm));
        for realm in self.realms() {
            let view = realm.shared.view.read();
            let (sequence, stored) = (view.progress.sequence.0, view.recent.stored_sequence().0);
            ends.insert(realm.id(), sequence);
            let checkpoints = Checkpoints::of(&self.folder.checkpoints(), realm.id());
            let newest = checkpoints.sequences().first().copied().unwrap_or_default();
            let frames_min = STOP_FRAMES_MIN.min(self.options.checkpoint_frames);
            let is_due = sequence >= newest + frames_min && !self.is_node();
            if stored < sequence || !is_due || !self.trees.is_open() {
                continue;
            }
            if let Err(error) = checkpoints.save(&*self.log_of(realm.id()), &view, &self.trees) {
                tracing::warn!(%error, "a checkpoint could not be written; the next start may take longer");
            }
        }
        self.trees.close();
        if let Err(error) = self.folder.note_state(false, &ends) {
            tracing::warn!(%error, "the state of the data folder could not be recorded");
        }
    }
}

/// Bytes after which compaction pauses.
const COMPACT_PIECE_BYTES: u64 = 256 * 1024;

/// Compacts the sealed segments of all journals, until the server stops.
fn compact(server: &Weak<Server>, bytes_per_sec: u64, is_stopping: &AtomicBool) {
    let mut unpaced = 0;
    let mut pace = |bytes: u64| {
        unpaced += bytes;
        if unpaced >= COMPACT_PIECE_BYTES {
            std::thread::sleep(Duration::from_secs_f64(unpaced as f64 / bytes_per_sec as f64));
            unpaced = 0;
        }
        !is_stopping.load(Ordering::Relaxed)
    };
    let mut pause = COMPACT_TICK;
    while wait(pause, is_stopping) {
        let Some(logs) = server.upgrade().map(|server| server.logs()) else { return };
        pause = COMPACT_TICK;
        for log in logs {
            while let Some(again) = compact_step(&*log, &mut pace) {
                pause = pause.max(again);
                if !again.is_zero() || is_stopping.load(Ordering::Relaxed) {
                    break;
                }
            }
        }
    }
}

/// Compacts one segment. Returns how long to wait before the next; `None` if there is none now.
fn compact_step(log: &dyn RealmLog, pace: &mut dyn FnMut(u64) -> bool) -> Option<Duration> {
    match log.compact(pace) {
        Ok(Compacted::Nothing | Compacted::Interrupted) => None,
        Ok(Compacted::Segment { number, segment_bytes, archive_bytes }) => {
            metrics::counter!("millstream_journal_compacted_bytes_total").increment(segment_bytes);
            metrics::counter!("millstream_journal_archived_bytes_total").increment(archive_bytes);
            let ratio = format!("{:.1}", segment_bytes as f64 / archive_bytes.max(1) as f64);
            tracing::info!(segment = number, segment_bytes, archive_bytes, %ratio, "segment compacted");
            Some(Duration::ZERO)
        }
        Err(error) => {
            metrics::counter!("millstream_journal_compaction_failures_total").increment(1);
            tracing::warn!(%error, "a segment of the journal could not be compacted; it stays as it is");
            Some(COMPACT_RETRY)
        }
    }
}

/// Verifies the sealed segments of all journals again and again.
fn scrub(server: &Weak<Server>, is_stopping: &AtomicBool) {
    let mut pause = SCRUB_DELAY;
    while wait(pause, is_stopping) {
        let Some((folders, rate)) = server.upgrade().map(|server| server.journals()) else { return };
        let mut damaged = 0;
        for folder in folders {
            match scrub_journal(&folder, rate, is_stopping) {
                Ok(found) => damaged += found,
                Err(error) => tracing::warn!(%error, "the journal could not be verified"),
            }
        }
        let Some(server) = server.upgrade().filter(|_| !is_stopping.load(Ordering::Relaxed)) else { return };
        server.health.set_damage(damaged);
        pause = SCRUB_PAUSE;
    }
}

impl Server {
    /// The journals of all shards.
    pub(crate) fn logs(&self) -> Vec<Arc<dyn RealmLog>> {
        self.shards.iter().map(|shard| shard.log.clone()).collect()
    }

    /// The folders of the journals, and how fast they are verified.
    fn journals(&self) -> (Vec<PathBuf>, u64) {
        let folders = (0..self.folder.shards()).map(|shard| self.folder.journal(shard)).collect();
        (folders, self.options.scrub_bytes_per_sec)
    }
}

/// Verifies the sealed segments of a journal. Returns how many are damaged.
fn scrub_journal(folder: &Path, rate: u64, is_stopping: &AtomicBool) -> Result<usize, LogError> {
    let mut damaged = 0;
    for segment in sealed_segments(folder)? {
        let goes_on = || !is_stopping.load(Ordering::Relaxed);
        let Some(scrubbed) = scrub_segment(folder, segment, rate, &goes_on)? else { continue };
        metrics::counter!("millstream_journal_scrubbed_bytes_total").increment(scrubbed.bytes);
        if let Some(damage) = scrubbed.damage {
            damaged += 1;
            tracing::error!(%damage, "a sealed segment of the journal is damaged");
        }
    }
    Ok(damaged)
}
