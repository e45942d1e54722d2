//! Handing organizations over to other nodes. Requests that arrive meanwhile wait and are passed on afterwards: clients only see a delay.

use super::Cluster;
use crate::DomainError;
use crate::handle::RealmHandle;
use crate::realm::Leave;
use crate::server::Server;
use crate::shard::Committer;
use model::RealmId;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How long requests in progress may delay a move.
const REQUESTS_MAX: Duration = Duration::from_millis(500);
const RELEASE_EVERY: Duration = Duration::from_millis(10);
/// How long what was decided may take to become durable.
const COMMITS_MAX: Duration = Duration::from_secs(2);
/// How long a node that ends waits until others have everything.
const LEAVING_MAX: Duration = Duration::from_secs(20);

impl Server {
    /// Gives a slot to the node that waits for it.
    pub(super) async fn give(self: &Arc<Self>, cluster: &Arc<Cluster>, slot: i32, target: String) {
        // One after another: each is unavailable for the shortest time, and the database takes the changes one by one anyway.
        let Ok(_permit) = cluster.permits.acquire().await else { return };
        let start = Instant::now();
        let realms: Vec<RealmId> = cluster.table().in_slot(slot).map(RealmId).collect();
        self.stop_between_requests(cluster, &realms).await;
        let (own, successor) = (cluster.clone(), target.clone());
        let given =
            tokio::task::spawn_blocking(move || own.control.hand_over(&own.own, slot, &successor)).await;
        match given {
            Ok(Ok(true)) => {
                tracing::info!(
                    slot,
                    target,
                    millis = start.elapsed().as_millis(),
                    "slot handed over to another node"
                );
            }
            Ok(Ok(false)) => {
                tracing::warn!(slot, target, "a slot could not be handed over; this node keeps it")
            }
            Ok(Err(error)) => {
                tracing::warn!(slot, target, %error, "it is unknown whether a slot was handed over; the database has its owner")
            }
            Err(error) => tracing::error!(slot, %error, "a slot could not be handed over"),
        }
        for realm in &realms {
            cluster.in_flight.open(*realm);
        }
    }

    /// Lets no request begin, waits for those in progress, and stops organizations once what was decided is durable. Requests may
    /// begin again when the organizations are opened.
    pub(super) async fn stop_between_requests(&self, cluster: &Arc<Cluster>, realms: &[RealmId]) {
        for realm in realms {
            cluster.in_flight.close(*realm);
        }
        let handles: Vec<RealmHandle> = realms.iter().filter_map(|realm| self.realm(*realm)).collect();
        let ended = async {
            // A poll may have begun just before, and not wait yet.
            loop {
                handles.iter().for_each(release_polls);
                if timeout(RELEASE_EVERY, cluster.in_flight.ended(realms)).await.is_ok() {
                    return;
                }
            }
        };
        let _ = timeout(REQUESTS_MAX, ended).await;
        for realm in realms {
            self.stop_realm(cluster, *realm, true).await;
        }
    }

    /// Stops the actors of an organization here. With `is_planned`, what was decided becomes durable before.
    pub(super) async fn stop_realm(&self, cluster: &Cluster, realm: RealmId, is_planned: bool) {
        let Some(handle) = self.realm(realm) else { return };
        handle.shared.notifications.stop();
        handle.shared.resume.stop();
        handle.shared.outbox.begin_stop();
        if is_planned {
            let _ = timeout(COMMITS_MAX, self.after_commits(&handle)).await;
        }
        let remove = move |committer: &Rc<Committer>| committer.remove_realm(realm);
        if let Err(error) = self.on_shard(self.placement.shard(realm), remove).await {
            tracing::error!(%realm, %error, "the organization could not be stopped");
        }
        handle.actor.do_send(Leave);
        self.remove_handle(&handle);
        let view = handle.shared.view.read();
        let retired = (view.recent.stored(), view.progress.sequence.0);
        drop(view);
        cluster.retired.lock().insert(realm, retired);
        // What lingers in the queue of the trees' writer is wanted soon if the organization returns.
        if let Some(projection) = self.projection.lock().as_ref() {
            projection.sender().write_queued();
        }
    }

    async fn after_commits(&self, handle: &RealmHandle) -> Result<(), DomainError> {
        let (done, is_done) = oneshot::channel();
        let shared = handle.shared.clone();
        let wait = move |committer: &Rc<Committer>| {
            committer.after_pending_commits(&shared, Box::new(move |result| drop(done.send(result))));
        };
        self.on_shard(self.placement.shard(handle.id()), wait).await?;
        is_done.await.unwrap_or(Err(DomainError::Stopping))
    }

    /// Hands everything over, before the process ends. Without another node, or when it takes too long, what is left is taken
    /// after the lease.
    pub async fn leave_cluster(self: &Arc<Self>) {
        let Some(cluster) = self.cluster().cloned() else { return };
        cluster.is_leaving.store(true, Ordering::SeqCst);
        cluster.control.refresh();
        let start = Instant::now();
        while cluster.has_successors() && !self.realms().is_empty() && start.elapsed() < LEAVING_MAX {
            cluster.changed(Duration::from_millis(100)).await;
        }
    }

    /// Ends the lease: no other node needs to wait for it.
    pub(crate) async fn end_lease(&self) {
        let Some(cluster) = self.cluster().cloned() else { return };
        let left = tokio::task::spawn_blocking(move || cluster.control.leave(&cluster.own)).await;
        if let Ok(Err(error)) = left {
            tracing::warn!(%error, "the lease could not be ended; the other nodes wait until it expires");
        }
    }
}

/// Answers waiting polls: their clients ask again, and are passed on.
fn release_polls(handle: &RealmHandle) {
    for queue in handle.registry.queues.read().values() {
        queue.release();
    }
}
