//! Appending a frame to the log, which takes its ids.

use super::Committer;
use crate::account;
use crate::error::DomainError;
use crate::health::Pause;
use crate::shard::Sequencer;
use crate::shared::RealmShared;
use model::{Fact, Frame, UserFact};
use std::sync::Arc;
use storage::log::{FrameBytes, LogError, Ticket};

impl Committer {
    /// Appends what was decided with `ids`, and what follows from it: changed visibility, values before the changes, and the
    /// entry of the audit log.
    pub(super) fn append(
        &self,
        realm: &Arc<RealmShared>,
        ids: Sequencer,
        mut facts: Vec<Fact>,
    ) -> Result<(Ticket, Frame), DomainError> {
        {
            let view = realm.view.read();
            // A command with messages at the end has added it before them.
            if !facts.iter().any(|fact| matches!(fact, Fact::User(UserFact::VisibilityChanged { .. }))) {
                facts.extend(crate::announce::record_user_visibility(&view.directory, &facts));
            }
            facts.extend(crate::announce::pre_images_fact(&view.directory, &facts));
            facts.extend(account::requester().and_then(|by| crate::audit::record(&view, by, &facts)));
        }
        let (ticket, frame, payload_bytes) = self.append_frame(realm, ids, facts)?;
        if let (Some(account), Some(budget)) = (account::current(), self.budget.borrow_mut().as_mut()) {
            budget.charge(realm.id, account, payload_bytes);
        }
        Ok((ticket, frame))
    }

    /// Appends facts as the next frame of their organization; returns also the bytes of its payload. The frame's ids are taken
    /// only if the log accepts it.
    pub(super) fn append_frame(
        &self,
        realm: &RealmShared,
        mut ids: Sequencer,
        facts: Vec<Fact>,
    ) -> Result<(Ticket, Frame, u64), DomainError> {
        let mut slots = self.slots.borrow_mut();
        let slot = slots.get_mut(&realm.id).ok_or(DomainError::Stopping)?;
        let frame = Frame { at: realm.clock.now(), first_event: ids.event, facts };
        let bytes = FrameBytes {
            realm: realm.id.0,
            sequence: ids.sequence.0,
            // Fails only for frames longer than any record may be.
            payload: storage::encode_frame(&frame).map_err(|_| DomainError::TooLarge)?,
            original: None,
        };
        let payload_bytes = bytes.payload.len() as u64;
        let ticket = self.log.append(bytes, slot.epoch).map_err(|error| match error {
            LogError::Behind => DomainError::Overloaded,
            LogError::TooLarge { .. } => DomainError::TooLarge,
            LogError::Fenced { .. } => DomainError::Stopping,
            error => DomainError::Paused(Pause::from(&error)),
        })?;
        ids.sequence = ids.sequence.next();
        ids.event.0 += frame.facts.iter().map(Fact::events_max).sum::<u64>();
        slot.sequencer = ids;
        self.last_ticket.set(ticket);
        Ok((ticket, frame, payload_bytes))
    }
}
