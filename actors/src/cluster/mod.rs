//! A server that is one node of a cluster: which organizations it owns, which other node owns the others, and moving them.
//!
//! The tables that the nodes share (`postgres::Control`) say who owns a slot, that is, some organizations. [`reconcile`]
//! compares them again and again with what runs here: it opens what is this node's, closes what is not any more, prepares
//! what is to be moved here, hands over what another node should own, and takes over what has no live owner. The epoch of the log
//! protects an organization from two owners; everything here only decides who tries.

mod handover;
mod in_flight;
mod locate;
mod opening;
mod operator;
pub mod options;
mod reconcile;
mod relocate;
mod relocated_out;
mod shared_files;
mod standby;

use crate::DomainError;
use hmac::{Hmac, Mac};
use model::RealmId;
use parking_lot::Mutex;
use postgres::{Control, Database, Guard, Identity, Requirements, Slot, Table};
use sha2::Sha256;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;
use storage::FollowedRealm;
use storage::codec::RECORDS;
use storage::folder::SECRET_BYTES;
use tokio::sync::{RwLock, Semaphore};

use in_flight::InFlightRequests;
pub use in_flight::RequestGuard;
pub use locate::{Address, Located, NodeStatus};
pub use operator::{NodeLine, Operator, PlacedOrganization};
pub use options::{ClusterOptions, OpenShared};
pub use postgres::PgError;
pub use relocate::{Incoming, Outgoing, RelocateError, Relocated, Step, cancel_move_to_cluster};
pub use storage::shared_files::SharedFolder;

/// The number of slots that are handed over at a time.
const HANDED_OVER_AT_ONCE: usize = 2;
/// Slots that are loaded at a time before they are this node's: its own organizations need its processors, too.
const LOADED_AT_ONCE: usize = 1;

/// What a node knows of its cluster.
pub struct Cluster {
    pub(crate) control: Control,
    pub(crate) own: Identity,
    pub(crate) options: ClusterOptions,
    in_flight: Arc<InFlightRequests>,
    /// Slots that a task works on.
    busy: Mutex<HashSet<i32>>,
    /// Limits how many slots are handed over at a time.
    permits: Semaphore,
    /// Limits how many slots are loaded at a time before they are this node's.
    loads: Semaphore,
    /// Organizations that were loaded before they are this node's, or that it follows.
    prepared: Mutex<HashMap<RealmId, FollowedRealm>>,
    /// Organizations of other nodes that this one follows.
    followed: Mutex<HashSet<RealmId>>,
    /// Organizations that ran here: the newest frame that the trees have, and the newest that they will have.
    retired: Mutex<HashMap<RealmId, (Arc<AtomicU64>, u64)>>,
    /// Organizations are opened under a read lock, and made under a write lock.
    pub(crate) creating: RwLock<()>,
    /// The process is about to end: everything is handed over.
    is_leaving: AtomicBool,
}

fn requirements(options: &ClusterOptions) -> Requirements {
    Requirements { allow_single_copy: options.allow_single_copy }
}

/// Reads the URL of a database.
pub(crate) fn database(options: &ClusterOptions) -> Result<Database, DomainError> {
    Database::parse(&options.database).map_err(|error| failed(&error))
}

pub(crate) fn failed(error: &PgError) -> DomainError {
    DomainError::Storage(error.to_string())
}

impl Cluster {
    /// Connects to the cluster, if the server is to be a node of one. Blocks.
    ///
    /// # Errors
    /// `Storage` with the reason.
    pub(crate) fn connect(options: Option<&ClusterOptions>) -> Result<Option<Self>, DomainError> {
        let Some(options) = options else { return Ok(None) };
        let control =
            Control::open(database(options)?, requirements(options)).map_err(|error| failed(&error))?;
        Ok(Some(Self {
            control,
            own: Identity { name: options.node.clone(), incarnation: 0 },
            options: options.clone(),
            in_flight: Arc::default(),
            busy: Mutex::default(),
            permits: Semaphore::new(HANDED_OVER_AT_ONCE),
            loads: Semaphore::new(LOADED_AT_ONCE),
            prepared: Mutex::default(),
            followed: Mutex::default(),
            retired: Mutex::default(),
            creating: RwLock::default(),
            is_leaving: AtomicBool::new(false),
        }))
    }

    /// Becomes a node, once the data folder is this process's own. Blocks.
    fn register(&mut self) -> Result<(), DomainError> {
        let registered = self.control.register(&self.options.node, &self.options.advertise, RECORDS);
        self.own = registered.map_err(|error| failed(&error))?;
        let Identity { name, incarnation } = &self.own;
        tracing::info!(cluster = self.control.name(), node = name, incarnation, "joined the cluster");
        Ok(())
    }

    /// The secret of all nodes.
    pub(crate) fn secret(&self) -> Result<[u8; SECRET_BYTES], DomainError> {
        let secret = self.control.secret().try_into();
        secret.map_err(|_| DomainError::Storage("the secret of the cluster has another length".into()))
    }

    /// The name of the cluster.
    pub fn name(&self) -> &str {
        self.control.name()
    }

    /// Shows the other nodes that a node has passed on a request. Hexadecimal.
    pub fn hop_key(&self) -> String {
        self.key_for(b"requests between the nodes of a cluster")
    }

    /// Shows the other nodes that a question is a node's own, and not the request of a client that it passes on. Hexadecimal.
    pub fn query_key(&self) -> String {
        self.key_for(b"questions between the nodes of a cluster")
    }

    fn key_for(&self, purpose: &[u8]) -> String {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(self.control.secret()).expect("HMAC takes keys of any length");
        mac.update(purpose);
        mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn guard(&self) -> Guard {
        Guard { node: self.own.name.clone(), incarnation: self.own.incarnation }
    }

    /// The newest copy of the control tables.
    pub fn table(&self) -> Arc<Table> {
        self.control.table().borrow().clone()
    }

    /// Waits until the tables were read again, or for `limit`.
    pub async fn changed(&self, limit: Duration) {
        let mut table = self.control.table();
        table.mark_unchanged();
        let _ = tokio::time::timeout(limit, table.changed()).await;
    }

    /// Whether this node owns a slot, as far as it knows.
    fn owns(&self, slot: &Slot) -> bool {
        slot.owner.as_ref() == Some(&self.own)
    }

    /// Enters a new organization of this node in the directory; none if the subdomain is in use. Blocks.
    pub(crate) fn make(&self, subdomain: &str) -> Result<Option<RealmId>, PgError> {
        Ok(self.control.create(&self.own, subdomain)?.map(RealmId))
    }

    /// The id of an organization that this node owns by the tables.
    pub(crate) fn own_organization(&self, subdomain: &str) -> Option<RealmId> {
        let table = self.table();
        let found = table.organization(subdomain)?;
        table.slots.get(&found.slot).filter(|slot| self.owns(slot)).map(|_| RealmId(found.realm))
    }

    /// Whether this node may answer for what it owns.
    pub fn is_ready(&self) -> bool {
        self.is_ready_with(&self.table())
    }

    /// Whether this node may answer by a copy of the tables: one from before the lease may not know that others own something
    /// now.
    fn is_ready_with(&self, table: &Table) -> bool {
        let since = self.control.lease().valid_since();
        since.zip(table.read_at).is_some_and(|(since, read_at)| since <= read_at)
    }

    /// For how long this node has had no lease; none while it has one, and if it never had.
    pub fn lapsed_for(&self) -> Option<Duration> {
        self.control.lease().lapsed_for()
    }

    /// Where the other nodes are reached that had a lease when the tables were last read.
    pub fn peers(&self) -> Vec<String> {
        let table = self.table();
        let others =
            table.nodes.values().filter(|node| node.identity.name != self.own.name && node.is_alive());
        others.map(|node| node.advertise.clone()).collect()
    }
}
