//! A server that is never a node of a cluster: it was built without the feature.

use super::Server;
use crate::error::DomainError;
use model::RealmId;
use storage::folder::SECRET_BYTES;

impl Server {
    /// What the keys of an organization are derived from.
    pub(super) fn secret_of(&self, realm: RealmId) -> [u8; SECRET_BYTES] {
        *self.folder.secret_of(realm)
    }

    /// Whether the logs are in a cluster's database.
    pub fn is_node(&self) -> bool {
        let () = self.node;
        false
    }

    /// The name of the cluster that the server is a node of: none.
    pub fn cluster_name(&self) -> Option<&str> {
        None
    }

    /// Starts the background work of a node: a server alone has none.
    pub(crate) fn start_node_upkeep(self: &std::sync::Arc<Self>) -> Result<(), DomainError> {
        Ok(())
    }

    pub(super) async fn join(self: &std::sync::Arc<Self>) -> Result<bool, DomainError> {
        Ok(false)
    }

    /// Whether an organization exists on another node.
    pub fn exists_elsewhere(&self, _: &str) -> bool {
        false
    }

    /// Whether an organization exists on another node, which may just have made it.
    pub async fn is_created_elsewhere(&self, _: &str) -> bool {
        false
    }

    pub(super) async fn making(&self) {}

    pub(super) async fn new_id(&self, _: &str) -> Result<RealmId, DomainError> {
        self.free_id(None)
    }

    pub(super) async fn end_node(&self) {}
}
