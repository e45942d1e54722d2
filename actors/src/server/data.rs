//! What a server starts with, alone or as a node of a cluster.

use crate::cluster::Cluster;
use crate::error::DomainError;
use crate::opening::OpenLog;
use crate::options::Options;
use std::sync::Arc;
use storage::checkpoint::Started;
use storage::{DataFolder, Trees};

/// The cluster that the server is a node of, if any.
pub(super) type Node = Option<Arc<Cluster>>;

/// What a server starts with.
pub(super) struct Data {
    pub folder: DataFolder,
    pub logs: Vec<OpenLog>,
    pub trees: Trees,
    pub started: Option<Vec<Started>>,
    pub node: Node,
}

/// Opens the data folder, the logs and the trees.
pub(super) fn open_data(options: &Options) -> Result<Data, DomainError> {
    let cluster = Cluster::connect(options.cluster.as_ref())?;
    let mut secret = [0u8; storage::folder::SECRET_BYTES];
    match &cluster {
        Some(cluster) => secret = cluster.secret()?,
        None => getrandom::fill(&mut secret).map_err(|error| DomainError::Storage(error.to_string()))?,
    }
    let folder = DataFolder::open(&options.data, options.shards, secret)?;
    let Some(mut cluster) = cluster else {
        folder.check_journals()?;
        let (logs, trees, started) = crate::opening::open_data(&folder, options)?;
        return Ok(Data { folder, logs, trees, started, node: None });
    };
    let (logs, trees) = cluster.open_data(&folder, options)?;
    Ok(Data { folder, logs, trees, started: None, node: Some(Arc::new(cluster)) })
}
