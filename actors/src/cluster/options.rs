//! Settings of a node.

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
}
