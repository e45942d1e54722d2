//! Standbys: nodes that follow the logs of organizations that they do not own, and how far behind they are.

use super::{Control, Identity, PATIENCE};
use crate::error::PgError;
use crate::queries::Param;
use std::collections::HashMap;

const HEADS: &str = "SELECT realm, seq FROM millstream.realm_head WHERE realm = ANY($1)";

/// Replaces what a node has noted.
const NOTE: &str = "
WITH gone AS (DELETE FROM millstream.standby WHERE node = $1 AND NOT slot = ANY($3))
INSERT INTO millstream.standby (slot, node, incarnation, lag)
SELECT w.slot, $1, $2, w.lag FROM unnest($3::int[], $4::bigint[]) AS w(slot, lag)
ON CONFLICT (slot, node) DO UPDATE SET incarnation = EXCLUDED.incarnation, lag = EXCLUDED.lag";

const STANDBYS: &str = "
SELECT s.slot, s.node, s.lag FROM millstream.standby s
JOIN millstream.node n ON n.name = s.node AND n.incarnation = s.incarnation
WHERE n.lease_until > clock_timestamp() AND NOT n.is_draining ORDER BY s.slot, s.lag, s.node";

/// A live node that follows the organizations of a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standby {
    pub slot: i32,
    pub node: String,
    /// Frames by which it is behind, in the organization where it is furthest behind.
    pub lag: i64,
}

impl Control {
    /// The newest frames of organizations.
    ///
    /// # Errors
    /// Those of the database.
    pub fn heads(&self, realms: &[u32]) -> Result<HashMap<u32, u64>, PgError> {
        let realms: Vec<i64> = realms.iter().copied().map(i64::from).collect();
        let rows = self.queries.run(HEADS, vec![Box::new(realms)], PATIENCE)?;
        let head =
            |row: &tokio_postgres::Row| (row.get::<_, i64>(0) as u32, row.get::<_, i64>(1).cast_unsigned());
        Ok(rows.iter().map(head).collect())
    }

    /// Notes which slots a node follows, and by how many frames it is behind in each; it follows no others.
    ///
    /// # Errors
    /// Those of the database.
    pub fn note_standbys(&self, own: &Identity, lags: &[(i32, i64)]) -> Result<(), PgError> {
        let (slots, lags): (Vec<i32>, Vec<i64>) = lags.iter().copied().unzip();
        let params: Vec<Param> =
            vec![Box::new(own.name.clone()), Box::new(own.incarnation), Box::new(slots), Box::new(lags)];
        self.queries.run(NOTE, params, PATIENCE).map(drop)
    }

    /// The standbys of all slots that are alive, by slot and lag.
    ///
    /// # Errors
    /// Those of the database.
    pub fn standbys(&self) -> Result<Vec<Standby>, PgError> {
        let rows = self.queries.run(STANDBYS, Vec::new(), PATIENCE)?;
        let standby =
            |row: &tokio_postgres::Row| Standby { slot: row.get(0), node: row.get(1), lag: row.get(2) };
        Ok(rows.iter().map(standby).collect())
    }
}
