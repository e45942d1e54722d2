//! Opening organizations: from the trees of this node, as far as they go, and from the log.

use super::shared_files::BASES;
use super::{Cluster, failed};
use crate::DomainError;
use crate::opening::OpenLog;
use crate::options::Options;
use crate::server::Server;
use crate::shard::{Durability, DurableSink};
use model::RealmId;
use postgres::{PgLog, PgLogOptions};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use storage::log::{LogError, RealmLog};
use storage::{DataFolder, FollowedRealm, StoreError, Trees, View};

/// How long the trees may take to get what the organization left in memory when it was here before.
const RETIRING_MAX: Duration = Duration::from_secs(30);
const RETIRING_TICK: Duration = Duration::from_millis(2);

impl Cluster {
    /// Becomes a node; opens a log for each shard, and the trees, which only save reading the logs.
    ///
    /// # Errors
    /// `Storage` if the folder is not one of this cluster, or the database cannot be used.
    pub(crate) fn open_data(
        &mut self,
        folder: &DataFolder,
        options: &Options,
    ) -> Result<(Vec<OpenLog>, Trees), DomainError> {
        if *folder.secret() != self.secret()? {
            return Err(DomainError::Storage(format!(
                "the data folder {} belongs to another server; a node of a cluster begins with an empty one",
                folder.path().display()
            )));
        }
        self.register()?;
        self.write_first_marker(&folder.bases());
        let log_options = PgLogOptions {
            guard: Some(self.guard()),
            requirements: super::requirements(&self.options),
            ..PgLogOptions::default()
        };
        let mut logs = Vec::new();
        for _ in 0..folder.shards() {
            let durability = Arc::new(Durability::default());
            let sink = Box::new(DurableSink(durability.clone()));
            let log = PgLog::open(super::database(&self.options)?, &log_options, sink);
            let log: Arc<dyn RealmLog> = Arc::new(log.map_err(|error| failed(&error))?);
            logs.push((log, durability));
        }
        let trees = Trees::open(&folder.state(), options.tree_cache_bytes)?;
        Ok((logs, trees))
    }

    /// Loads an organization as far as its log goes now, without owning it.
    pub(super) fn prepare(
        &self,
        log: &dyn RealmLog,
        trees: &Trees,
        realm: RealmId,
    ) -> Result<(), StoreError> {
        self.follow(log, trees, realm, u64::MAX).map(drop)
    }

    /// Applies the next frames of an organization, without owning it. Returns the newest that is applied.
    pub(super) fn follow(
        &self,
        log: &dyn RealmLog,
        trees: &Trees,
        realm: RealmId,
        frames_max: u64,
    ) -> Result<u64, StoreError> {
        let before = self.prepared.lock().remove(&realm);
        let before = match before {
            Some(followed) => Some(followed),
            None => self.load(log, trees, realm)?.map(FollowedRealm::new),
        };
        let followed = match storage::follow(log, trees, realm, before, frames_max) {
            // The log was trimmed meanwhile, or is shorter than it was: it is loaded from the beginning the next time.
            Err(error @ StoreError::Log(LogError::OutOfRange { .. })) => {
                trees.clear(realm)?;
                return Err(error);
            }
            followed => followed?,
        };
        let Some(followed) = followed else { return Ok(0) };
        let sequence = followed.view.progress.sequence.0;
        self.prepared.lock().insert(realm, followed);
        Ok(sequence)
    }

    /// Forgets what was prepared and is not needed any more.
    pub(super) fn forget_prepared(&self, is_needed: impl Fn(RealmId) -> bool) {
        self.prepared.lock().retain(|realm, _| is_needed(*realm));
    }

    /// What the trees have, once they have everything that was in memory; where the log does not continue that, what the newest
    /// checkpoint has.
    fn load(&self, log: &dyn RealmLog, trees: &Trees, realm: RealmId) -> Result<Option<View>, StoreError> {
        let retired = self.retired.lock().remove(&realm);
        if let Some((stored, sequence)) = retired {
            let start = Instant::now();
            while stored.load(Ordering::Acquire) < sequence {
                if start.elapsed() > RETIRING_MAX {
                    return Err(StoreError::ProjectionStopped);
                }
                std::thread::sleep(RETIRING_TICK);
            }
        }
        let view = trees.load(realm)?;
        if view.is_none() {
            trees.clear(realm)?;
        }
        let is_continued = match &view {
            Some(view) => storage::shared_files::is_continued(log, view)?,
            None => false,
        };
        let store = self.shared_store(&trees.path().with_file_name(BASES))?.filter(|_| !is_continued);
        let Some(store) = store else { return Ok(view) };
        let view = store.load(log, trees, realm, view)?;
        store.forget_copies(realm)?;
        if let Some(view) = &view {
            let sequence = view.progress.sequence;
            metrics::counter!("millstream_cluster_checkpoints_loaded_total").increment(1);
            tracing::info!(%realm, %sequence, "organization loaded from a checkpoint");
        }
        Ok(view)
    }

    /// Makes this node the owner of an organization, which fences every other one, and loads it to the end of its log.
    fn open_realm(
        &self,
        log: &dyn RealmLog,
        trees: &Trees,
        realm: RealmId,
    ) -> Result<Option<OpenedHere>, StoreError> {
        let before = self.prepared.lock().remove(&realm);
        let before = match before {
            Some(followed) => Some(followed),
            None => self.load(log, trees, realm)?.map(FollowedRealm::new),
        };
        let opened = log.open(realm.0, 0)?;
        let is_of = match &before {
            Some(followed) => {
                followed.view.progress.sequence.0 <= opened.last_sequence && followed.is_of(log)?
            }
            None => true,
        };
        let before = match before {
            // Of a log that the database does not have any more: it was restored from a backup, or lost what no standby had.
            Some(_) if !is_of => {
                tracing::warn!(%realm, "the local database in state/ has frames that the log in PostgreSQL does not have; it is rebuilt");
                trees.clear(realm)?;
                self.load(log, trees, realm)?
            }
            before => before.map(|followed| followed.view),
        };
        let from = before.as_ref().map_or(0, |view| view.progress.sequence.0);
        let view = storage::replay(log, trees, realm, before)?;
        let (epoch, replayed) = (opened.epoch, opened.last_sequence.saturating_sub(from));
        Ok(view.map(|view| OpenedHere { view, epoch, replayed }))
    }
}

/// An organization that this node has just opened.
struct OpenedHere {
    view: View,
    epoch: u64,
    /// Frames that it read.
    replayed: u64,
}

impl Server {
    /// Opens an organization that this node owns by the tables, and starts it. False if it is another node's by now, or has
    /// no first frame yet.
    pub(super) async fn open_owned(
        self: &Arc<Self>,
        cluster: &Arc<Cluster>,
        realm: RealmId,
    ) -> Result<bool, DomainError> {
        // While an organization is made it is in the tables, but not to be opened by anyone else.
        let _making = cluster.creating.read().await;
        if self.realm(realm).is_some() {
            return Ok(true);
        }
        let start = Instant::now();
        let (own, log, trees) = (cluster.clone(), self.log_of(realm), self.trees.clone());
        let opened = tokio::task::spawn_blocking(move || own.open_realm(&*log, &trees, realm)).await;
        let opened = match opened.map_err(|error| DomainError::Storage(error.to_string()))? {
            Err(StoreError::Log(LogError::Fenced { .. })) => return Ok(false),
            opened => opened?,
        };
        let Some(OpenedHere { view, epoch, replayed }) = opened else { return Ok(false) };
        let sequence = view.progress.sequence;
        self.start_owned(view, epoch).await?;
        cluster.in_flight.open(realm);
        metrics::counter!("millstream_cluster_opened_total").increment(1);
        metrics::counter!("millstream_cluster_opened_frames_total").increment(replayed);
        let millis = start.elapsed().as_millis();
        tracing::info!(%realm, epoch, %sequence, replayed, millis, "organization opened");
        Ok(true)
    }
}
