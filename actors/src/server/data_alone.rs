//! What a server starts with, if it was built without the feature of clusters.

use crate::error::DomainError;
use crate::opening::OpenLog;
use crate::options::Options;
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
