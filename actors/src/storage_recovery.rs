//! Watches free disk space, and recovers after failed writes.
//!
//! A shard whose journal failed takes no changes (`Committer::fail`) and continues once the journal has been rolled back
//! to what is durable (`RealmLog::recover`). If the trees failed, all shards stop: the trees are reopened, and every
//! organization is reloaded from them and the journal. Failed attempts are retried with increasing delays.

use crate::error::DomainError;
use crate::health::{Pause, Reserve};
use crate::server::Server;
use crate::shard::{COMMITTER, Committer};
use std::rc::Rc;
use std::sync::Weak;
use std::sync::atomic::Ordering;
use std::time::Duration;
use storage::disk::{self, Space};
use storage::{Projection, ProjectionSender, StoreError};
use tokio::sync::oneshot;

/// How often free space is checked.
const SPACE_TICK: Duration = Duration::from_secs(1);

/// Delay after the first failed attempt; each further one is twice as long.
const RETRY_MIN: Duration = Duration::from_millis(200);

/// Longest delay between two attempts.
const RETRY_MAX: Duration = Duration::from_secs(5);

impl Server {
    /// Monitors the disk until the server stops.
    pub(crate) async fn watch_storage(server: Weak<Self>) {
        let mut wait = SPACE_TICK;
        let mut retry = RETRY_MIN;
        loop {
            let Some(health) = server.upgrade().map(|server| server.health.clone()) else { return };
            let _ = tokio::time::timeout(wait, health.failed.notified()).await;
            let Some(server) = server.upgrade() else { return };
            server.find_late_failures().await;
            let recovered = server.recover_storage().await;
            server.update_free_space();
            wait = SPACE_TICK;
            match recovered {
                Ok(()) => retry = RETRY_MIN,
                Err(DomainError::Stopping) => return,
                Err(error) => {
                    // Logged once: it may take days until there is room.
                    if retry == RETRY_MIN {
                        tracing::warn!(%error, "changes are still refused");
                    }
                    wait = retry;
                    retry = (retry * 2).min(RETRY_MAX);
                }
            }
        }
    }

    /// Updates the free space of the storage status.
    pub(crate) fn update_free_space(&self) {
        let reserve =
            Reserve { warn_bytes: self.options.free_bytes_warn, min_bytes: self.options.free_bytes_min };
        self.health.set_space(self.space(), reserve);
    }

    /// Runs before changes are accepted again: sled writes in the background and reports a write that failed on the full disk
    /// only at the next flush, which would refuse changes right after they were accepted.
    async fn find_late_failures(&self) {
        let has_room = self.space().is_none_or(|space| space.has_room(0));
        if !self.health.is_read_only() || !has_room || self.has_trees_failure() {
            return;
        }
        let trees = self.trees.clone();
        if let Err(error) = blocking(move || trees.flush()).await {
            tracing::error!(%error, "the database in state/ cannot be written");
            self.is_behind.store(true, Ordering::SeqCst);
        }
    }

    /// The least free space of the data folder, whose parts may be on several disks.
    fn space(&self) -> Option<Space> {
        let places = [self.folder.path().to_path_buf(), self.folder.state(), self.folder.journal(0)];
        places
            .iter()
            .filter_map(|path: &std::path::PathBuf| disk::space(path))
            .min_by_key(|space| space.free_bytes)
    }

    /// Resumes stopped shards, if possible.
    async fn recover_storage(&self) -> Result<(), DomainError> {
        if self.health.paused().is_empty() && !self.has_trees_failure() {
            return Ok(());
        }
        // Stopping waits for the current attempt, and prevents further ones.
        let is_stopping = self.recovering.lock().await;
        if *is_stopping {
            return Err(DomainError::Stopping);
        }
        if self.has_trees_failure() {
            let pause = if self.is_full() { Pause::DiskFull } else { Pause::TreesFailed };
            self.pause_shards(pause, true).await?;
        }
        for (shard, _) in self.health.paused() {
            let log = self.shards[shard].log.clone();
            blocking(move || Ok(log.recover()?)).await?;
        }
        let projection = if self.has_trees_failure() { Some(self.reload().await?) } else { None };
        if self.resume(projection.clone()).await.is_err() {
            // Memory differs from the log: reload it.
            self.pause_shards(Pause::JournalFailed, false).await?;
            let projection = self.reload().await?;
            self.resume(Some(projection)).await?;
        }
        tracing::warn!("changes are accepted again");
        Ok(())
    }

    /// Whether writing the trees has failed.
    fn has_trees_failure(&self) -> bool {
        let projection = self.projection.lock();
        self.is_behind.load(Ordering::SeqCst)
            || !self.trees.is_open()
            || projection.as_ref().is_none_or(|projection| projection.sender().failure().is_some())
    }

    fn is_full(&self) -> bool {
        let failure = self.projection.lock().as_ref().and_then(|projection| projection.sender().failure());
        failure.map_or(self.space().is_some_and(|space| !space.has_room(0)), |failure| failure.is_full)
    }

    async fn resume(&self, projection: Option<ProjectionSender>) -> Result<(), DomainError> {
        for (shard, _) in self.health.paused() {
            let projection = projection.clone();
            self.on_shard(shard, move |committer| committer.resume(projection)).await??;
        }
        Ok(())
    }

    pub(crate) async fn pause_shards(
        &self,
        pause: Pause,
        allows_essential_writes: bool,
    ) -> Result<(), DomainError> {
        for shard in 0..self.shards.len() {
            self.on_shard(shard, move |committer| {
                committer.pause(pause, allows_essential_writes);
                committer.detach();
            })
            .await?;
        }
        Ok(())
    }

    /// Runs something with the commit pipeline of a shard, on its thread.
    pub(crate) async fn on_shard<T: Send + 'static>(
        &self,
        shard: usize,
        run: impl FnOnce(&Rc<Committer>) -> T + Send + 'static,
    ) -> Result<T, DomainError> {
        let (done, is_done) = oneshot::channel();
        self.shards[shard].arbiter.spawn_fn(move || {
            COMMITTER.with(|committer| {
                if let Some(committer) = committer.get() {
                    let _ = done.send(run(committer));
                }
            });
        });
        is_done.await.map_err(|_| DomainError::Stopping)
    }

    /// Rebuilds memory and trees from what is durable. No shard uses the trees' writer during this.
    async fn reload(&self) -> Result<ProjectionSender, DomainError> {
        if self.space().is_some_and(|space| !space.has_room(0)) {
            return Err(StoreError::NoRoom.into());
        }
        let stopped = self.projection.lock().take();
        if let Some(projection) = stopped {
            // The reason of its end is known.
            let _ = blocking(move || Ok(projection.close())).await?;
        }
        // After an error sled must be reopened.
        self.is_behind.store(true, Ordering::SeqCst);
        let trees = self.trees.clone();
        blocking(move || trees.reopen()).await?;
        // Memory is replaced from here on: no decisions, not even for upkeep.
        self.pause_shards(Pause::TreesFailed, false).await?;
        let loaded = self.load_all().await;
        if loaded.is_err() {
            self.pause_shards(Pause::TreesFailed, true).await?;
        }
        loaded?;
        let projection = Projection::start(self.trees.clone())?;
        let sender = projection.sender();
        *self.projection.lock() = Some(projection);
        self.is_behind.store(false, Ordering::SeqCst);
        Ok(sender)
    }

    async fn load_all(&self) -> Result<(), DomainError> {
        for realm in self.realms() {
            let (log, trees, read_cache) =
                (self.log_of(realm.id()), self.trees.clone(), self.read_cache.clone());
            blocking(move || {
                // All queued frames become durable before this returns.
                let opened = storage::open_realm(&*log, &trees, realm.id())?;
                if let Some(mut view) = opened.view {
                    view.recent.keep_read_in(&read_cache);
                    *realm.shared.view.write() = view;
                }
                Ok(())
            })
            .await?;
        }
        // Only a successful flush shows that the disk works.
        let trees = self.trees.clone();
        blocking(move || trees.flush()).await
    }

    /// Ends the monitoring: when this returns, no attempt is running and none will start.
    pub(crate) async fn stop_recovery(&self) {
        *self.recovering.lock().await = true;
        self.health.failed.notify_one();
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, DomainError> {
    let done = tokio::task::spawn_blocking(work).await;
    Ok(done.map_err(|error| DomainError::Storage(error.to_string()))??)
}
