//! The state of the storage: written by the commit pipelines and by storage recovery, read by every command and by
//! monitoring.

use model::RealmId;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use storage::disk::Space;
use tokio::sync::Notify;

/// Why changes are refused for now. No restart is needed: the server recovers on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pause {
    /// Free disk space is below the reserve. Event queues and read state are still stored.
    LowSpace,
    /// The disk is full.
    DiskFull,
    /// The journal could not be written.
    JournalFailed,
    /// The trees could not be written or opened.
    TreesFailed,
}

impl Pause {
    /// Every reason, for the metrics.
    pub const ALL: [Self; 4] = [Self::LowSpace, Self::DiskFull, Self::JournalFailed, Self::TreesFailed];

    /// Whether more free space ends it.
    pub fn needs_space(self) -> bool {
        match self {
            Self::LowSpace | Self::DiskFull => true,
            Self::JournalFailed | Self::TreesFailed => false,
        }
    }

    /// The name in metrics and for monitoring.
    pub fn name(self) -> &'static str {
        match self {
            Self::LowSpace => "low_space",
            Self::DiskFull => "disk_full",
            Self::JournalFailed => "journal_failed",
            Self::TreesFailed => "trees_failed",
        }
    }
}

impl fmt::Display for Pause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::LowSpace => "the disk is almost full; changes are refused until there is room",
            Self::DiskFull => "the disk is full; changes are refused until there is room",
            Self::JournalFailed => {
                "the journal cannot be written; changes are refused until the disk works again"
            }
            Self::TreesFailed => {
                "stored data cannot be written; changes are refused until the disk works again"
            }
        })
    }
}

/// The free space and the state of the storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageStatus {
    /// None if the system does not report it.
    pub free_bytes: Option<u64>,
    /// Whether free space is below the warning level.
    pub is_low: bool,
    /// The reason why changes are refused, if they are.
    pub paused: Option<Pause>,
    /// Sealed segments of the journal that failed the last verification.
    pub damaged_segments: usize,
}

/// Levels of free space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reserve {
    /// Below it the server warns; 0 for eight times `min_bytes`.
    pub warn_bytes: u64,
    /// Below it changes are refused; 0 for 64 MiB, or a sixteenth of the disk where that is less.
    pub min_bytes: u64,
}

/// The reserve on a large disk.
const MIN_BYTES: u64 = 64 * 1024 * 1024;
/// The reserve on a small disk, as a divisor of its size.
const MIN_SHARE: u64 = 16;
/// Hysteresis: changes are accepted again once this much more than the reserve is free, as a divisor of the reserve.
const RESUME_SHARE: u64 = 8;

/// Free space on a disk, and what a server does below which level, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceLevels {
    pub free_bytes: u64,
    /// Below it the server warns.
    pub warn_bytes: u64,
    /// Below it changes are refused.
    pub min_bytes: u64,
}

impl Reserve {
    /// The levels on the disk of a folder; none if the system does not report its size.
    pub fn levels(self, folder: &Path) -> Option<SpaceLevels> {
        let space = storage::disk::space(folder)?;
        let (warn_bytes, min_bytes) = (self.warn_of(space), self.min_of(space));
        Some(SpaceLevels { free_bytes: space.free_bytes, warn_bytes, min_bytes })
    }

    fn min_of(self, space: Space) -> u64 {
        match self.min_bytes {
            0 => MIN_BYTES.min(space.total_bytes / MIN_SHARE),
            given => given,
        }
    }

    fn warn_of(self, space: Space) -> u64 {
        match self.warn_bytes {
            0 => self.min_of(space).saturating_mul(8),
            given => given,
        }
    }
}

/// The state of a server's storage.
#[derive(Debug, Default)]
pub(crate) struct StorageHealth {
    is_read_only: AtomicBool,
    state: Mutex<State>,
    /// Notified when a shard stops accepting changes.
    pub failed: Notify,
    /// Notified when the trees were given up, and the process has to end.
    pub hangs: Notify,
    /// Organizations that another machine has taken and that are not closed yet.
    fenced: Mutex<Vec<RealmId>>,
    /// Notified when there is one more.
    pub fence_noted: Notify,
}

#[derive(Debug, Default)]
struct State {
    space: Option<Space>,
    is_low: bool,
    damaged_segments: usize,
    /// Shards that refuse changes, with the reason.
    paused: BTreeMap<usize, Pause>,
}

impl StorageHealth {
    /// Whether free space is too low for anything but event queues and read state.
    pub fn is_read_only(&self) -> bool {
        self.is_read_only.load(Ordering::Relaxed)
    }

    /// The status for monitoring.
    pub fn status(&self) -> StorageStatus {
        let state = self.state.lock();
        let low = self.is_read_only().then_some(Pause::LowSpace);
        StorageStatus {
            free_bytes: state.space.map(|space| space.free_bytes),
            is_low: state.is_low,
            paused: state.paused.values().max().copied().or(low),
            damaged_segments: state.damaged_segments,
        }
    }

    /// Records the result of verifying the sealed segments of the journal.
    pub fn set_damage(&self, segments: usize) {
        self.state.lock().damaged_segments = segments;
        metrics::gauge!("millstream_journal_damaged_segments").set(segments as f64);
    }

    /// Records that a shard refuses changes.
    pub fn pause(&self, shard: usize, why: Pause) {
        if self.state.lock().paused.insert(shard, why).is_none() {
            metrics::counter!("millstream_storage_failures_total", "reason" => why.name()).increment(1);
        }
        self.show();
        self.failed.notify_one();
    }

    /// Records that another machine has taken an organization.
    pub fn set_fenced(&self, realm: RealmId) {
        self.fenced.lock().push(realm);
        self.fence_noted.notify_one();
    }

    /// The organizations that another machine has taken since the last call.
    #[cfg(feature = "cluster")]
    pub fn take_fenced(&self) -> Vec<RealmId> {
        std::mem::take(&mut *self.fenced.lock())
    }

    /// Records that a shard accepts changes again.
    pub fn resume(&self, shard: usize) {
        self.state.lock().paused.remove(&shard);
        self.show();
    }

    /// The shards that refuse changes.
    pub fn paused(&self) -> Vec<(usize, Pause)> {
        self.state.lock().paused.iter().map(|(shard, why)| (*shard, *why)).collect()
    }

    /// Updates the free space, and logs it when the state changes.
    pub fn set_space(&self, space: Option<Space>, reserve: Reserve) {
        let mut state = self.state.lock();
        state.space = space;
        let Some(space) = space else { return };
        let (min_bytes, warn_bytes) = (reserve.min_of(space), reserve.warn_of(space));
        let was_read_only = self.is_read_only();
        let spare_bytes = if was_read_only { min_bytes / RESUME_SHARE } else { 0 };
        let needed_bytes = min_bytes.saturating_add(spare_bytes);
        let is_read_only = space.free_bytes < needed_bytes;
        let is_low = space.free_bytes < warn_bytes;
        let free_bytes = space.free_bytes;
        match (was_read_only, is_read_only) {
            (false, true) => tracing::error!(free_bytes, min_bytes, "{}", Pause::LowSpace),
            (true, false) => {
                tracing::warn!(free_bytes, "there is enough disk space again; changes are accepted")
            }
            (false, false) if is_low && !state.is_low => {
                tracing::warn!(
                    free_bytes,
                    min_bytes,
                    "disk space is low; below min_bytes changes are refused"
                );
            }
            _ => {}
        }
        self.is_read_only.store(is_read_only, Ordering::Relaxed);
        state.is_low = is_low;
        drop(state);
        metrics::gauge!("millstream_disk_free_bytes").set(free_bytes as f64);
        self.show();
    }

    fn show(&self) {
        let is_paused = self.status().paused.is_some();
        metrics::gauge!("millstream_storage_read_only").set(if is_paused { 1.0 } else { 0.0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1024 * 1024;

    fn after(free: &[u64], total_mib: u64, reserve: Reserve) -> StorageStatus {
        let health = StorageHealth::default();
        for free_mib in free {
            let space = Space { free_bytes: free_mib * MIB, total_bytes: total_mib * MIB };
            health.set_space(Some(space), reserve);
        }
        health.status()
    }

    #[test]
    fn default_reserve_is_64_mib_or_a_sixteenth() {
        let automatic = Reserve { warn_bytes: 0, min_bytes: 0 };
        for (free, total, is_low, paused) in [
            (600, 100_000, false, None),
            (500, 100_000, true, None),
            (63, 100_000, true, Some(Pause::LowSpace)),
            (63, 160, true, None),
            (9, 160, true, Some(Pause::LowSpace)),
            (90, 160, false, None),
        ] {
            let status = after(&[free], total, automatic);
            assert_eq!((status.is_low, status.paused), (is_low, paused), "{free} of {total}");
        }
        let given = Reserve { warn_bytes: 30 * MIB, min_bytes: 20 * MIB };
        assert_eq!(after(&[19], 32, given).paused, Some(Pause::LowSpace));
        assert!(after(&[25], 32, given).is_low && !after(&[31], 32, given).is_low);
    }

    #[test]
    fn low_space_pause_ends_above_reserve_only() {
        let given = Reserve { warn_bytes: 0, min_bytes: 16 * MIB };
        assert_eq!(after(&[15, 17], 100, given).paused, Some(Pause::LowSpace));
        assert_eq!(after(&[15, 18], 100, given).paused, None);
        assert_eq!(after(&[17], 100, given).paused, None);
    }

    #[test]
    fn failure_takes_precedence_over_low_space() {
        let health = StorageHealth::default();
        let space = Space { free_bytes: 0, total_bytes: MIB };
        health.set_space(Some(space), Reserve { warn_bytes: 0, min_bytes: 0 });
        health.pause(0, Pause::JournalFailed);
        assert_eq!(health.status().paused, Some(Pause::JournalFailed));
        health.resume(0);
        assert_eq!(health.status().paused, Some(Pause::LowSpace));
    }
}
