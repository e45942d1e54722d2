//! Opening the data of a server: from checkpoints and the tails of the journals where that is possible, otherwise from the
//! trees.

use crate::options::Options;
use crate::placement::Placement;
use crate::shard::{Durability, DurableSink};
use model::RealmId;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use storage::checkpoint::{Started, complete_trees, start_from};
use storage::disk;
use storage::log::{Journal, JournalOptions, RealmLog, SyncPolicy, bounds};
use storage::open::MEMORY_REPLAY_BYTES_MAX;
use storage::{Checkpoints, DataFolder, RelocationState, StoreError, Trees, UnfinishedState};

/// Frames after a checkpoint that a start applies at most; with more the trees are the faster source.
const TAIL_FRAMES_MAX: u64 = 200_000;

/// The journal of a shard, and the durable position that it reports.
pub type OpenLog = (Arc<dyn RealmLog>, Arc<Durability>);

/// The journals, the trees, and the organizations if they were started from checkpoints.
type Opened = (Vec<OpenLog>, Trees, Option<Vec<Started>>);

/// Opens the journals and the trees. From checkpoints, the trees are opened in the background. The trees stay closed if the
/// disk has no room to open them: then the server uses the journals only.
pub fn open_data(folder: &DataFolder, options: &Options) -> Result<Opened, StoreError> {
    // Before the trees, so that an interrupted start never leaves trees without a journal.
    let logs = open_logs(folder, options, false)?;
    if folder.is_live_copy() {
        tracing::warn!(
            "the data folder is a copy of one that was in use; its database (state/) is rebuilt from the journal, which takes a while"
        );
        folder.discard_trees()?;
    }
    let (state, cache_bytes) = (folder.state(), options.tree_cache_bytes);
    if let Some(started) = start_realms(folder, &logs)? {
        let trees = Trees::closed(&state, cache_bytes);
        open_trees(folder, &logs, &trees, &started)?;
        return Ok((logs, trees, Some(started)));
    }
    let error = match Trees::open(&state, cache_bytes) {
        Err(error) if error.is_full() => error,
        opened => return Ok((logs, opened?, None)),
    };
    tracing::error!(%error, "the disk is full: the database in state/ cannot be opened");
    let journal_bytes: u64 =
        (0..folder.shards()).map(|shard| storage::log::segment_bytes(&folder.journal(shard))).sum();
    if journal_bytes <= MEMORY_REPLAY_BYTES_MAX as u64 {
        return Ok((logs, Trees::closed(&state, cache_bytes), None));
    }
    // Too large for memory: releasing the journals' spare segments may give enough room.
    drop(logs);
    let logs = open_logs(folder, options, true)?;
    match Trees::open(&state, cache_bytes) {
        Err(error) if error.is_full() => Ok((logs, Trees::closed(&state, cache_bytes), None)),
        opened => Ok((logs, opened?, None)),
    }
}

/// Opens the journal of each shard.
pub(crate) fn open_logs(
    folder: &DataFolder,
    options: &Options,
    releases_spares: bool,
) -> Result<Vec<OpenLog>, StoreError> {
    let journal = JournalOptions {
        sync: if options.is_durable { SyncPolicy::Fdatasync } else { SyncPolicy::None },
        segment_bytes: options.journal_segment_bytes,
        releases_spares,
        is_copy: folder.is_live_copy(),
        original_kept: Duration::from_secs(options.segment_kept_secs),
        ..JournalOptions::default()
    };
    let open = |shard| -> Result<OpenLog, StoreError> {
        let durability = Arc::new(Durability::default());
        let sink = Box::new(DurableSink(durability.clone()));
        Ok((Arc::new(Journal::open(&folder.journal(shard), &journal, sink)?), durability))
    };
    (0..folder.shards()).map(open).collect()
}

/// With fewer messages, a start without trees waits until they are rebuilt.
const REBUILD_MESSAGES_MIN: u64 = 20_000;

/// Starts all organizations from checkpoints; `None` if one of them has no valid one, the folder was copied while it was in
/// use, or the disk is full.
fn start_realms(folder: &DataFolder, logs: &[OpenLog]) -> Result<Option<Vec<Started>>, StoreError> {
    let has_room = disk::space(folder.path()).is_none_or(|space| space.has_room(0));
    let all = logs.iter().flat_map(|(log, _)| log.realms()).map(RealmId);
    let ids: Vec<RealmId> = all.filter(|id| !folder.is_not_served(*id)).collect();
    // An organization that has to be made whole at the start needs the trees.
    let is_interrupted = folder.marks().all().values().any(|found| found.state != UnfinishedState::Removed);
    if !has_room || ids.is_empty() || folder.is_live_copy() || is_interrupted {
        return Ok(None);
    }
    let placement = Placement::new(logs.len());
    let (mut found, mut messages) = (Vec::new(), 0);
    for id in ids {
        let (log, _) = &logs[placement.shard(id)];
        let checkpoints = Checkpoints::of(&folder.checkpoints(), id);
        let last = log.open(id.0, 0)?.last_sequence;
        if let Some(newest) = checkpoints.sequences().first().filter(|newest| **newest > last) {
            return Err(StoreError::JournalBehind { realm: id.0, trees: *newest, journal: last });
        }
        match start_from(&checkpoints, &**log, TAIL_FRAMES_MAX)? {
            Some(started) => {
                messages += started.view.messages.all.len();
                found.push(started);
            }
            None => return Ok(None),
        }
    }
    if messages < REBUILD_MESSAGES_MIN && !has_trees(folder) {
        return Ok(None);
    }
    let mut ends = ends_of_unserved(folder, |realm| logs[placement.shard(realm)].0.clone());
    ends.extend(found.iter().map(|realm| (realm.view.realm(), realm.opened.last_sequence)));
    folder.check_ends(&ends)?;
    Ok(Some(found))
}

/// The last frames that the journals have of organizations that are not served from this folder.
pub(crate) fn ends_of_unserved(
    folder: &DataFolder,
    log_of: impl Fn(RealmId) -> Arc<dyn RealmLog>,
) -> BTreeMap<RealmId, u64> {
    let known = folder.relocations().keys().copied().chain(folder.marks().all().into_keys());
    let away = known.filter(|realm| folder.is_not_served(*realm));
    let end = |realm: RealmId| Some((realm, bounds(&*log_of(realm), realm.0).ok()?.1));
    away.filter_map(end).filter(|(_, last)| *last > 0).collect()
}

/// Logs which organizations are not served from the folder, and what to do if that is not intended.
pub(crate) fn report_away(folder: &DataFolder) {
    for (realm, found) in folder.relocations() {
        let subdomain = if found.subdomain.is_empty() { "-" } else { &found.subdomain };
        let cluster = &found.cluster;
        match found.state {
            RelocationState::Away => tracing::warn!(
                %realm, subdomain, cluster,
                "an organization is not served, because it was moved to a cluster; if the move was interrupted, repeat \
                 `millstream realm move-to-cluster`"
            ),
            RelocationState::Arriving => tracing::warn!(
                %realm, subdomain, cluster,
                "an organization is not served, because it is not completely here; repeat `millstream realm move-from-cluster`"
            ),
            RelocationState::Here | RelocationState::Abandoned => {}
        }
    }
}

fn has_trees(folder: &DataFolder) -> bool {
    folder.state().join("db").exists()
}

/// An organization whose trees may lack the last frames.
struct Incomplete {
    checkpoints: Checkpoints,
    log: Arc<dyn RealmLog>,
    /// The sequence that the trees must have.
    last: u64,
    /// The newest frame that is in the trees.
    stored: Arc<AtomicU64>,
}

/// Opens the trees in the background and completes them.
fn open_trees(
    folder: &DataFolder,
    logs: &[OpenLog],
    trees: &Trees,
    started: &[Started],
) -> Result<(), StoreError> {
    let placement = Placement::new(logs.len());
    let mut incomplete = Vec::new();
    for realm in started {
        let id = realm.view.realm();
        let checkpoints = Checkpoints::of(&folder.checkpoints(), id);
        let log = logs[placement.shard(id)].0.clone();
        let (last, stored) = (realm.opened.last_sequence, realm.view.recent.stored());
        incomplete.push(Incomplete { checkpoints, log, last, stored });
    }
    let mut known: Vec<RealmId> = started.iter().map(|realm| realm.view.realm()).collect();
    known.extend(folder.relocations().keys());
    known.extend(folder.marks().all().into_keys());
    let is_rebuilt = !has_trees(folder);
    if is_rebuilt {
        tracing::warn!(
            "the database in state/ is missing; it is rebuilt from the journal, and older messages can be read when that is done"
        );
    }
    trees.open_in_background(is_rebuilt, move |trees| {
        if let Some(realm) = trees.realms()?.into_iter().find(|realm| !known.contains(realm)) {
            return Err(StoreError::JournalBehind { realm: realm.0, trees: 1, journal: 0 });
        }
        for Incomplete { checkpoints, log, last, stored } in incomplete {
            let added = complete_trees(&checkpoints, &*log, trees, last, &stored)?;
            tracing::info!(added, "the database in state/ is complete");
        }
        Ok(())
    })
}
