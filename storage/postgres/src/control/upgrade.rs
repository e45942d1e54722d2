//! The version of the records that nodes write. A node says which it reads; the operator raises the version that is written once
//! every node reads it, and an older node cannot come back from then on.

use super::Control;
use crate::error::PgError;
use crate::queries::Param;

const RECORDS: &str = "SELECT records FROM millstream.cluster";

/// A node whose lease has ended does not count: it gets no further one if it is too old.
const UPGRADE: &str = "
UPDATE millstream.cluster SET records = $1, version = version + 1
WHERE records < $1 AND NOT EXISTS (
    SELECT 1 FROM millstream.node WHERE records < $1 AND lease_until > clock_timestamp())
RETURNING pg_notify('millstream_cluster', '')::text";

impl Control {
    /// The newest version of records that nodes may write.
    ///
    /// # Errors
    /// Those of the database.
    pub fn records(&self) -> Result<i32, PgError> {
        let rows = self.change(RECORDS, Vec::new())?;
        Ok(rows.first().ok_or(PgError::Closed)?.get(0))
    }

    /// Lets nodes write records of a version; false if they may already, or a living node cannot read it.
    ///
    /// # Errors
    /// Those of the database.
    pub fn upgrade(&self, records: i32) -> Result<bool, PgError> {
        let params: Vec<Param> = vec![Box::new(records)];
        Ok(!self.change(UPGRADE, params)?.is_empty())
    }
}
