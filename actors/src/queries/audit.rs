//! The newest entries of the audit log, for owners and the operator.

use crate::handle::RealmHandle;
use model::{RecordedAuditEntry, Sequence, Timestamp, UserId};
use std::sync::Arc;

/// Entries that one query scans.
const SCANNED_MAX: usize = 10_000;

/// Which entries are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditFilter {
    /// Only entries before this one.
    pub before: Option<Sequence>,
    /// Only entries at this time or later.
    pub since: Option<Timestamp>,
    /// Only entries by this user or about them.
    pub user: Option<UserId>,
    pub limit: usize,
}

/// Entries with their ids, the newest first.
#[derive(Clone, Debug, Default)]
pub struct AuditPage {
    pub entries: Vec<(Sequence, Arc<RecordedAuditEntry>)>,
    /// Older entries may follow before this one.
    pub next: Option<Sequence>,
}

/// A page of the audit log. The cost depends on the page and, with a user, on the entries that are skipped, of which there is a bound.
pub fn audit_log(realm: &RealmHandle, filter: &AuditFilter) -> AuditPage {
    realm.read(|view| {
        let mut page = AuditPage::default();
        let mut last = None;
        for (scanned, (sequence, entry)) in view.audit_log.before(filter.before).enumerate() {
            if filter.since.is_some_and(|since| entry.at < since) {
                return page;
            }
            if page.entries.len() >= filter.limit || scanned >= SCANNED_MAX {
                page.next = last;
                return page;
            }
            last = Some(sequence);
            if filter.user.is_none_or(|user| entry.concerns(user)) {
                page.entries.push((sequence, entry.clone()));
            }
        }
        page
    })
}
