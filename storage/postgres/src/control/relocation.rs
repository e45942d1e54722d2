//! Carrying organizations between a data folder and the cluster: where the directory says that they are served. Every step is
//! one transaction, and may be repeated after the process that moves the organization was killed.

use super::{Control, Secret};
use crate::error::PgError;
use crate::queries::Param;
use tokio_postgres::Row;

/// Enters an organization that is about to be carried here.
const RESERVE: &str = "
WITH v AS (UPDATE millstream.cluster SET version = version + 1 RETURNING version),
ids AS (SELECT setval('millstream.realm_ids', greatest(last_value, $1::bigint)) FROM millstream.realm_ids)
INSERT INTO millstream.realm (realm, subdomain, slot, changed, place, secret)
SELECT $1, $2, 0, v.version, 'arriving', $3::bytea FROM v, ids ON CONFLICT DO NOTHING RETURNING realm";

/// Enters an organization that was here before and is about to be moved back.
const RETURN: &str = "
WITH v AS (UPDATE millstream.cluster SET version = version + 1 RETURNING version)
UPDATE millstream.realm r SET place = 'arriving', changed = v.version FROM v
WHERE r.realm = $1 AND r.place = 'away' RETURNING r.realm";

const KNOWN: &str = "
SELECT realm, subdomain, place, secret, home FROM millstream.realm WHERE realm = $1 OR subdomain = $2";

/// Lets nodes take an organization whose log ends where it should, under the epoch of the process that wrote it.
const ACTIVATE: &str = "
WITH v AS (UPDATE millstream.cluster SET version = version + 1 RETURNING version),
chosen AS (
    SELECT s.slot FROM millstream.slot s
    ORDER BY s.node IS NOT NULL, (SELECT count(*) FROM millstream.realm r WHERE r.slot = s.slot), s.slot LIMIT 1),
-- Nodes know slots from when they are used first.
used AS (
    UPDATE millstream.slot s SET changed = v.version FROM v, chosen c WHERE s.slot = c.slot RETURNING s.slot)
UPDATE millstream.realm r SET place = 'here', slot = c.slot, is_closed = false, changed = v.version
FROM v, used c, millstream.realm_head h
WHERE r.realm = $1 AND r.place = 'arriving' AND h.realm = r.realm AND h.epoch = $2 AND h.seq = $3
RETURNING r.slot, pg_notify('millstream_cluster', '')::text";

/// Takes back what was entered.
const WITHDRAW: &str = "
WITH v AS (UPDATE millstream.cluster SET version = version + 1 RETURNING version),
gone AS (DELETE FROM millstream.realm r USING v WHERE r.realm = $1 AND r.place = 'arriving' RETURNING r.realm),
head AS (DELETE FROM millstream.realm_head h USING gone g WHERE h.realm = g.realm RETURNING h.realm),
log AS (DELETE FROM millstream.realm_log l USING gone g WHERE l.realm = g.realm RETURNING 1)
SELECT g.realm FROM gone g";

/// Stops an organization for a while, for the folder `$2`. Without the process that asked for it, it is served again.
const DEPART: &str = "
WITH v AS (UPDATE millstream.cluster SET version = version + 1 RETURNING version)
UPDATE millstream.realm r SET place = 'leaving', leaving_until = clock_timestamp() + interval '30 seconds',
    home = $2, is_closed = r.is_closed AND r.place = 'leaving' AND r.leaving_until > clock_timestamp(), changed = v.version
FROM v WHERE r.realm = $1 AND r.place IN ('here', 'leaving')
RETURNING r.realm, pg_notify('millstream_cluster', '')::text";

/// Whether no node answers for a leaving organization any more: its owner has stopped it, or has no lease.
const IS_CLOSED: &str = "
SELECT r.is_closed OR NOT EXISTS (
    SELECT 1 FROM millstream.slot s JOIN millstream.node n ON n.name = s.node AND n.incarnation = s.incarnation
    WHERE s.slot = r.slot AND n.lease_until > clock_timestamp())
FROM millstream.realm r WHERE r.realm = $1 AND r.place = 'leaving'";

const CLOSED: &str = "
WITH v AS (UPDATE millstream.cluster SET version = version + 1 RETURNING version)
UPDATE millstream.realm r SET is_closed = true, changed = v.version FROM v
WHERE r.realm = $1 AND r.place = 'leaving' RETURNING r.realm, pg_notify('millstream_cluster', '')::text";

/// Ends serving an organization, if its log was not opened since it was read.
const LEAVE_FOR_GOOD: &str = "
WITH v AS (UPDATE millstream.cluster SET version = version + 1 RETURNING version)
UPDATE millstream.realm r SET place = 'away', changed = v.version FROM v, millstream.realm_head h
WHERE r.realm = $1 AND r.place = 'leaving' AND h.realm = r.realm AND h.epoch = $2 AND h.seq = $3 AND r.home = $4
RETURNING r.realm, pg_notify('millstream_cluster', '')::text";

/// Serves an organization again that was about to leave.
const STAY: &str = "
WITH v AS (UPDATE millstream.cluster SET version = version + 1 RETURNING version)
UPDATE millstream.realm r SET place = 'here', is_closed = false, changed = v.version FROM v
WHERE r.realm = $1 AND r.place = 'leaving' RETURNING r.realm, pg_notify('millstream_cluster', '')::text";

/// Where an organization is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServingState {
    /// Nowhere yet by the cluster: it is being carried here.
    Arriving,
    Here,
    /// Here, but a process carries it to a data folder.
    Leaving,
    /// In a data folder.
    Away,
}

/// An organization that is to be carried to the cluster.
#[derive(Clone, Copy)]
pub struct Arrival<'a> {
    pub realm: u32,
    pub subdomain: &'a str,
    pub secret: &'a [u8],
}

/// What the directory has under an id or a subdomain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub realm: u32,
    pub subdomain: String,
    pub place: ServingState,
    /// None: that of the cluster.
    pub secret: Option<Secret>,
    /// The data folder that it was carried to last, by its token.
    pub home: Option<String>,
}

impl Known {
    fn read(row: &Row) -> Self {
        let place = match row.get::<_, &str>(2) {
            "arriving" => ServingState::Arriving,
            "leaving" => ServingState::Leaving,
            "away" => ServingState::Away,
            _ => ServingState::Here,
        };
        let secret = row.get::<_, Option<Vec<u8>>>(3).map(Secret);
        let (subdomain, home) = (row.get(1), row.get(4));
        Self { realm: row.get::<_, i64>(0) as u32, subdomain, place, secret, home }
    }
}

impl Control {
    /// What the directory has under an id or a subdomain.
    ///
    /// # Errors
    /// Those of the database.
    pub fn known(&self, realm: u32, subdomain: &str) -> Result<Vec<Known>, PgError> {
        let params: Vec<Param> = vec![Box::new(i64::from(realm)), Box::new(subdomain.to_owned())];
        Ok(self.change(KNOWN, params)?.iter().map(Known::read).collect())
    }

    /// Enters an organization that is about to be carried here; false if its id or subdomain is in use.
    ///
    /// # Errors
    /// Those of the database.
    pub fn reserve(&self, arrival: Arrival<'_>) -> Result<bool, PgError> {
        let params: Vec<Param> = vec![
            Box::new(i64::from(arrival.realm)),
            Box::new(arrival.subdomain.to_owned()),
            Box::new(arrival.secret.to_vec()),
        ];
        Ok(!self.change(RESERVE, params)?.is_empty())
    }

    /// Enters an organization that was here before and is about to be moved back; false if it is not away.
    ///
    /// # Errors
    /// Those of the database.
    pub fn reserve_again(&self, realm: u32) -> Result<bool, PgError> {
        self.of_realm(RETURN, realm)
    }

    /// Lets nodes take an organization that was carried here; false if its log does not end with frame `last` of `epoch`.
    ///
    /// # Errors
    /// Those of the database: then it is unknown whether they may.
    pub fn activate(&self, realm: u32, epoch: u64, last: u64) -> Result<bool, PgError> {
        Ok(!self.change(ACTIVATE, numbers(realm, epoch, last))?.is_empty())
    }

    /// Removes an organization that was not completely carried here; false if there is none.
    ///
    /// # Errors
    /// Those of the database.
    pub fn withdraw(&self, realm: u32) -> Result<bool, PgError> {
        self.of_realm(WITHDRAW, realm)
    }

    /// Stops an organization for the next 30 seconds, in which it is to be carried to a folder; false if it is not here. Repeated,
    /// it gives 30 seconds more.
    ///
    /// # Errors
    /// Those of the database.
    pub fn depart(&self, realm: u32, home: &str) -> Result<bool, PgError> {
        let params: Vec<Param> = vec![Box::new(i64::from(realm)), Box::new(home.to_owned())];
        Ok(!self.change(DEPART, params)?.is_empty())
    }

    /// Whether no node answers for a leaving organization any more; none if it is not leaving.
    ///
    /// # Errors
    /// Those of the database.
    pub fn is_closed(&self, realm: u32) -> Result<Option<bool>, PgError> {
        let rows = self.change(IS_CLOSED, vec![Box::new(i64::from(realm))])?;
        Ok(rows.first().map(|row| row.get(0)))
    }

    /// Says that this node, the owner, has stopped a leaving organization.
    ///
    /// # Errors
    /// Those of the database.
    pub fn note_closed(&self, realm: u32) -> Result<(), PgError> {
        self.of_realm(CLOSED, realm).map(drop)
    }

    /// Ends serving a leaving organization here; false if its log does not end with frame `last` of `epoch`, it stays, or another
    /// folder takes it.
    ///
    /// # Errors
    /// Those of the database: then it is unknown where it is served.
    pub fn complete_departure(
        &self,
        realm: u32,
        (epoch, last): (u64, u64),
        home: &str,
    ) -> Result<bool, PgError> {
        let mut params = numbers(realm, epoch, last);
        params.push(Box::new(home.to_owned()));
        Ok(!self.change(LEAVE_FOR_GOOD, params)?.is_empty())
    }

    /// Serves a leaving organization again; false if none is leaving.
    ///
    /// # Errors
    /// Those of the database.
    pub fn stay(&self, realm: u32) -> Result<bool, PgError> {
        self.of_realm(STAY, realm)
    }

    fn of_realm(&self, sql: &'static str, realm: u32) -> Result<bool, PgError> {
        Ok(!self.change(sql, vec![Box::new(i64::from(realm))])?.is_empty())
    }
}

fn numbers(realm: u32, epoch: u64, last: u64) -> Vec<Param> {
    crate::reader::params([i64::from(realm), epoch.cast_signed(), last.cast_signed()])
}
