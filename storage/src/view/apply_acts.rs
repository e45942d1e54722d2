//! What a fact about an administrative act changes.

use super::acts::ACTS_BYTES_MAX;
use super::{Rows, View, records};
use crate::error::StoreError;
use model::{AuditEntry, RecordedAuditEntry, Sequence, Timestamp};

impl View {
    pub(super) fn apply_act(
        &mut self,
        sequence: Sequence,
        at: Timestamp,
        entry: &AuditEntry,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        self.put::<records::Acts>(rows, sequence, RecordedAuditEntry { at, entry: entry.clone() })?;
        while let Some(oldest) = self.acts.surplus(ACTS_BYTES_MAX) {
            self.remove::<records::Acts>(rows, &oldest);
        }
        Ok(())
    }
}
