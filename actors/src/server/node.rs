//! The parts of a server that differ on a node of a cluster.

use super::Server;
use crate::cluster::{Cluster, failed};
use crate::error::DomainError;
use crate::handle::RealmHandle;
use model::RealmId;
use rules::error::OrganizationError;
use std::sync::Arc;
use std::time::{Duration, Instant};
use storage::folder::SECRET_BYTES;
use storage::{StoreError, View};
use tokio::sync::RwLockWriteGuard;

/// How long a start waits for the first lease, and for what this node owned before.
const JOIN_MAX: Duration = Duration::from_secs(30);
/// How long it takes at most to learn what another node made.
const MADE_MAX: Duration = Duration::from_secs(2);
const JOIN_TICK: Duration = Duration::from_millis(20);

impl Server {
    /// The cluster that the server is a node of, if any.
    pub fn cluster(&self) -> Option<&Arc<Cluster>> {
        self.node.as_ref()
    }

    /// The name of the cluster that the server is a node of, if any.
    pub fn cluster_name(&self) -> Option<&str> {
        self.node.as_ref().map(|cluster| cluster.name())
    }

    /// What the keys of an organization are derived from.
    pub(super) fn secret_of(&self, realm: RealmId) -> [u8; SECRET_BYTES] {
        let table = self.cluster().map(|cluster| cluster.table());
        let found = table.as_ref().and_then(|table| table.organizations.get(&realm.0)?.secret.as_ref());
        let own = found.and_then(|secret| secret.0.as_slice().try_into().ok());
        own.unwrap_or(*self.folder.secret_of(realm))
    }

    /// Whether the logs are in a cluster's database.
    pub fn is_node(&self) -> bool {
        self.node.is_some()
    }

    /// Starts the background work of a node.
    pub(crate) fn start_node_upkeep(self: &Arc<Self>) -> Result<(), DomainError> {
        self.node.as_ref().map_or(Ok(()), |cluster| self.start_shared(cluster))
    }

    /// Begins to own organizations, and waits for those that this node owned before. False for a server alone.
    pub(super) async fn join(self: &Arc<Self>) -> Result<bool, DomainError> {
        let Some(cluster) = self.cluster().cloned() else { return Ok(false) };
        actix::spawn(Self::run_cluster(Arc::downgrade(self), cluster.clone()));
        actix::spawn(Self::run_standbys(Arc::downgrade(self), cluster.clone()));
        let start = Instant::now();
        while !cluster.has_caught_up(self) && start.elapsed() < JOIN_MAX {
            tokio::time::sleep(JOIN_TICK).await;
        }
        Ok(true)
    }

    /// Whether an organization exists on another node.
    pub fn exists_elsewhere(&self, subdomain: &str) -> bool {
        let is_known = |cluster: &Arc<Cluster>| {
            cluster.table().organization(subdomain).is_some() && cluster.own_organization(subdomain).is_none()
        };
        self.cluster().is_some_and(is_known)
    }

    /// Whether an organization exists on another node. Waits a little, because it may just have been created there.
    pub async fn is_created_elsewhere(&self, subdomain: &str) -> bool {
        let Some(cluster) = self.cluster() else { return false };
        let start = Instant::now();
        while !self.exists_elsewhere(subdomain) && start.elapsed() < MADE_MAX {
            cluster.changed(JOIN_TICK).await;
        }
        self.exists_elsewhere(subdomain)
    }

    /// Held while an organization is made: none is opened meanwhile.
    pub(super) async fn making(&self) -> Option<RwLockWriteGuard<'_, ()>> {
        match &self.node {
            Some(cluster) => Some(cluster.creating.write().await),
            None => None,
        }
    }

    /// An id for a new organization; in a cluster it is in the directory from here on, as this node's.
    pub(super) async fn new_id(&self, subdomain: &str) -> Result<RealmId, DomainError> {
        let Some(cluster) = self.cluster().cloned() else { return self.free_id(None) };
        let in_use = || rules::RuleError::from(OrganizationError::subdomain_in_use(subdomain)).into();
        let name = subdomain.to_owned();
        let made = tokio::task::spawn_blocking(move || cluster.make(&name)).await;
        let made = made.map_err(|error| DomainError::Storage(error.to_string()))?;
        match made.map_err(|error| failed(&error))? {
            Some(id) => Ok(id),
            // A node that ended while it made the organization has left an empty log.
            None => self.begun(subdomain).await?.ok_or_else(in_use),
        }
    }

    /// An organization of this node that has no frame yet.
    async fn begun(&self, subdomain: &str) -> Result<Option<RealmId>, DomainError> {
        let Some(id) = self.cluster().and_then(|cluster| cluster.own_organization(subdomain)) else {
            return Ok(None);
        };
        let log = self.log_of(id);
        let is_empty =
            tokio::task::spawn_blocking(move || Ok::<_, StoreError>(log.read(id.0, 1)?.next().is_none()));
        let is_empty = is_empty.await.map_err(|error| DomainError::Storage(error.to_string()))??;
        Ok((is_empty && self.realm(id).is_none()).then_some(id))
    }

    /// Starts an organization that was opened for this node.
    pub(crate) async fn start_owned(&self, view: View, epoch: u64) -> Result<(), DomainError> {
        self.shard_of(view.realm()).durability.forget_fence(view.realm());
        self.start_realm(view, epoch).await.map(drop)
    }

    /// Forgets an organization that was stopped here.
    pub(crate) fn remove_handle(&self, handle: &RealmHandle) {
        self.search.unfollow(handle.id());
        self.addresses.remove_all(handle.id());
        let mut realms = self.realms.write();
        realms.by_id.remove(&handle.id());
        realms.by_subdomain.retain(|_, known| known.id() != handle.id());
    }

    /// Ends the lease of the node.
    pub(super) async fn end_node(&self) {
        self.end_lease().await;
    }
}
