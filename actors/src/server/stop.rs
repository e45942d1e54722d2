//! The end of a server: accepted commands are stored, everything is closed, and a thread that hangs is left behind.

use super::Server;
use crate::error::DomainError;
use crate::shard::Committer;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use storage::{StallWatch, StoreError};
use tokio::task::spawn_blocking;

/// How long a stop waits for queued frames to be written to a journal.
const JOURNAL_WAIT: Duration = Duration::from_secs(30);

/// How long a stop waits for something while nothing goes on in the trees.
#[derive(Clone, Copy)]
struct StopTimeouts {
    /// How often it is checked whether something goes on.
    tick: Duration,
    /// Checks without progress after which a call into sled hangs.
    call_ticks: u32,
    /// The same for anything else.
    other_ticks: u32,
}

/// Fifteen seconds for a call into sled, a minute for anything else.
const STOP_TIMEOUTS: StopTimeouts =
    StopTimeouts { tick: Duration::from_millis(250), call_ticks: 60, other_ticks: 240 };

impl Server {
    fn close_sessions(&self) {
        for realm in self.realms() {
            realm.registry.queues.read().values().for_each(|queue| queue.close());
        }
    }

    /// Stops: accepted commands are stored, journal and trees are closed, the folder is unlocked. The next start adds to the
    /// trees what they lack from the journal. What hangs is left behind after a while.
    ///
    /// # Errors
    /// `Storage` when no thread can be started, and when the trees do not answer: threads that wait for them go on.
    pub async fn stop(self: Arc<Self>) -> Result<(), DomainError> {
        self.stop_with(STOP_TIMEOUTS).await
    }

    async fn stop_with(self: Arc<Self>, timeouts: StopTimeouts) -> Result<(), DomainError> {
        self.close_sessions();
        for realm in self.realms() {
            realm.shared.notifications.stop();
            realm.shared.resume.stop();
        }
        crate::outbox::stop(&self.realms()).await;
        let server = self.clone();
        self.ended("the search index", timeouts, spawn_blocking(move || server.search.stop())).await;
        if let Some(delivery) = &self.delivery {
            delivery.close();
        }
        self.ended("the recovery of the storage", timeouts, self.stop_recovery()).await;
        let server = self.clone();
        self.ended("the background work", timeouts, spawn_blocking(move || server.upkeep.stop())).await;
        for shard in 0..self.shards.len() {
            self.stop_shard(shard, timeouts).await;
        }
        self.stop_projection(timeouts).await?;
        self.ended("the node", timeouts, self.end_node()).await;
        if !self.trees.is_given_up() {
            let server = self.clone();
            let closed =
                self.ended("the folder", timeouts, spawn_blocking(move || server.close_folder())).await;
            closed.transpose().map_err(|error| DomainError::Storage(error.to_string()))?;
        }
        if self.trees.is_given_up() {
            // Left behind, as by a kill.
            self.trees.close();
            return Err(StoreError::TreesHang.into());
        }
        Ok(())
    }

    async fn stop_shard(&self, index: usize, timeouts: StopTimeouts) {
        let shard = &self.shards[index];
        let log = shard.log.clone();
        // Writes queued frames; the shard publishes them when woken.
        let _ = actix::clock::timeout(JOURNAL_WAIT, spawn_blocking(move || log.close())).await;
        shard.durability.wake();
        let close = |committer: &Rc<Committer>| {
            committer.publish_durable();
            committer.close();
        };
        self.ended("a shard", timeouts, self.on_shard(index, close)).await;
        shard.arbiter.stop();
    }

    async fn stop_projection(&self, timeouts: StopTimeouts) -> Result<(), DomainError> {
        let Some(projection) = self.projection.lock().take() else { return Ok(()) };
        let closing = spawn_blocking(move || projection.close());
        let closed = self.ended("the writer of the trees", timeouts, closing).await;
        let closed = closed.transpose().map_err(|error| DomainError::Storage(error.to_string()))?;
        if let Some(Err(error)) = closed {
            tracing::warn!(%error, "the database in state/ is incomplete; the next start completes it from the journal");
        }
        Ok(())
    }

    /// Waits for the end of something, as long as something goes on in the trees. None: it hangs, and is left behind.
    async fn ended<T>(&self, what: &str, timeouts: StopTimeouts, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        let mut watch = StallWatch::default();
        loop {
            if let Ok(done) = actix::clock::timeout(timeouts.tick, work.as_mut()).await {
                return Some(done);
            }
            let ticks = watch.tick(&self.trees);
            let ticks_max = match (self.trees.is_given_up(), watch.has_call()) {
                (true, _) => 0,
                (false, true) => timeouts.call_ticks,
                (false, false) => timeouts.other_ticks,
            };
            if ticks >= ticks_max {
                tracing::error!("the shutdown no longer waits for {what}");
                if watch.has_call() {
                    self.give_up_trees();
                }
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[actix::test]
    async fn stop_ends_although_the_trees_hang() {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(fixture::options(&folder.path().join("data"))).await.unwrap();
        let trees = server.trees.clone();
        let held = trees.hold_calls();
        let short = StopTimeouts { tick: Duration::from_millis(5), call_ticks: 4, other_ticks: u32::MAX };
        // At its end the writer of the trees flushes them, which does not return.
        let stopped = server.stop_with(short).await;
        assert!(stopped.is_err() && trees.is_given_up(), "{stopped:?}");
        drop(held);
    }
}
