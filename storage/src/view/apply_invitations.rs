//! Applies facts about invitations to the directory and its rows.

use super::{Rows, View, records};
use crate::error::StoreError;
use model::invitation::created_invitations;
use model::{Invitation, InvitationFact, InvitationId, InvitationState, Timestamp};

impl View {
    /// Creates, resends, accepts, revokes and expires invitations; `at` is the time of the frame.
    pub(super) fn apply_invitation_fact(
        &mut self,
        at: Timestamp,
        fact: &InvitationFact,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        match fact {
            InvitationFact::Created { first, others } => created_invitations(first, others)
                .try_for_each(|invitation| self.put_invitation(invitation, rows)),
            InvitationFact::Accepted { invitation, user } => {
                self.change_invitation(*invitation, rows, |record| {
                    if !record.is_reusable() {
                        record.state = InvitationState::Used(*user);
                    }
                })
            }
            InvitationFact::Revoked(invitations) => invitations.iter().try_for_each(|id| {
                self.change_invitation(*id, rows, |record| record.state = InvitationState::Revoked)
            }),
            InvitationFact::Expired(invitations) => invitations
                .iter()
                .try_for_each(|id| self.change_invitation(*id, rows, |record| record.has_expired = true)),
            InvitationFact::Resent { invitation, expires } => {
                self.change_invitation(*invitation, rows, |record| {
                    record.sent = at;
                    record.expires = *expires;
                    record.has_expired = false;
                })
            }
        }
    }

    fn change_invitation(
        &mut self,
        id: InvitationId,
        rows: &mut Rows,
        change: impl FnOnce(&mut Invitation),
    ) -> Result<(), StoreError> {
        let Some(before) = self.directory.invitation(id) else { return Ok(()) };
        let mut record = Invitation::clone(before);
        change(&mut record);
        self.put_invitation(record, rows)
    }

    fn put_invitation(&mut self, record: Invitation, rows: &mut Rows) -> Result<(), StoreError> {
        self.put::<records::Invitations>(rows, record.id, record)
    }
}
