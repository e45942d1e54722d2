//! Placement of organizations on shards: the shard follows from the organization's id.

use model::RealmId;

/// Maps organizations to shards.
#[derive(Clone, Copy, Debug)]
pub struct Placement {
    shards: usize,
}

impl Placement {
    /// A placement over `shards` shards of this process.
    pub fn new(shards: usize) -> Self {
        Self { shards: shards.max(1) }
    }

    /// The shard of an organization.
    pub fn shard(&self, realm: RealmId) -> usize {
        realm.0 as usize % self.shards
    }
}
