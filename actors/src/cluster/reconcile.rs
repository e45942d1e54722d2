//! Compares the control tables with what runs here, and does what is missing.

use super::Cluster;
use crate::server::Server;
use model::RealmId;
use postgres::{PgError, Slot, Standby, Table};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::future::Future;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How often it compares without a change of the tables.
const TICK: Duration = Duration::from_millis(500);
/// For how long this node must have had its lease before it takes what others own: after an outage of the database all leases
/// have ended, and their owners must have the time to renew them.
const LEASE_HELD_MIN: Duration = Duration::from_secs(6);
/// By how much the nodes that are not the first choice for a slot wait.
const SECOND_CHOICE: Duration = Duration::from_secs(3);

/// What is to be done with a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Task {
    Open,
    Prepare,
    Give(String),
    AskToMove(String),
}

/// A slot without a live owner.
#[derive(Clone, Copy, Debug)]
struct Orphan {
    slot: i32,
    /// For how long this node could have taken it.
    waited: Duration,
}

/// The orphans that a node takes: those of which it is the first choice, and those that the first choice did not take.
fn to_take(orphans: &[Orphan], candidates: &[String], standbys: &[Standby], own: &str) -> Vec<i32> {
    let is_taken = |orphan: &&Orphan| {
        orphan.waited >= SECOND_CHOICE || first_choice(orphan.slot, candidates, standbys) == Some(own)
    };
    orphans.iter().filter(is_taken).map(|orphan| orphan.slot).collect()
}

/// The node that takes a slot: the standby that is least behind, else the one that the nodes prefer for it.
fn first_choice<'c>(slot: i32, candidates: &'c [String], standbys: &[Standby]) -> Option<&'c str> {
    let lag = |name: &str| {
        let own = standbys.iter().find(|standby| standby.slot == slot && standby.node == name);
        own.map_or(i64::MAX, |standby| standby.lag)
    };
    let best = candidates.iter().min_by_key(|name| (lag(name), Reverse(rank(name, slot))));
    best.map(String::as_str)
}

impl Cluster {
    /// Nodes that could own what this one hands over.
    fn successors<'t>(&self, table: &'t Table) -> Vec<&'t str> {
        let nodes = table.nodes.values();
        let others =
            nodes.filter(|node| node.is_alive() && !node.is_draining && node.identity.name != self.own.name);
        others.map(|node| node.identity.name.as_str()).collect()
    }

    /// Whether there is another node.
    pub(super) fn has_successors(&self) -> bool {
        !self.successors(&self.table()).is_empty()
    }

    fn is_leaving(&self, table: &Table) -> bool {
        let is_draining = table.nodes.get(&self.own.name).is_some_and(|own| own.is_draining);
        is_draining || self.is_leaving.load(Ordering::SeqCst)
    }

    /// What is to be done with a slot that has organizations.
    fn task(&self, table: &Table, slot: &Slot, is_running: bool) -> Option<Task> {
        if !self.owns(slot) {
            let is_target = slot.target.as_ref() == Some(&self.own.name);
            return (is_target && !slot.is_prepared).then_some(Task::Prepare);
        }
        if !is_running {
            return Some(Task::Open);
        }
        let successors = self.successors(table);
        match &slot.target {
            Some(target) if successors.contains(&target.as_str()) => {
                slot.is_prepared.then(|| Task::Give(target.clone()))
            }
            _ if self.is_leaving(table) => {
                let best = successors.into_iter().max_by_key(|name| rank(name, slot.slot));
                best.map(|best| Task::AskToMove(best.to_owned()))
            }
            _ => None,
        }
    }

    /// Slots without a live owner.
    fn orphans(&self, table: &Table) -> Vec<Orphan> {
        let lease = self.control.lease().valid_for();
        if self.is_leaving(table) || lease.is_zero() {
            return Vec::new();
        }
        let used: BTreeSet<i32> = table.organizations.values().map(|found| found.slot).collect();
        let orphan = |slot: &Slot| {
            let waited = match &slot.owner {
                Some(owner) if owner.name == self.own.name && owner.incarnation >= self.own.incarnation => {
                    return None;
                }
                Some(owner) if owner.name != self.own.name => {
                    // The owner's lease is over for as long as it would have to be waited for.
                    let over = table.nodes.get(&owner.name).map_or(0.0, |node| -node.lease_secs);
                    let held = lease.checked_sub(LEASE_HELD_MIN).filter(|_| table.live(owner).is_none())?;
                    held.min(Duration::try_from_secs_f64(over).ok()?)
                }
                // Without an owner, or of this node's former process.
                Some(_) | None => Duration::MAX,
            };
            Some(Orphan { slot: slot.slot, waited })
        };
        table.slots.values().filter(|slot| used.contains(&slot.slot)).filter_map(orphan).collect()
    }

    /// Runs a task for a slot, unless another one is running.
    pub(super) fn run(self: &Arc<Self>, slot: i32, task: impl Future<Output = ()> + 'static) {
        if !self.busy.lock().insert(slot) {
            return;
        }
        let cluster = self.clone();
        actix::spawn(async move {
            task.await;
            cluster.busy.lock().remove(&slot);
            cluster.control.refresh();
        });
    }
}

/// The preference of a node for a slot: the same on all nodes, and different for each slot.
pub(super) fn rank(node: &str, slot: i32) -> u64 {
    let mut hasher = DefaultHasher::new();
    (node, slot).hash(&mut hasher);
    hasher.finish()
}

impl Server {
    /// Compares and acts until the server ends.
    pub(crate) async fn run_cluster(server: Weak<Self>, cluster: Arc<Cluster>) {
        let mut table = cluster.control.table();
        loop {
            {
                let Some(server) = server.upgrade() else { return };
                server.reconcile(&cluster).await;
            }
            let Some(health) = server.upgrade().map(|server| server.health.clone()) else { return };
            tokio::select! {
                changed = tokio::time::timeout(TICK, table.changed()) => {
                    if matches!(changed, Ok(Err(_))) {
                        return;
                    }
                }
                () = health.fence_noted.notified() => {}
            }
        }
    }

    async fn reconcile(self: &Arc<Self>, cluster: &Arc<Cluster>) {
        for realm in self.health.take_fenced() {
            self.stop_realm(cluster, realm, false).await;
            cluster.control.refresh();
        }
        let table = cluster.table();
        if table.read_at.is_none() {
            return;
        }
        self.close_lost(cluster, &table).await;
        self.close_relocated_out(cluster, &table);
        let used: BTreeSet<i32> = table.organizations.values().map(|found| found.slot).collect();
        for slot in used.iter().filter_map(|slot| table.slots.get(slot)) {
            let is_running = table.in_slot(slot.slot).all(|realm| self.realm(RealmId(realm)).is_some());
            if let Some(task) = cluster.task(&table, slot, is_running) {
                self.begin(cluster, slot.slot, task);
            }
        }
        let followed = cluster.followed.lock().clone();
        let is_near = |realm: RealmId| {
            let slot = table.slot_of(realm.0);
            let is_own = |slot: &Slot| cluster.owns(slot) || slot.target.as_ref() == Some(&cluster.own.name);
            followed.contains(&realm) || slot.is_some_and(is_own)
        };
        cluster.forget_prepared(is_near);
        self.claim(cluster, &table);
        metrics::gauge!("millstream_cluster_organizations_owned").set(self.realms().len() as f64);
    }

    /// Closes what another node owns by the tables. Its log has fenced this one, or will.
    async fn close_lost(&self, cluster: &Arc<Cluster>, table: &Table) {
        for handle in self.realms() {
            let id = handle.id();
            let slot = table.slot_of(id.0);
            // What is not in the tables yet was just made.
            if slot.is_some_and(|slot| !cluster.owns(slot) && !cluster.busy.lock().contains(&slot.slot)) {
                tracing::warn!(
                    realm = id.0,
                    "the organization belongs to another node now; it is closed here"
                );
                self.stop_realm(cluster, id, false).await;
            }
        }
    }

    fn begin(self: &Arc<Self>, cluster: &Arc<Cluster>, slot: i32, task: Task) {
        let (server, own) = (self.clone(), cluster.clone());
        match task {
            Task::Open => cluster.run(slot, async move { server.open_slot(&own, slot).await }),
            Task::Give(target) => cluster.run(slot, async move { server.give(&own, slot, target).await }),
            Task::Prepare => cluster.run(slot, async move { server.prepare_slot(&own, slot).await }),
            Task::AskToMove(target) => cluster.run(slot, async move {
                let asked =
                    tokio::task::spawn_blocking(move || own.control.request_move(slot, &target)).await;
                if let Ok(Err(error)) = asked {
                    tracing::warn!(slot, %error, "a slot cannot be moved yet; it is tried again");
                }
            }),
        }
    }

    async fn open_slot(self: &Arc<Self>, cluster: &Arc<Cluster>, slot: i32) {
        let realms: Vec<RealmId> = cluster.table().in_slot(slot).map(RealmId).collect();
        for realm in realms {
            if let Err(error) = self.open_owned(cluster, realm).await {
                tracing::error!(%realm, %error, "the organization cannot be opened");
                tokio::time::sleep(TICK).await;
            }
        }
    }

    async fn prepare_slot(self: &Arc<Self>, cluster: &Arc<Cluster>, slot: i32) {
        let Ok(_turn) = cluster.loads.acquire().await else { return };
        let realms: Vec<RealmId> = cluster.table().in_slot(slot).map(RealmId).collect();
        let (own, server) = (cluster.clone(), self.clone());
        let prepared = tokio::task::spawn_blocking(move || {
            for realm in realms {
                // The second time it reads what came while it read the first time.
                for _ in 0..2 {
                    own.prepare(&*server.log_of(realm), &server.trees, realm)
                        .map_err(|error| error.to_string())?;
                }
            }
            own.control.note_prepared(&own.own, slot).map_err(|error| error.to_string())
        });
        if let Ok(Err(error)) = prepared.await {
            tracing::error!(slot, error, "a slot cannot be moved to this node");
            tokio::time::sleep(TICK).await;
        }
    }

    fn claim(self: &Arc<Self>, cluster: &Arc<Cluster>, table: &Table) {
        let orphans = cluster.orphans(table);
        let Some(first) = orphans.first().map(|orphan| orphan.slot) else { return };
        let mut candidates: Vec<String> = cluster.successors(table).into_iter().map(str::to_owned).collect();
        candidates.push(cluster.own.name.clone());
        let own = cluster.clone();
        let claim = move || {
            let standbys = own.control.standbys()?;
            let slots = to_take(&orphans, &candidates, &standbys, &own.own.name);
            if slots.is_empty() { Ok(slots) } else { own.control.claim(&own.own, slots) }
        };
        cluster.run(-1 - first, async move {
            match tokio::task::spawn_blocking(claim).await {
                // Another node is to take them first.
                Ok(Ok(taken)) if taken.is_empty() => tokio::time::sleep(TICK).await,
                Ok(Ok(taken)) => {
                    metrics::counter!("millstream_cluster_takeovers_total").increment(taken.len() as u64);
                    tracing::info!(slots = taken.len(), "slots without an owner were taken over");
                }
                Ok(Err(error)) => {
                    let error: PgError = error;
                    tracing::warn!(%error, "slots without an owner could not be taken over");
                }
                Err(error) => tracing::error!(%error, "slots without an owner could not be taken over"),
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standby(slot: i32, node: &str, lag: i64) -> Standby {
        Standby { slot, node: node.to_owned(), lag }
    }

    #[test]
    fn standby_that_is_least_behind_takes_a_slot_first() {
        let nodes = ["a", "b", "c"].map(str::to_owned);
        let standbys = [standby(7, "b", 20), standby(7, "c", 3), standby(8, "a", 0), standby(7, "gone", 0)];
        assert_eq!(first_choice(7, &nodes, &standbys), Some("c"));
        assert_eq!(first_choice(8, &nodes, &standbys), Some("a"));
        // Without a standby, all nodes agree on one.
        let preferred = first_choice(9, &nodes, &standbys).unwrap();
        assert!(nodes.iter().all(|node| rank(node, 9) <= rank(preferred, 9)));
        let orphan = |slot, waited| Orphan { slot, waited };
        let orphans = [orphan(7, Duration::ZERO), orphan(8, Duration::ZERO)];
        assert_eq!(to_take(&orphans, &nodes, &standbys, "c"), [7]);
        assert_eq!(to_take(&orphans, &nodes, &standbys, "a"), [8]);
        assert_eq!(to_take(&orphans, &nodes, &standbys, "b"), [] as [i32; 0]);
        // The first choice did not take it.
        assert_eq!(to_take(&[orphan(7, SECOND_CHOICE)], &nodes, &standbys, "b"), [7]);
    }
}
