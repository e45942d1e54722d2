//! The files that all nodes share: opening them, making checkpoints of the organizations that this node owns, and removing from
//! the database what is archived.

use super::Cluster;
use crate::error::DomainError;
use crate::handle::RealmHandle;
use crate::server::Server;
use crate::upkeep::{CHECKPOINT_BYTES_PER_SEC, wait};
use model::RealmId;
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use storage::StoreError;
use storage::checkpoint::Pace;
use storage::codec::RECORDS;
use storage::shared_files::{Archiving, SharedStore, Trimmed};

/// The folder of bases in a data folder.
pub(super) const BASES: &str = "base";

/// How often due checkpoints are searched for.
const TICK: Duration = Duration::from_secs(2);
/// A checkpoint of an organization is made at most this often.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(600);
/// How often frames are searched for that may be removed from the database.
const TRIM_EVERY: Duration = Duration::from_secs(600);
/// Time until an organization is tried again after a failure.
const RETRY: Duration = Duration::from_secs(60);
/// A checkpoint costs in proportion to the messages of an organization: one is made for this share of frames, as a divisor.
const SHARE: u64 = 4;

/// What is known of an organization.
#[derive(Default)]
struct Known {
    /// The frame of the newest checkpoint; none if that was not read yet.
    newest: Option<u64>,
    made: Option<Instant>,
    trimmed: Option<Instant>,
    failed: Option<Instant>,
}

impl Known {
    /// Whether a checkpoint is to be made of frame `stored`.
    fn is_due(&self, stored: u64, messages: u64, frames_min: u64) -> bool {
        let newest = self.newest.unwrap_or_default();
        let is_rested = self.made.is_none_or(|made| made.elapsed() >= CHECKPOINT_EVERY);
        is_rested && stored.saturating_sub(newest) >= frames_min.max(messages / SHARE)
    }

    fn may_trim(&self) -> bool {
        self.trimmed.is_none_or(|trimmed| trimmed.elapsed() >= TRIM_EVERY)
    }

    fn may_try(&self) -> bool {
        self.failed.is_none_or(|failed| failed.elapsed() >= RETRY)
    }
}

impl Cluster {
    /// The files that all nodes share, if there are any. `bases` is the folder of bases in the data folder.
    pub(super) fn shared_store(&self, bases: &Path) -> Result<Option<SharedStore>, StoreError> {
        let Some(open) = &self.options.shared else { return Ok(None) };
        let place = open(self.control.name(), &self.mark());
        let place = place.map_err(|why| {
            let source = std::io::Error::other(why);
            StoreError::Io { what: "cannot use the files of", path: "cluster".into(), source }
        })?;
        Ok(Some(SharedStore::new(place, bases)))
    }

    fn mark(&self) -> String {
        format!("{}-{}", self.own.name, self.own.incarnation)
    }

    /// Shows the other nodes that this one uses the same files. Returns whether it could.
    fn write_marker(&self, store: &SharedStore) -> bool {
        let left = store.mark(&self.own.name, self.own.incarnation);
        if let Err(error) = &left {
            tracing::warn!(%error, "the files that all nodes share cannot be written");
        }
        left.is_ok()
    }

    /// Shows the other nodes that this one, which has just joined, uses the same files: nothing is archived while a node has left no
    /// mark. On a thread of its own, because a bucket is used through a runtime, and the caller may be on another one.
    pub(super) fn write_first_marker(&self, bases: &Path) {
        let leave = || match self.shared_store(bases) {
            Ok(Some(store)) => _ = self.write_marker(&store),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the files that all nodes share cannot be used"),
        };
        if std::thread::scope(|scope| scope.spawn(leave).join()).is_err() {
            tracing::error!("the marker file of this node could not be written to the shared files");
        }
    }

    /// Live nodes that do not use the same files: what is archived would be lost to them.
    fn nodes_without_marker(&self, store: &SharedStore) -> Result<Vec<String>, StoreError> {
        let table = self.table();
        let live = table.nodes.values().filter(|node| node.is_alive());
        let live: Vec<(&str, i64)> =
            live.map(|node| (node.identity.name.as_str(), node.identity.incarnation)).collect();
        Ok(store.nodes_without_marker(&live)?.into_iter().map(str::to_owned).collect())
    }
}

/// Makes checkpoints and trims logs, until the server stops.
fn run(server: &Weak<Server>, cluster: &Arc<Cluster>, bases: &Path, is_stopping: &Arc<AtomicBool>) {
    let pace = Pace::limited(CHECKPOINT_BYTES_PER_SEC, is_stopping.clone());
    let (mut store, mut known, mut is_marked) = (None, HashMap::new(), false);
    while wait(TICK, is_stopping) {
        let Some(server) = server.upgrade() else { return };
        let Some(store) = &store else {
            match cluster.shared_store(bases) {
                Ok(opened) => store = opened,
                Err(error) => tracing::warn!(%error, "the files that all nodes share cannot be used"),
            }
            continue;
        };
        is_marked = is_marked || cluster.write_marker(store);
        server.maintain_shared_files(cluster, (store, &pace), &mut known);
    }
}

impl Server {
    /// Starts the thread of a node's background work, if there are files that all nodes share.
    pub(crate) fn start_shared(self: &Arc<Self>, cluster: &Arc<Cluster>) -> Result<(), DomainError> {
        if cluster.options.shared.is_none() {
            tracing::info!(
                "the nodes share no files: there are no checkpoints, and the database keeps all frames"
            );
            return Ok(());
        }
        let (weak, cluster, bases) = (Arc::downgrade(self), cluster.clone(), self.folder.bases());
        self.upkeep.spawn("cluster-files", move |stop| run(&weak, &cluster, &bases, stop))
    }

    /// Does what is due for each organization that this node owns.
    fn maintain_shared_files(
        &self,
        cluster: &Cluster,
        (store, pace): (&SharedStore, &Pace),
        known: &mut HashMap<RealmId, Known>,
    ) {
        let owned: Vec<RealmId> = self.realms().iter().map(RealmHandle::id).collect();
        let gone: Vec<RealmId> = known.keys().copied().filter(|realm| !owned.contains(realm)).collect();
        for realm in gone {
            known.remove(&realm);
            if let Err(error) = store.forget_copies(realm) {
                tracing::warn!(%realm, %error, "a copy of a checkpoint could not be removed");
            }
        }
        for realm in owned {
            let entry = known.entry(realm).or_default();
            // Checkpoints have rows of this release, which nodes of the one before may not be able to read.
            let may_write = cluster.table().records == RECORDS;
            if !may_write || !cluster.is_ready() || !entry.may_try() {
                continue;
            }
            match self.maintain_shared_files_of(cluster, (store, pace), realm, entry) {
                Ok(()) => entry.failed = None,
                Err(error) => {
                    entry.failed = Some(Instant::now());
                    metrics::counter!("millstream_cluster_checkpoint_failures_total").increment(1);
                    tracing::warn!(%realm, %error, "a checkpoint could not be stored in the shared files, or frames not archived; it is retried in a minute");
                }
            }
        }
    }

    fn maintain_shared_files_of(
        &self,
        cluster: &Cluster,
        (store, pace): (&SharedStore, &Pace),
        realm: RealmId,
        known: &mut Known,
    ) -> Result<(), StoreError> {
        let Some(handle) = self.realm(realm) else { return Ok(()) };
        let (stored, messages) = {
            let view = handle.shared.view.read();
            (view.recent.stored_sequence().0, view.messages.all.len())
        };
        let (log, frames_min) = (self.log_of(realm), self.options.checkpoint_frames);
        if stored < frames_min {
            return Ok(());
        }
        if known.newest.is_none() {
            known.newest = Some(store.own_checkpoints(&*log, realm)?.first().copied().unwrap_or_default());
        }
        let is_due = known.is_due(stored, messages, frames_min);
        let made = if is_due { store.make(&*log, realm, stored, pace)? } else { None };
        if let Some(made) = made {
            metrics::counter!("millstream_cluster_checkpoints_total").increment(1);
            (known.newest, known.made) = (Some(made.sequence), Some(Instant::now()));
        }
        let Some(keep) = cluster.options.log_keep.filter(|_| known.may_trim()) else { return Ok(()) };
        known.trimmed = Some(Instant::now());
        let nodes_without_marker = cluster.nodes_without_marker(store)?;
        if !nodes_without_marker.is_empty() {
            tracing::warn!(
                nodes = nodes_without_marker.join(", "),
                "these nodes do not share the files; nothing is archived"
            );
            return Ok(());
        }
        let keep = u64::try_from(keep.as_millis()).unwrap_or(u64::MAX);
        let before = self.options.clock.now().0.saturating_sub(keep);
        if let Trimmed::Before(first) = store.trim(&*log, Archiving { realm, before }, pace)? {
            metrics::counter!("millstream_cluster_trims_total").increment(1);
            tracing::info!(%realm, first, "archived frames were removed from the database");
            // There may be more.
            known.trimmed = None;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoint_is_due_after_a_share_of_the_messages() {
        let known = Known { newest: Some(1_000), ..Known::default() };
        assert!(!known.is_due(5_999, 0, 5_000) && known.is_due(6_000, 0, 5_000));
        assert!(!known.is_due(6_000, 40_000, 5_000) && known.is_due(11_000, 40_000, 5_000));
        let just_made = Known { made: Some(Instant::now()), ..known };
        assert!(!just_made.is_due(1_000_000, 0, 5_000));
    }
}
