//! What a server starts with, alone or as a node of a cluster.

#[cfg(feature = "cluster")]
use crate::cluster::Cluster;
use crate::error::DomainError;
use crate::opening::OpenLog;
use crate::options::Options;
use storage::checkpoint::Started;
use storage::folder::SECRET_BYTES;
use storage::{DataFolder, Trees};

/// The cluster that the server is a node of, if any.
#[cfg(feature = "cluster")]
pub(super) type Node = Option<std::sync::Arc<Cluster>>;
/// What a server without the feature is in a cluster: nothing.
#[cfg(not(feature = "cluster"))]
pub(super) type Node = ();

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
    #[cfg(feature = "cluster")]
    if let Some(cluster) = Cluster::connect(options.cluster.as_ref())? {
        return open_node(cluster, options);
    }
    let mut secret = [0u8; SECRET_BYTES];
    getrandom::fill(&mut secret).map_err(|error| DomainError::Storage(error.to_string()))?;
    let folder = DataFolder::open(&options.data, options.shards, secret)?;
    folder.check_journals()?;
    let (logs, trees, started) = crate::opening::open_data(&folder, options)?;
    Ok(Data { folder, logs, trees, started, node: Node::default() })
}

#[cfg(feature = "cluster")]
fn open_node(mut cluster: Cluster, options: &Options) -> Result<Data, DomainError> {
    let folder = DataFolder::open(&options.data, options.shards, cluster.secret()?)?;
    let (logs, trees) = cluster.open_data(&folder, options)?;
    Ok(Data { folder, logs, trees, started: None, node: Some(cluster.into()) })
}
