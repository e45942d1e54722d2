//! The newest entries of an organization's audit log, in memory. Older ones are only in the journal.

use model::{RecordedAuditEntry, Sequence};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of the entries that an organization keeps in memory.
pub const AUDIT_LOG_BYTES_MAX: usize = 16 << 20;

/// The newest entries by frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuditLog {
    all: BTreeMap<Sequence, Arc<RecordedAuditEntry>>,
    bytes: usize,
}

impl AuditLog {
    /// The entries of the frames before one, the newest first; all without one.
    pub fn before(
        &self,
        end: Option<Sequence>,
    ) -> impl Iterator<Item = (Sequence, &Arc<RecordedAuditEntry>)> {
        let end = end.unwrap_or(Sequence(u64::MAX));
        self.all.range(..end).rev().map(|(sequence, entry)| (*sequence, entry))
    }

    pub(super) fn put(&mut self, sequence: Sequence, entry: RecordedAuditEntry) {
        self.bytes += entry.bytes();
        if let Some(earlier) = self.all.insert(sequence, Arc::new(entry)) {
            self.bytes -= earlier.bytes();
        }
    }

    pub(super) fn remove(&mut self, sequence: Sequence) {
        if let Some(entry) = self.all.remove(&sequence) {
            self.bytes -= entry.bytes();
        }
    }

    /// The oldest entry, if they take more than `bytes_max` and it is not the only one.
    pub(super) fn surplus(&self, bytes_max: usize) -> Option<Sequence> {
        let is_too_much = self.bytes > bytes_max && self.all.len() > 1;
        self.all.first_key_value().filter(|_| is_too_much).map(|(sequence, _)| *sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ActionKind, AuditAction, AuditEntry, RequestOrigin, Subject, Timestamp, UserId};

    fn entry(client: usize) -> RecordedAuditEntry {
        let action = AuditAction {
            kind: ActionKind::Created,
            about: Subject::User(UserId(8)),
            users: Vec::new(),
            count: 1,
            changes: Vec::new(),
        };
        let entry = AuditEntry {
            by: None,
            origin: RequestOrigin::Api,
            address: None,
            client: "x".repeat(client),
            actions: vec![action],
        };
        RecordedAuditEntry { at: Timestamp(0), entry }
    }

    #[test]
    fn oldest_acts_are_dropped_beyond_the_bound() {
        let mut log = AuditLog::default();
        for sequence in 1..=3 {
            log.put(Sequence(sequence), entry(1000));
        }
        let one = entry(1000).bytes();
        assert_eq!(log.surplus(3 * one), None);
        assert_eq!(log.surplus(2 * one), Some(Sequence(1)));
        log.remove(Sequence(1));
        log.put(Sequence(2), entry(0));
        assert_eq!(log.bytes, one + entry(0).bytes());
        let newest: Vec<u64> = log.before(None).map(|(sequence, _)| sequence.0).collect();
        assert_eq!(newest, [3, 2]);
        assert_eq!(log.before(Some(Sequence(3))).count(), 1);
        log.remove(Sequence(3));
        assert_eq!(log.surplus(0), None, "the newest entry stays");
    }
}
