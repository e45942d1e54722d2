//! The newest administrative acts, for owners and the operator.

use crate::handle::RealmHandle;
use model::{RecordedAuditEntry, Sequence, Timestamp, UserId};
use std::sync::Arc;

/// Acts that one query scans.
const SCANNED_MAX: usize = 10_000;

/// Which acts are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct ActFilter {
    /// Only acts before this one.
    pub before: Option<Sequence>,
    /// Only acts at this time or later.
    pub since: Option<Timestamp>,
    /// Only acts by this user or about them.
    pub user: Option<UserId>,
    pub limit: usize,
}

/// Acts with their ids, the newest first.
#[derive(Clone, Debug, Default)]
pub struct ActPage {
    pub acts: Vec<(Sequence, Arc<RecordedAuditEntry>)>,
    /// Older acts may follow before this one.
    pub next: Option<Sequence>,
}

/// A page of acts. The cost depends on the page and, with a user, on the acts that are skipped, of which there is a bound.
pub fn acts(realm: &RealmHandle, filter: &ActFilter) -> ActPage {
    realm.read(|view| {
        let mut page = ActPage::default();
        let mut last = None;
        for (scanned, (sequence, entry)) in view.acts.before(filter.before).enumerate() {
            if filter.since.is_some_and(|since| entry.at < since) {
                return page;
            }
            if page.acts.len() >= filter.limit || scanned >= SCANNED_MAX {
                page.next = last;
                return page;
            }
            last = Some(sequence);
            if filter.user.is_none_or(|user| entry.concerns(user)) {
                page.acts.push((sequence, entry.clone()));
            }
        }
        page
    })
}
