//! What leaves a shard: organizations that are moved to another machine or that another machine has taken, the trees, and in the
//! end everything.

use super::Committer;
use crate::shard::pending::{Pending, refuse};
use model::RealmId;
use std::collections::VecDeque;
use storage::log::Ticket;

impl Committer {
    /// Decides nothing more in an organization; what is not published is refused.
    pub fn remove_realm(&self, realm: RealmId) {
        self.slots.borrow_mut().remove(&realm);
        self.uncommitted.borrow_mut().forget(realm, Ticket::MAX);
        self.targets.borrow_mut().retain(|(of, _), _| *of != realm);
        refuse(self.take_pending(|pending| pending.realm.id == realm));
    }

    /// Removes the organizations that another machine owns, after publishing what was stored before.
    pub(super) fn drop_fenced(&self) {
        for (realm, from) in self.durability.fenced() {
            if !self.slots.borrow().contains_key(&realm) {
                continue;
            }
            tracing::warn!(%realm, "another machine owns the organization; it is closed here");
            let lost = self.take_pending(|pending| pending.realm.id == realm && pending.ticket >= from);
            let stored = self.take_pending(|pending| pending.realm.id == realm);
            if let Some(shared) = stored.front().map(|first| first.realm.clone())
                && let Err(error) = self.publish(&shared, stored)
            {
                tracing::error!(%error, "changes that are on disk cannot be applied to memory");
            }
            self.remove_realm(realm);
            refuse(lost);
            self.health.set_fenced(realm);
        }
    }

    /// Sends nothing more to the trees, so that their writer can end.
    pub fn detach(&self) {
        self.projection.borrow_mut().take();
    }

    /// Releases the trees and the organizations, so that the writer of the trees can end.
    pub fn close(&self) {
        self.projection.borrow_mut().take();
        self.slots.borrow_mut().clear();
    }

    fn take_pending(&self, is_wanted: impl Fn(&Pending) -> bool) -> VecDeque<Pending> {
        let mut pending = self.pending.borrow_mut();
        let (taken, kept) = pending.drain(..).partition(is_wanted);
        *pending = kept;
        taken
    }
}
