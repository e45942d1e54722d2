//! Frames that create an organization again, for development servers: everything in it is replaced.

use super::Committer;
use crate::error::DomainError;
use crate::shard::Sequencer;
use crate::shard::pending::{CommitCallback, Pending, PendingKind};
use crate::shared::RealmShared;
use model::{Fact, Frame};
use std::sync::Arc;
use storage::log::Ticket;

impl Committer {
    /// Queues frames of which the first creates the organization again; `done` runs when all are published, which is at
    /// once: between two of them the organization has no accounts. Nothing else is decided in the organization meanwhile.
    /// Call it when no frame of the shard is pending.
    pub fn reset_realm(&self, realm: &Arc<RealmShared>, frames: Vec<Vec<Fact>>, done: CommitCallback) {
        let (mut appended, mut last, mut refusal) = (Vec::new(), None, None);
        for facts in frames {
            match self.append_reset(realm, facts) {
                Ok((ticket, frame)) => {
                    last = Some(ticket);
                    appended.push(frame);
                }
                Err(error) => {
                    refusal = Some(error);
                    break;
                }
            }
        }
        let done: CommitCallback = match refusal {
            None => done,
            // A later refused frame leaves what is in the journal before it.
            Some(error) if last.is_some() => Box::new(move |result| done(result.and(Err(error)))),
            Some(error) => return done(Err(error)),
        };
        let Some(ticket) = last else { return done(Ok(())) };
        let pending =
            Pending { ticket, realm: realm.clone(), kind: PendingKind::Reset(appended), done: Some(done) };
        self.pending.borrow_mut().push_back(pending);
    }

    fn append_reset(&self, realm: &RealmShared, facts: Vec<Fact>) -> Result<(Ticket, Frame), DomainError> {
        let ids = self.slots.borrow().get(&realm.id).map(|slot| slot.sequencer);
        let (ticket, frame, _) = self.append_frame(realm, ids.ok_or(DomainError::Stopping)?, facts)?;
        if let Some(slot) = self.slots.borrow_mut().get_mut(&realm.id) {
            slot.is_resetting = true;
        }
        Ok((ticket, frame))
    }

    /// Whether an organization is being created again.
    pub fn is_resetting(&self, realm: &RealmShared) -> bool {
        self.slots.borrow().get(&realm.id).is_some_and(|slot| slot.is_resetting)
    }

    /// Lets the organization decide again, from its new state; running actors forget what they remember.
    pub fn end_reset(&self, realm: &Arc<RealmShared>) {
        if let Some(slot) = self.slots.borrow_mut().get_mut(&realm.id) {
            let ids = Sequencer::after(&realm.view.read());
            slot.sequencer = Sequencer { event: ids.event.max(slot.sequencer.event), ..ids };
            slot.is_resetting = false;
            slot.fanout.forget_echoes();
        }
        self.generation.set(self.generation.get() + 1);
    }
}
