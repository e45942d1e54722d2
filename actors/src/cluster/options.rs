//! Settings of a node.

use std::sync::Arc;
use std::time::Duration;
use storage::backup::FileStore;

/// Opens the place that all nodes share, given the name of the cluster and a name that no other process has.
pub type OpenShared = Arc<dyn Fn(&str, &str) -> Result<Box<dyn FileStore>, String> + Send + Sync>;

/// How a server takes part in a cluster.
#[derive(Clone)]
pub struct ClusterOptions {
    /// The URL of the database.
    pub database: String,
    /// The name of this node.
    pub node: String,
    /// The URL at which the other nodes reach it.
    pub advertise: String,
    /// Whether a database without synchronous standbys is accepted.
    pub allow_single_copy: bool,
    /// The files that all nodes share; none if there are none.
    pub shared: Option<OpenShared>,
    /// How long the database keeps frames that are archived in those files; none: always.
    pub log_keep: Option<Duration>,
    /// How many other nodes follow each organization.
    pub standbys: usize,
}
