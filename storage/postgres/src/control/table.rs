//! The copy of the control tables that a node decides by.

use super::identity::Identity;
use crate::connect::{Database, Session};
use crate::error::PgError;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};
use tokio_postgres::Row;

/// How often the tables are read without a notification.
const POLL: Duration = Duration::from_secs(1);
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// The channel of notifications about changes.
pub(super) const CHANNEL: &str = "millstream_cluster";

const NODES: &str = "
SELECT name, incarnation, advertise, extract(epoch FROM lease_until - clock_timestamp())::float8, is_draining, records
FROM millstream.node";
const SLOTS: &str = "
SELECT slot, node, incarnation, epoch, target, is_prepared FROM millstream.slot WHERE changed > $1";
/// Those that are about to leave are read each time: without the process that carries them away, they stay.
const REALMS: &str = "
SELECT realm, subdomain, slot, secret, is_closed,
    CASE WHEN place = 'leaving' AND leaving_until <= clock_timestamp() THEN 'here' ELSE place END
FROM millstream.realm WHERE changed > $1 OR place = 'leaving'";

/// A server of the cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub identity: Identity,
    /// The URL at which other nodes reach it.
    pub advertise: String,
    /// Seconds until its lease ends, by the clock of the database when the tables were read.
    pub lease_secs: f64,
    /// It gives away what it owns.
    pub is_draining: bool,
    /// The newest version of records that it reads.
    pub records: i32,
}

impl Node {
    /// Whether its lease was valid.
    pub fn is_alive(&self) -> bool {
        self.lease_secs > 0.0
    }
}

/// Organizations that are placed together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    pub slot: i32,
    pub owner: Option<Identity>,
    /// Grows with each owner.
    pub epoch: i64,
    /// The node that it is to be moved to.
    pub target: Option<String>,
    /// Whether that node has loaded what it needs.
    pub is_prepared: bool,
}

/// An organization in the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Organization {
    pub realm: u32,
    pub subdomain: String,
    pub slot: i32,
    /// What its keys are derived from, if that is not the secret of the cluster.
    pub secret: Option<Secret>,
}

/// A secret of an organization. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub Vec<u8>);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// An organization that is carried from the cluster to a data folder, or was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelocatedOut {
    pub subdomain: String,
    pub slot: i32,
    /// It may still come back, because not everything is there.
    pub is_leaving: bool,
    /// Its owner has stopped it.
    pub is_closed: bool,
}

/// A copy of the control tables.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Up to which change it is complete.
    pub version: i64,
    /// The newest version of records that nodes may write.
    pub records: i32,
    /// When it was asked for; none before the first time.
    pub read_at: Option<Instant>,
    pub nodes: BTreeMap<String, Node>,
    /// Without those that have neither an owner nor organizations.
    pub slots: BTreeMap<i32, Slot>,
    pub organizations: BTreeMap<u32, Organization>,
    /// Not to be served by any node.
    pub relocated_out: BTreeMap<u32, RelocatedOut>,
    by_subdomain: HashMap<String, u32>,
}

impl Table {
    /// The organization with a subdomain.
    pub fn organization(&self, subdomain: &str) -> Option<&Organization> {
        self.organizations.get(self.by_subdomain.get(subdomain)?)
    }

    /// The organization that is carried to a data folder, or was, with a subdomain.
    pub fn relocated_out(&self, subdomain: &str) -> Option<(u32, &RelocatedOut)> {
        let found = self.relocated_out.iter().find(|(_, relocated_out)| relocated_out.subdomain == subdomain);
        found.map(|(realm, relocated_out)| (*realm, relocated_out))
    }

    /// Takes over a row of the directory.
    fn place(&mut self, row: &Row) {
        let (realm, subdomain, slot): (i64, String, i32) = (row.get(0), row.get(1), row.get(2));
        let (realm, place): (u32, &str) = (realm as u32, row.get(5));
        if let Some(before) = self.organizations.remove(&realm) {
            self.by_subdomain.remove(&before.subdomain);
        }
        self.relocated_out.remove(&realm);
        match place {
            "here" => {
                self.by_subdomain.insert(subdomain.clone(), realm);
                let secret = row.get::<_, Option<Vec<u8>>>(3).map(Secret);
                self.organizations.insert(realm, Organization { realm, subdomain, slot, secret });
            }
            "leaving" | "away" => {
                let (is_leaving, is_closed) = (place == "leaving", row.get(4));
                self.relocated_out.insert(realm, RelocatedOut { subdomain, slot, is_leaving, is_closed });
            }
            // Not complete yet.
            _ => {}
        }
    }

    /// The slot of an organization.
    pub fn slot_of(&self, realm: u32) -> Option<&Slot> {
        self.slots.get(&self.organizations.get(&realm)?.slot)
    }

    /// The organizations of a slot.
    pub fn in_slot(&self, slot: i32) -> impl Iterator<Item = u32> {
        self.organizations.values().filter(move |found| found.slot == slot).map(|found| found.realm)
    }

    /// A node that is alive, in this incarnation.
    pub fn live(&self, identity: &Identity) -> Option<&Node> {
        self.nodes.get(&identity.name).filter(|node| node.identity == *identity && node.is_alive())
    }
}

/// Keeps the copy.
pub(super) struct Refresher {
    database: Arc<Database>,
    sender: watch::Sender<Arc<Table>>,
    refresh: Arc<Notify>,
}

impl Refresher {
    pub(super) fn new(
        database: Arc<Database>,
        sender: watch::Sender<Arc<Table>>,
        refresh: Arc<Notify>,
    ) -> Self {
        Self { database, sender, refresh }
    }

    /// Reads the tables again and again, until the runtime ends.
    pub(super) async fn run(self) {
        let mut session: Option<Session> = None;
        loop {
            let attempt = timeout(READ_TIMEOUT, self.read(&mut session)).await;
            match attempt.unwrap_or(Err(PgError::Timeout(READ_TIMEOUT.as_secs()))) {
                Ok(table) => _ = self.sender.send_replace(Arc::new(table)),
                Err(error) => {
                    tracing::warn!(%error, "the tables of the cluster could not be read");
                    session = None;
                    sleep(Duration::from_millis(200)).await;
                    continue;
                }
            }
            let _ = timeout(POLL, self.refresh.notified()).await;
        }
    }

    async fn read(&self, kept: &mut Option<Session>) -> Result<Table, PgError> {
        if kept.as_ref().is_none_or(|session| session.client.is_closed()) {
            let session = self.database.connect(Some(self.refresh.clone())).await?;
            session.client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
            *kept = Some(session);
        }
        let client = &kept.as_ref().ok_or(PgError::Closed)?.client;
        let (known, read_at) = (self.sender.borrow().clone(), Instant::now());
        let mut table = Table::clone(&known);
        // Changes hold the version until they are committed, so everything up to it can be read.
        let cluster = client.query_one("SELECT version, records FROM millstream.cluster", &[]).await?;
        let version: i64 = cluster.get(0);
        table.records = cluster.get(1);
        table.nodes.clear();
        for row in client.query(NODES, &[]).await? {
            let identity = Identity { name: row.get(0), incarnation: row.get(1) };
            let (advertise, lease_secs, is_draining, records) =
                (row.get(2), row.get(3), row.get(4), row.get(5));
            let name = identity.name.clone();
            table.nodes.insert(name, Node { identity, advertise, lease_secs, is_draining, records });
        }
        for row in client.query(SLOTS, &[&known.version]).await? {
            let (slot, node, incarnation): (i32, Option<String>, i64) = (row.get(0), row.get(1), row.get(2));
            let owner = node.map(|name| Identity { name, incarnation });
            let found = Slot { slot, owner, epoch: row.get(3), target: row.get(4), is_prepared: row.get(5) };
            table.slots.insert(slot, found);
        }
        for row in client.query(REALMS, &[&known.version]).await? {
            table.place(&row);
        }
        (table.version, table.read_at) = (version, Some(read_at));
        Ok(table)
    }
}
