//! Standbys: this node follows the logs of some organizations that other nodes own, so that it has little left to read when it
//! takes them over. What it follows answers no request and writes nothing to the log.

use super::Cluster;
use super::reconcile::rank;
use crate::server::Server;
use model::RealmId;
use postgres::Table;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// How often the ends of the logs are compared with what is applied.
const TICK: Duration = Duration::from_millis(500);
/// An organization that is behind by fewer frames is left until `FOLLOW_EVERY` is over: reading frames one by one costs more.
const LAG_MIN: u64 = 256;
const FOLLOW_EVERY: Duration = Duration::from_secs(3);
/// Frames that are applied at a time. Then the organizations that this node owns have the processor for as long.
const FRAMES_MAX: u64 = 2_048;
const REST_MAX: Duration = Duration::from_millis(200);
/// How often the database gets to know how far behind this node is.
const NOTE_EVERY: Duration = Duration::from_secs(2);
/// Time until an organization is tried again after a failure.
const RETRY: Duration = Duration::from_secs(30);
/// At most this many organizations are followed, and no further one once they have this many messages.
const ORGANIZATIONS_MAX: usize = 2_000;
const MESSAGES_MAX: u64 = 50_000_000;

/// How far an organization is followed.
#[derive(Default)]
struct Followed {
    sequence: u64,
    at: Option<Instant>,
    failed: Option<Instant>,
}

impl Followed {
    fn is_due(&self, head: u64) -> bool {
        let lag = head.saturating_sub(self.sequence);
        let is_rested = self.at.is_none_or(|at| at.elapsed() >= FOLLOW_EVERY);
        let may_try = self.failed.is_none_or(|failed| failed.elapsed() >= RETRY);
        may_try && lag > 0 && (lag >= LAG_MIN || is_rested)
    }
}

/// What this node follows.
#[derive(Default)]
struct Standbys {
    known: HashMap<RealmId, Followed>,
    noted: BTreeMap<i32, i64>,
    noted_at: Option<Instant>,
}

/// The slots that a node follows: those of live nodes and of nodes that are gone, for which it is one of the first choices.
fn followed_slots(table: &Table, own: &str, count: usize) -> BTreeSet<i32> {
    let nodes = table.nodes.values().filter(|node| node.is_alive() && !node.is_draining);
    let names: Vec<&str> = nodes.map(|node| node.identity.name.as_str()).collect();
    let is_followed = |slot: &&postgres::Slot| {
        let Some(owner) = &slot.owner else { return false };
        // What is to be moved here is loaded for that.
        if owner.name == own || slot.target.as_deref() == Some(own) || !names.contains(&own) {
            return false;
        }
        let is_better = |name: &&&str| {
            **name != owner.name && **name != own && rank(name, slot.slot) > rank(own, slot.slot)
        };
        names.iter().filter(is_better).count() < count
    };
    table.slots.values().filter(is_followed).map(|slot| slot.slot).collect()
}

/// The organizations in some slots, by slot.
fn organizations(table: &Table, slots: &BTreeSet<i32>) -> Vec<(i32, RealmId)> {
    let found = table.organizations.values().filter(|found| slots.contains(&found.slot));
    let mut found: Vec<(i32, RealmId)> = found.map(|found| (found.slot, RealmId(found.realm))).collect();
    found.sort_unstable();
    found.truncate(ORGANIZATIONS_MAX);
    found
}

impl Server {
    /// Follows organizations until the server ends.
    pub(crate) async fn run_standbys(server: Weak<Self>, cluster: Arc<Cluster>) {
        let (mut standbys, mut has_caught_up) = (Standbys::default(), false);
        if cluster.options.standbys == 0 {
            return;
        }
        loop {
            tokio::time::sleep(TICK).await;
            let Some(server) = server.upgrade() else { return };
            // What this node owns comes first.
            has_caught_up = has_caught_up || cluster.has_caught_up(&server);
            if has_caught_up && cluster.is_ready() {
                standbys.advance(&server, &cluster).await;
            }
        }
    }
}

impl Standbys {
    /// Applies what is new in each organization.
    async fn advance(&mut self, server: &Arc<Server>, cluster: &Arc<Cluster>) {
        let table = cluster.table();
        let slots = followed_slots(&table, &cluster.own.name, cluster.options.standbys);
        let wanted = organizations(&table, &slots);
        *cluster.followed.lock() = wanted.iter().map(|(_, realm)| *realm).collect();
        self.known.retain(|realm, _| wanted.iter().any(|(_, wanted)| wanted == realm));
        let ids: Vec<u32> = wanted.iter().map(|(_, realm)| realm.0).collect();
        let own = cluster.clone();
        let heads = tokio::task::spawn_blocking(move || own.control.heads(&ids)).await;
        let Ok(Ok(heads)) = heads else { return };
        let mut lags: BTreeMap<i32, i64> = BTreeMap::new();
        for (slot, realm) in wanted {
            let head = heads.get(&realm.0).copied().unwrap_or_default();
            if self.known.entry(realm).or_default().is_due(head) {
                self.follow(server, cluster, (slot, realm)).await;
            }
            let sequence = self.known.get(&realm).map_or(0, |followed| followed.sequence);
            let lag = i64::try_from(head.saturating_sub(sequence)).unwrap_or(i64::MAX);
            let most = lags.entry(slot).or_default();
            *most = lag.max(*most);
        }
        metrics::gauge!("millstream_cluster_standby_organizations").set(self.known.len() as f64);
        let most = lags.values().copied().max().unwrap_or_default();
        metrics::gauge!("millstream_cluster_standby_lag_frames").set(most as f64);
        self.note(cluster, lags).await;
    }

    /// Applies the next frames of an organization, unless its slot is being worked on.
    async fn follow(&mut self, server: &Arc<Server>, cluster: &Arc<Cluster>, (slot, realm): (i32, RealmId)) {
        if !cluster.has_room_for(realm) || !cluster.busy.lock().insert(slot) {
            return;
        }
        let start = Instant::now();
        let (own, log, trees) = (cluster.clone(), server.log_of(realm), server.trees.clone());
        let task = move || {
            // It may have become this node's own since the tables were read.
            let is_own = own.table().slot_of(realm.0).is_none_or(|slot| own.owns(slot));
            if is_own { Ok(None) } else { own.follow(&*log, &trees, realm, FRAMES_MAX).map(Some) }
        };
        let applied = tokio::task::spawn_blocking(task).await;
        cluster.busy.lock().remove(&slot);
        if cluster.table().slots.get(&slot).is_some_and(|slot| cluster.is_coming(slot)) {
            // Another task for the slot may have found it busy.
            cluster.control.refresh();
        }
        let entry = self.known.entry(realm).or_default();
        entry.at = Some(Instant::now());
        match applied.map_err(|error| error.to_string()).and_then(|done| done.map_err(|e| e.to_string())) {
            Ok(Some(sequence)) => (entry.sequence, entry.failed) = (sequence, None),
            Ok(None) => {}
            Err(error) => {
                (entry.sequence, entry.failed) = (0, Some(Instant::now()));
                tracing::warn!(%realm, error, "an organization of another node cannot be followed");
            }
        }
        tokio::time::sleep(start.elapsed().min(REST_MAX)).await;
    }

    /// Lets the other nodes and operators know how far behind this node is.
    async fn note(&mut self, cluster: &Arc<Cluster>, lags: BTreeMap<i32, i64>) {
        let is_rested = self.noted_at.is_none_or(|at| at.elapsed() >= NOTE_EVERY);
        if lags == self.noted || !is_rested {
            return;
        }
        let (own, rows) = (cluster.clone(), lags.iter().map(|(slot, lag)| (*slot, *lag)).collect::<Vec<_>>());
        let noted = tokio::task::spawn_blocking(move || own.control.note_standbys(&own.own, &rows)).await;
        self.noted_at = Some(Instant::now());
        match noted {
            Ok(Ok(())) => self.noted = lags,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the state of standbys could not be recorded in the database")
            }
            Err(error) => {
                tracing::error!(%error, "the state of standbys could not be recorded in the database")
            }
        }
    }
}

impl Cluster {
    /// Whether a slot is this node's or is to be moved here.
    fn is_coming(&self, slot: &postgres::Slot) -> bool {
        self.owns(slot) || slot.target.as_ref() == Some(&self.own.name)
    }

    /// Whether an organization is in memory already, or there is room for another one.
    fn has_room_for(&self, realm: RealmId) -> bool {
        let prepared = self.prepared.lock();
        let messages: u64 = prepared.values().map(|followed| followed.view.messages.all.len()).sum();
        prepared.contains_key(&realm) || messages < MESSAGES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use postgres::{Identity, Node, Slot};

    fn table(nodes: &[&str], owners: &[&str]) -> Table {
        let identity = |name: &str| Identity { name: name.to_owned(), incarnation: 1 };
        let mut table = Table::default();
        for name in nodes {
            let node = Node {
                identity: identity(name),
                advertise: String::new(),
                lease_secs: 5.0,
                is_draining: false,
                records: 1,
            };
            table.nodes.insert((*name).to_owned(), node);
        }
        for (slot, owner) in (0..).zip(owners) {
            let owner = Some(identity(owner));
            table.slots.insert(slot, Slot { slot, owner, epoch: 1, target: None, is_prepared: false });
        }
        table
    }

    #[test]
    fn each_slot_has_as_many_standbys_as_asked_for_and_never_its_owner() {
        let nodes = ["a", "b", "c", "d"];
        let owners: Vec<&str> = nodes.into_iter().cycle().take(40).collect();
        let table = table(&nodes, &owners);
        for count in 0..=3 {
            let followed = nodes.map(|node| followed_slots(&table, node, count));
            for slot in 0..40 {
                let standbys = followed.iter().filter(|slots| slots.contains(&slot)).count();
                assert_eq!(standbys, count, "slot {slot}");
                let owner = nodes.iter().position(|node| *node == owners[slot as usize]).unwrap();
                assert!(!followed[owner].contains(&slot));
            }
        }
    }

    #[test]
    fn one_node_alone_follows_nothing_and_draining_nodes_do_not_either() {
        assert!(followed_slots(&table(&["a"], &["a", "a"]), "a", 1).is_empty());
        let mut table = table(&["a", "b"], &["a"]);
        assert_eq!(followed_slots(&table, "b", 1), BTreeSet::from([0]));
        table.nodes.get_mut("b").unwrap().is_draining = true;
        assert!(followed_slots(&table, "b", 1).is_empty());
        table.nodes.get_mut("b").unwrap().is_draining = false;
        // The slot is being moved there.
        table.slots.get_mut(&0).unwrap().target = Some("b".to_owned());
        assert!(followed_slots(&table, "b", 1).is_empty());
    }

    #[test]
    fn few_frames_wait_and_many_do_not() {
        let followed = Followed { sequence: 100, at: Some(Instant::now()), failed: None };
        assert!(
            !followed.is_due(100) && !followed.is_due(100 + LAG_MIN - 1) && followed.is_due(100 + LAG_MIN)
        );
        let rested = Followed { at: None, ..followed };
        assert!(!rested.is_due(100) && rested.is_due(101));
        let failed = Followed { failed: Some(Instant::now()), ..rested };
        assert!(!failed.is_due(1_000_000));
    }
}
