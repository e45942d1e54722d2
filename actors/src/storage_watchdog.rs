//! Detects that a call into sled never ends, which happens after some faults of the disk. The threads that wait for it cannot be
//! ended, and the trees can be opened again only by another process: changes are refused, and the process ends itself, so that it
//! is started again. Everything that was acknowledged is in the journal.

use crate::health::Pause;
use crate::server::Server;
use crate::shard::COMMITTER;
use crate::upkeep::wait;
use std::sync::Weak;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use storage::StallWatch;

/// How often the trees are checked.
const TICK: Duration = Duration::from_secs(1);

/// Checks in a row, in which no batch, flush or other call has ended and nothing was written to the log of the trees, after which the
/// trees hang. A slow disk writes something.
const TICKS_MAX: u32 = 30;

/// Checks the trees until they hang, or the server stops.
pub(crate) fn run(server: &Weak<Server>, is_stopping: &AtomicBool) {
    let mut watch = StallWatch::default();
    while wait(TICK, is_stopping) {
        let Some(server) = server.upgrade() else { return };
        if server.check_trees(&mut watch, TICKS_MAX) {
            return;
        }
    }
}

impl Server {
    /// Gives the trees up if they hang. Returns whether they do.
    fn check_trees(&self, watch: &mut StallWatch, ticks_max: u32) -> bool {
        let ticks = watch.tick(&self.trees);
        let hangs = self.trees.is_given_up() || (watch.has_call() && ticks >= ticks_max);
        if hangs {
            self.give_up_trees();
        }
        hangs
    }

    /// Refuses changes, lets nothing wait for the trees any more, and asks for the end of the process.
    pub(crate) fn give_up_trees(&self) {
        tracing::error!(
            "the database in state/ has made no progress since a disk error; changes are refused, and the process ends, so that it \
             can be started again. No acknowledged change is lost"
        );
        self.trees.give_up();
        if let Some(projection) = self.projection.lock().as_ref() {
            projection.sender().give_up();
        }
        for shard in &self.shards {
            // Not waited for: the shard may hang in the trees, too.
            shard.arbiter.spawn_fn(|| {
                COMMITTER.with(|committer| {
                    if let Some(committer) = committer.get() {
                        committer.pause(Pause::TreesFailed, true);
                        committer.detach();
                    }
                });
            });
        }
        self.health.hangs.notify_one();
    }

    /// Waits until the trees were given up: the process has to end then, so that another one opens them. For one caller.
    pub fn trees_hang(&self) -> impl Future<Output = ()> + use<> {
        let health = self.health.clone();
        async move { health.hangs.notified().await }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use tokio::task::{spawn_blocking, yield_now};

    #[actix::test]
    async fn trees_that_hang_are_given_up_and_changes_refused() {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(fixture::options(&folder.path().join("data"))).await.unwrap();
        let trees = server.trees.clone();
        let mut watch = StallWatch::default();
        assert!(!server.check_trees(&mut watch, 3));
        let held = trees.hold_calls();
        let flushing = spawn_blocking({
            let trees = trees.clone();
            move || trees.flush()
        });
        while !server.check_trees(&mut watch, 3) {
            yield_now().await;
        }
        server.trees_hang().await;
        while server.storage_status().paused != Some(Pause::TreesFailed) {
            yield_now().await;
        }
        // Nothing waits for the trees any more.
        assert!(trees.flush().is_err());
        drop(held);
        // It ends: by its own, or refused where another call was held before it.
        let _ = flushing.await.unwrap();
        assert!(server.stop().await.is_err());
    }
}
