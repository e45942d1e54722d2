//! The control tables: nodes with their leases, slots with their owners, and the directory of organizations.
//!
//! A node renews its lease on a thread of its own, and keeps a copy of the tables that it renews when another node notifies it,
//! and once a second. The lease ends earlier for its owner than for all other nodes: the owner counts on its own monotonic
//! clock from before the renewal was sent.

mod changes;
mod identity;
mod lease;
mod relocation;
mod standby;
mod table;
mod upgrade;

use crate::connect::Database;
use crate::error::PgError;
use crate::queries::{Param, Queries};
use crate::schema::{self, Requirements};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot, watch};

pub use identity::Identity;
pub use lease::Lease;
pub use relocation::{Arrival, Known, ServingState};
pub use standby::Standby;
pub use table::{Node, Organization, RelocatedOut, Secret, Slot, Table};

/// How long a change of the control tables may be interrupted by a failover.
const PATIENCE: Duration = Duration::from_secs(40);

/// The control tables, for one process.
pub struct Control {
    database: Arc<Database>,
    handle: Handle,
    queries: Queries,
    /// The cluster's name and the secret that its nodes share.
    name: String,
    secret: Vec<u8>,
    table: watch::Receiver<Arc<Table>>,
    /// Woken to read the tables now.
    refresh: Arc<Notify>,
    lease: Arc<Lease>,
    /// Ends the thread when it is dropped.
    _stop: oneshot::Sender<()>,
}

/// Unless the cluster may have records that the node cannot read. The row of the cluster is locked against an upgrade meanwhile.
const REGISTER: &str = "
WITH readable AS (SELECT 1 FROM millstream.cluster WHERE records <= $3 FOR SHARE)
INSERT INTO millstream.node (name, incarnation, advertise, lease_until, records)
SELECT $1, 1, $2, clock_timestamp(), $3 FROM readable
ON CONFLICT (name) DO UPDATE
    SET incarnation = node.incarnation + 1, advertise = $2, is_draining = false, records = $3
RETURNING incarnation";

impl Control {
    /// Connects, checks the server, makes the tables if there are none, and starts the thread. Blocks.
    ///
    /// # Errors
    /// Those of connecting; [`PgError::Unsafe`].
    pub fn open(database: Database, requirements: Requirements) -> Result<Self, PgError> {
        let database = Arc::new(database);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let queries = Queries::new(database.clone(), handle.clone());
        let (started, starting) = sync_channel(1);
        let (stop, stopped) = oneshot::channel::<()>();
        let (sender, table) = watch::channel(Arc::<Table>::default());
        let refresh = Arc::new(Notify::new());
        let refresher = table::Refresher::new(database.clone(), sender, refresh.clone());
        let (thread_database, thread_queries) = (database.clone(), queries.clone());
        std::thread::Builder::new().name("pg-control".to_owned()).spawn(move || {
            runtime.block_on(async move {
                let begun = begin(&thread_database, &thread_queries, requirements).await;
                let is_ready = begun.is_ok();
                let _ = started.send(begun);
                if is_ready {
                    tokio::spawn(refresher.run());
                    let _ = stopped.await;
                }
            });
        })?;
        let (name, secret) = starting.recv().map_err(|_| PgError::Closed)??;
        let lease = Arc::default();
        Ok(Self { database, handle, queries, name, secret, table, refresh, lease, _stop: stop })
    }

    /// Makes this process a node, which reads records up to version `records` and renews its lease from now on. Its former process
    /// owns nothing any more. Blocks.
    ///
    /// # Errors
    /// [`PgError::TooOld`], those of the database.
    pub fn register(&self, name: &str, advertise: &str, records: i32) -> Result<Identity, PgError> {
        let params: Vec<Param> =
            vec![Box::new(name.to_owned()), Box::new(advertise.to_owned()), Box::new(records)];
        let rows = self.queries.run(REGISTER, params, PATIENCE)?;
        let Some(row) = rows.first() else {
            return Err(PgError::TooOld { found: self.records()?, known: records });
        };
        let incarnation = row.get(0);
        let identity = Identity { name: name.to_owned(), incarnation };
        let keeping =
            lease::keep(self.database.clone(), identity.clone(), self.lease.clone(), self.refresh.clone());
        self.handle.spawn(keeping);
        Ok(identity)
    }

    /// The name of the cluster.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The secret that the nodes share.
    pub fn secret(&self) -> &[u8] {
        &self.secret
    }

    /// The lease of this node.
    pub fn lease(&self) -> &Arc<Lease> {
        &self.lease
    }

    /// The newest copy of the tables, and how to wait for the next one.
    pub fn table(&self) -> watch::Receiver<Arc<Table>> {
        self.table.clone()
    }

    /// Reads the tables now.
    pub fn refresh(&self) {
        self.refresh.notify_one();
    }

    fn change(&self, sql: &'static str, params: Vec<Param>) -> Result<Vec<tokio_postgres::Row>, PgError> {
        let rows = self.queries.run(sql, params, PATIENCE)?;
        self.refresh();
        Ok(rows)
    }
}

async fn begin(
    database: &Database,
    queries: &Queries,
    requirements: Requirements,
) -> Result<(String, Vec<u8>), PgError> {
    schema::prepare(database, requirements).await?;
    let rows = queries.repeat("SELECT name, secret FROM millstream.cluster", &[], PATIENCE).await?;
    let row = rows.first().ok_or(PgError::Closed)?;
    Ok((row.get(0), row.get(1)))
}
