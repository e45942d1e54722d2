//! Frames that create an organization again, for development servers: everything in it is replaced.

use super::Committer;
use super::keys::note_keys;
use crate::error::DomainError;
use crate::health::Pause;
use crate::shard::Sequencer;
use crate::shard::pending::{Done, Pending, What};
use crate::shared::RealmShared;
use model::{Fact, Frame};
use std::sync::Arc;
use storage::log::{FrameBytes, LogError};
use storage::{Applied, View};

impl Committer {
    /// Queues frames of which the first creates the organization again; `done` runs when all are published. Nothing else
    /// is decided in the organization meanwhile. Call it when no frame of the shard is pending.
    pub fn restart_realm(&self, realm: &Arc<RealmShared>, frames: Vec<Vec<Fact>>, done: Done) {
        let mut done = Some(done);
        let last = frames.len().saturating_sub(1);
        for (index, facts) in frames.into_iter().enumerate() {
            let done = if index == last { done.take() } else { None };
            if let Err((error, done)) = self.append_restart(realm, facts, done) {
                // A refused first frame has changed nothing; a later one leaves what was queued before it.
                if let Some(done) = done {
                    done(Err(error));
                }
                return;
            }
        }
    }

    fn append_restart(
        &self,
        realm: &Arc<RealmShared>,
        facts: Vec<Fact>,
        done: Option<Done>,
    ) -> Result<(), (DomainError, Option<Done>)> {
        let mut slots = self.slots.borrow_mut();
        let Some(slot) = slots.get_mut(&realm.id) else { return Err((DomainError::Stopping, done)) };
        let ids = slot.sequencer;
        let frame = Frame { at: realm.clock.now(), first_event: ids.event, facts };
        let Ok(payload) = storage::encode_frame(&frame) else { return Err((DomainError::TooLarge, done)) };
        let bytes = FrameBytes { realm: realm.id.0, sequence: ids.sequence.0, payload, original: None };
        let ticket = match self.log.append(bytes, slot.epoch) {
            Ok(ticket) => ticket,
            Err(LogError::Behind) => return Err((DomainError::Overloaded, done)),
            Err(error) => return Err((DomainError::Paused(Pause::from(&error)), done)),
        };
        slot.is_restarting = true;
        slot.sequencer.sequence = ids.sequence.next();
        slot.sequencer.event.0 += frame.facts.iter().map(Fact::events_max).sum::<u64>();
        self.last_ticket.set(ticket);
        let pending = Pending { ticket, realm: realm.clone(), what: What::Restart(frame), done };
        self.pending.borrow_mut().push_back(pending);
        Ok(())
    }

    /// Applies such a frame.
    pub(super) fn publish_restart(
        &self,
        realm: &Arc<RealmShared>,
        view: &mut View,
        frame: &Frame,
    ) -> Result<Applied, DomainError> {
        let sequence = view.progress.sequence.next();
        let rows = view.apply(sequence, frame)?;
        note_keys(realm, frame);
        let (progress, stored) = (view.progress, view.recent.stored());
        Ok(Applied { realm: realm.id, progress, rows, stored })
    }

    /// Lets the organization decide again, from its new state; running actors forget what they remember.
    pub fn end_restart(&self, realm: &Arc<RealmShared>) {
        if let Some(slot) = self.slots.borrow_mut().get_mut(&realm.id) {
            let ids = Sequencer::after(&realm.view.read());
            slot.sequencer = Sequencer { event: ids.event.max(slot.sequencer.event), ..ids };
            slot.is_restarting = false;
            slot.fanout.forget_echoes();
        }
        self.generation.set(self.generation.get() + 1);
    }
}
