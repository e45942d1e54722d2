//! The logs of organizations in PostgreSQL, for servers on several machines ("nodes"), and the tables by which the nodes
//! agree who owns which organization.
//!
//! [`PgLog`] is a `RealmLog`: an append is one statement that compares epoch and sequence, so that only one owner can ever
//! write to an organization. [`Control`] has nodes, their leases, and the directory of organizations; leases only avoid that
//! two nodes try at once.

mod append_queue;
mod connect;
mod control;
mod error;
mod log;
mod queries;
mod reader;
mod schema;
mod tls;
mod writer;

#[cfg(test)]
mod control_tests;
#[cfg(test)]
mod log_tests;
#[cfg(test)]
mod relocation_tests;
#[cfg(test)]
mod shared_tests;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod testing_nodes;

pub use connect::Database;
pub use control::{
    Arrival, Control, Identity, Known, Lease, Node, Organization, RelocatedOut, Secret, ServingState, Slot,
    Standby, Table,
};
pub use error::PgError;
pub use log::{Guard, PgLog, PgLogOptions};
pub use schema::Requirements;
