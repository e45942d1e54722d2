//! Applies audit entries to the audit log and its rows.

use super::audit_log::AUDIT_LOG_BYTES_MAX;
use super::{Rows, View, records};
use crate::error::StoreError;
use model::{AuditEntry, RecordedAuditEntry, Sequence, Timestamp};

impl View {
    pub(super) fn apply_audit_entry(
        &mut self,
        sequence: Sequence,
        at: Timestamp,
        entry: &AuditEntry,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        self.put::<records::AuditEntries>(rows, sequence, RecordedAuditEntry { at, entry: entry.clone() })?;
        while let Some(oldest) = self.audit_log.surplus(AUDIT_LOG_BYTES_MAX) {
            self.remove::<records::AuditEntries>(rows, &oldest);
        }
        Ok(())
    }
}
