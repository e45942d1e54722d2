//! What an operator asks of a cluster, without being a node.

use super::{ClusterOptions, database, failed, requirements};
use crate::DomainError;
use postgres::{Control, Table};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the tables may take to be read.
const READ_MAX: Duration = Duration::from_secs(10);
/// How long a move or a drain may take.
const MOVE_MAX: Duration = Duration::from_secs(300);
const TICK: Duration = Duration::from_millis(20);

/// The control tables, for an operator. All of it blocks.
pub struct Operator {
    control: Control,
}

/// A node, for an operator.
#[derive(Clone, Debug)]
pub struct NodeLine {
    pub node: String,
    pub incarnation: i64,
    pub advertise: String,
    pub is_alive: bool,
    pub is_draining: bool,
    pub lease_secs: f64,
    /// The newest version of records that it reads.
    pub records: i32,
    pub organizations: usize,
    /// Slots of other nodes that it follows, and by how many frames it is behind at most.
    pub standby_slots: usize,
    pub standby_lag: i64,
}

/// An organization and its owner.
#[derive(Clone, Debug)]
pub struct PlacedOrganization {
    pub subdomain: String,
    pub realm: u32,
    pub slot: i32,
    pub node: Option<String>,
    pub epoch: i64,
    /// Nodes that follow it, with the frames by which they are behind.
    pub standbys: Vec<(String, i64)>,
}

impl Operator {
    /// Connects.
    ///
    /// # Errors
    /// `Storage` with the reason.
    pub fn connect(options: &ClusterOptions) -> Result<Self, DomainError> {
        let control =
            Control::open(database(options)?, requirements(options)).map_err(|error| failed(&error))?;
        Ok(Self { control })
    }

    fn wait(&self, limit: Duration, is_done: impl Fn(&Table) -> bool) -> Result<Arc<Table>, DomainError> {
        let (table, start) = (self.control.table(), Instant::now());
        loop {
            let found = table.borrow().clone();
            if found.read_at.is_some() && is_done(&found) {
                return Ok(found);
            }
            if start.elapsed() > limit {
                return Err(DomainError::Storage(format!(
                    "it is not done after {} seconds",
                    limit.as_secs()
                )));
            }
            std::thread::sleep(TICK);
        }
    }

    /// The nodes, by name.
    ///
    /// # Errors
    /// `Storage` if the tables cannot be read.
    pub fn nodes(&self) -> Result<Vec<NodeLine>, DomainError> {
        let table = self.wait(READ_MAX, |_| true)?;
        let owned = |name: &str| {
            let is_own = |realm: &&u32| owner(&table, **realm).is_some_and(|owner| owner == name);
            table.organizations.keys().filter(is_own).count()
        };
        let standbys = self.standbys()?;
        let lags = |name: &str| {
            let own = standbys.iter().filter(|standby| standby.node == name);
            own.map(|standby| standby.lag).collect::<Vec<i64>>()
        };
        let line = |node: &postgres::Node| NodeLine {
            node: node.identity.name.clone(),
            incarnation: node.identity.incarnation,
            advertise: node.advertise.clone(),
            is_alive: node.is_alive(),
            is_draining: node.is_draining,
            lease_secs: node.lease_secs,
            records: node.records,
            organizations: owned(&node.identity.name),
            standby_slots: lags(&node.identity.name).len(),
            standby_lag: lags(&node.identity.name).into_iter().max().unwrap_or_default(),
        };
        Ok(table.nodes.values().map(line).collect())
    }

    fn standbys(&self) -> Result<Vec<postgres::Standby>, DomainError> {
        self.control.standbys().map_err(|error| failed(&error))
    }

    /// The organizations, by id.
    ///
    /// # Errors
    /// `Storage` if the tables cannot be read.
    pub fn organizations(&self) -> Result<Vec<PlacedOrganization>, DomainError> {
        let (table, standbys) = (self.wait(READ_MAX, |_| true)?, self.standbys()?);
        let placed = |found: &postgres::Organization| PlacedOrganization {
            subdomain: found.subdomain.clone(),
            realm: found.realm,
            slot: found.slot,
            node: owner(&table, found.realm).map(str::to_owned),
            epoch: table.slots.get(&found.slot).map_or(0, |slot| slot.epoch),
            standbys: standbys
                .iter()
                .filter(|standby| standby.slot == found.slot)
                .map(|standby| (standby.node.clone(), standby.lag))
                .collect(),
        };
        Ok(table.organizations.values().map(placed).collect())
    }

    /// The newest version of records that nodes may write.
    ///
    /// # Errors
    /// `Storage` if the tables cannot be read.
    pub fn records(&self) -> Result<i32, DomainError> {
        self.control.records().map_err(|error| failed(&error))
    }

    /// Lets nodes write what the oldest living one reads. Returns the version before and after.
    ///
    /// # Errors
    /// `Storage` without a living node, or while an older node than the others is alive, named with its version.
    pub fn upgrade(&self) -> Result<(i32, i32), DomainError> {
        let (table, before) = (self.wait(READ_MAX, |_| true)?, self.records()?);
        let living: Vec<&postgres::Node> = table.nodes.values().filter(|node| node.is_alive()).collect();
        let Some(newest) = living.iter().map(|node| node.records).max() else {
            return Err(DomainError::Storage("no node is alive".into()));
        };
        if newest <= before {
            return Ok((before, before));
        }
        if self.control.upgrade(newest).map_err(|error| failed(&error))? {
            return Ok((before, newest));
        }
        let older = living.iter().filter(|node| node.records < newest);
        let names: Vec<&str> = older.map(|node| node.identity.name.as_str()).collect();
        Err(DomainError::Storage(format!(
            "nodes read records up to version {newest}, but these do not: {}; upgrade or stop them first",
            names.join(", ")
        )))
    }

    /// Makes a node hand over what it owns, and waits until it owns nothing; or lets it take organizations again.
    ///
    /// # Errors
    /// `Storage` for an unknown node, without another node, or when it takes too long.
    pub fn drain(&self, node: &str, is_draining: bool) -> Result<(), DomainError> {
        let table = self.wait(READ_MAX, |_| true)?;
        let is_successor =
            |other: &postgres::Node| other.identity.name != node && other.is_alive() && !other.is_draining;
        if is_draining && !table.nodes.values().any(is_successor) {
            return Err(DomainError::Storage("no other node could own what it gives away".into()));
        }
        if !self.control.drain(node, is_draining).map_err(|error| failed(&error))? {
            return Err(DomainError::Storage(format!("there is no node {node}")));
        }
        if is_draining {
            let owns =
                |table: &Table| table.organizations.keys().any(|realm| owner(table, *realm) == Some(node));
            self.wait(MOVE_MAX, |table| !owns(table))?;
        }
        Ok(())
    }

    /// Moves an organization, with the others of its slot, to a node, and waits until it is there.
    ///
    /// # Errors
    /// `Storage` for an unknown organization or node, or when it takes too long.
    pub fn move_to(&self, subdomain: &str, node: &str) -> Result<(), DomainError> {
        let table = self.wait(READ_MAX, |_| true)?;
        let Some(found) = table.organization(subdomain) else {
            return Err(DomainError::Storage(format!(
                "there is no organization {subdomain:?} in the cluster"
            )));
        };
        let (realm, slot) = (found.realm, found.slot);
        if owner(&table, realm) == Some(node) {
            return Ok(());
        }
        if !self.control.request_move(slot, node).map_err(|error| failed(&error))? {
            return Err(DomainError::Storage(format!("there is no node {node} that is alive")));
        }
        self.wait(MOVE_MAX, |table| owner(table, realm) == Some(node)).map(drop)
    }
}

fn owner(table: &Table, realm: u32) -> Option<&str> {
    Some(table.slot_of(realm)?.owner.as_ref()?.name.as_str())
}
