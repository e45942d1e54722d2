//! A server that is never a node of a cluster: it was built without the feature.

use super::{OpenLog, Server};
use crate::error::DomainError;
use crate::options::Options;
use model::RealmId;
use storage::checkpoint::Started;
use storage::{DataFolder, Trees};

/// What a server is in a cluster: nothing.
pub(super) type Node = ();

/// What a server starts with.
pub(super) struct Data {
    pub folder: DataFolder,
    pub logs: Vec<OpenLog>,
    pub trees: Trees,
    pub started: Option<Vec<Started>>,
    pub node: Node,
}

/// Opens the data folder, the journals and the trees.
pub(super) fn open_data(options: &Options) -> Result<Data, DomainError> {
    let mut secret = [0u8; storage::folder::SECRET_BYTES];
    getrandom::fill(&mut secret).map_err(|error| DomainError::Storage(error.to_string()))?;
    let folder = DataFolder::open(&options.data, options.shards, secret)?;
    folder.check_journals()?;
    let (logs, trees, started) = crate::opening::open_data(&folder, options)?;
    Ok(Data { folder, logs, trees, started, node: () })
}

impl Server {
    /// Whether the logs are in a cluster's database.
    pub(crate) fn is_node(&self) -> bool {
        false
    }

    pub(super) async fn join(self: &std::sync::Arc<Self>) -> Result<bool, DomainError> {
        Ok(false)
    }

    /// Whether an organization exists on another node.
    pub fn is_placed_away(&self, _: &str) -> bool {
        false
    }

    /// The same for one that another node may just have made.
    pub async fn is_made_away(&self, _: &str) -> bool {
        false
    }

    pub(super) async fn making(&self) {}

    pub(super) async fn new_id(&self, _: &str) -> Result<RealmId, DomainError> {
        self.next_id()
    }

    pub(super) async fn end_node(&self) {}
}
