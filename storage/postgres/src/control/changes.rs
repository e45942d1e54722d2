//! Changes of the control tables. Each takes the next version in its own transaction and notifies all nodes.

use super::Control;
use super::identity::Identity;
use crate::error::PgError;
use crate::queries::Param;

/// Takes slots that have no owner, or one whose lease has ended. The rows of nodes without a lease are locked, so that such a
/// node cannot renew it meanwhile.
const CLAIM: &str = "
WITH v AS (UPDATE millstream.cluster SET version = version + 1 RETURNING version),
own AS (
    SELECT 1 FROM millstream.node
    WHERE name = $1 AND incarnation = $2 AND lease_until > clock_timestamp() AND NOT is_draining),
gone AS (
    SELECT name, incarnation FROM millstream.node WHERE lease_until <= clock_timestamp() FOR UPDATE)
UPDATE millstream.slot s SET node = $1, incarnation = $2, epoch = epoch + 1, target = NULL, is_prepared = false,
    changed = v.version
FROM v WHERE s.slot = ANY($3) AND EXISTS (SELECT 1 FROM own) AND (
    s.node IS NULL
    OR EXISTS (SELECT 1 FROM gone g WHERE g.name = s.node)
    OR EXISTS (SELECT 1 FROM millstream.node n WHERE n.name = s.node AND n.incarnation > s.incarnation))
RETURNING s.slot, pg_notify('millstream_cluster', '')::text";

/// Makes an organization in a slot without owner, or, when there is none, in the node's own slot with the fewest.
const CREATE: &str = "
WITH v AS (UPDATE millstream.cluster SET version = version + 1 RETURNING version),
chosen AS (
    SELECT s.slot FROM millstream.slot s
    WHERE s.node IS NULL OR (s.node = $2 AND s.incarnation = $3)
    ORDER BY s.node IS NOT NULL, (SELECT count(*) FROM millstream.realm r WHERE r.slot = s.slot), s.slot
    LIMIT 1 FOR UPDATE SKIP LOCKED),
taken AS (
    UPDATE millstream.slot s SET node = $2, incarnation = $3, epoch = epoch + (s.node IS NULL)::int, changed = v.version
    FROM v, chosen c WHERE s.slot = c.slot RETURNING s.slot)
INSERT INTO millstream.realm (realm, subdomain, slot, changed)
SELECT nextval('millstream.realm_ids'), $1, t.slot, v.version FROM taken t, v
RETURNING realm, slot, pg_notify('millstream_cluster', '')::text";

/// Asks the owner of a slot to give it to a node.
const MOVE: &str = "
WITH v AS (UPDATE millstream.cluster SET version = version + 1 RETURNING version)
UPDATE millstream.slot s SET target = $2, is_prepared = false, changed = v.version FROM v
WHERE s.slot = $1 AND s.node IS NOT NULL AND s.node <> $2
    AND EXISTS (SELECT 1 FROM millstream.node n WHERE n.name = $2 AND n.lease_until > clock_timestamp())
RETURNING s.slot, pg_notify('millstream_cluster', '')::text";

const PREPARED: &str = "
WITH v AS (UPDATE millstream.cluster SET version = version + 1 RETURNING version)
UPDATE millstream.slot s SET is_prepared = true, changed = v.version FROM v WHERE s.slot = $1 AND s.target = $2
RETURNING s.slot, pg_notify('millstream_cluster', '')::text";

/// Gives a slot to the node that it is to be moved to, if that is alive.
const HAND_OVER: &str = "
WITH v AS (UPDATE millstream.cluster SET version = version + 1 RETURNING version),
successor AS (
    SELECT n.name, n.incarnation FROM millstream.node n WHERE n.name = $4 AND n.lease_until > clock_timestamp())
UPDATE millstream.slot s SET node = h.name, incarnation = h.incarnation, epoch = epoch + 1, target = NULL,
    is_prepared = false, changed = v.version
FROM v, successor h WHERE s.slot = $1 AND s.node = $2 AND s.incarnation = $3 AND s.target = $4
RETURNING s.slot, pg_notify('millstream_cluster', '')::text";

const DRAIN: &str = "
WITH v AS (UPDATE millstream.cluster SET version = version + 1 RETURNING version)
UPDATE millstream.node n SET is_draining = $2, changed = v.version FROM v WHERE n.name = $1
RETURNING n.name, pg_notify('millstream_cluster', '')::text";

/// Ends the lease of a node that stops, so that no other node waits for it.
const LEAVE: &str = "
WITH v AS (UPDATE millstream.cluster SET version = version + 1 RETURNING version)
UPDATE millstream.node n SET lease_until = clock_timestamp(), changed = v.version FROM v
WHERE n.name = $1 AND n.incarnation = $2
RETURNING n.name, pg_notify('millstream_cluster', '')::text";

fn text(text: &str) -> Param {
    Box::new(text.to_owned())
}

impl Control {
    /// Takes slots without a live owner; returns those that are this node's now.
    ///
    /// # Errors
    /// Those of the database.
    pub fn claim(&self, own: &Identity, slots: Vec<i32>) -> Result<Vec<i32>, PgError> {
        let params: Vec<Param> = vec![text(&own.name), Box::new(own.incarnation), Box::new(slots)];
        Ok(self.change(CLAIM, params)?.iter().map(|row| row.get(0)).collect())
    }

    /// Makes an organization that this node owns; `None` if the subdomain is in use.
    ///
    /// # Errors
    /// Those of the database.
    pub fn create(&self, own: &Identity, subdomain: &str) -> Result<Option<u32>, PgError> {
        let params: Vec<Param> = vec![text(subdomain), text(&own.name), Box::new(own.incarnation)];
        match self.change(CREATE, params) {
            Ok(rows) => Ok(rows.first().map(|row| row.get::<_, i64>(0) as u32)),
            Err(PgError::Database(error)) if is_duplicate(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Asks for a slot to be moved to a node; false if that node is not alive or owns it already.
    ///
    /// # Errors
    /// Those of the database.
    pub fn request_move(&self, slot: i32, target: &str) -> Result<bool, PgError> {
        Ok(!self.change(MOVE, vec![Box::new(slot), text(target)])?.is_empty())
    }

    /// Says that this node has loaded what it needs to own a slot.
    ///
    /// # Errors
    /// Those of the database.
    pub fn note_prepared(&self, own: &Identity, slot: i32) -> Result<(), PgError> {
        self.change(PREPARED, vec![Box::new(slot), text(&own.name)]).map(drop)
    }

    /// Gives a slot to `target`; false if it is not this node's any more, or the target is not alive.
    ///
    /// # Errors
    /// Those of the database: then it is unknown who owns it.
    pub fn hand_over(&self, own: &Identity, slot: i32, target: &str) -> Result<bool, PgError> {
        let params: Vec<Param> =
            vec![Box::new(slot), text(&own.name), Box::new(own.incarnation), text(target)];
        Ok(!self.change(HAND_OVER, params)?.is_empty())
    }

    /// Makes a node hand over what it owns, or lets it take again; false if there is no such node.
    ///
    /// # Errors
    /// Those of the database.
    pub fn drain(&self, node: &str, is_draining: bool) -> Result<bool, PgError> {
        Ok(!self.change(DRAIN, vec![text(node), Box::new(is_draining)])?.is_empty())
    }

    /// Ends the lease of this node.
    ///
    /// # Errors
    /// Those of the database.
    pub fn leave(&self, own: &Identity) -> Result<(), PgError> {
        self.lease.end();
        self.change(LEAVE, vec![text(&own.name), Box::new(own.incarnation)]).map(drop)
    }
}

fn is_duplicate(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| *code == tokio_postgres::error::SqlState::UNIQUE_VIOLATION)
}
