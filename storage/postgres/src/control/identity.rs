//! Names of nodes.

/// A node as the others know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its name in the configuration.
    pub name: String,
    /// Counts the starts of the node: what an earlier process of it owned is not its own.
    pub incarnation: i64,
}
