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
            InvitationFact::Created { first, others } => {
                self.remove_forgotten_invitations(at, first.id, rows)?;
                created_invitations(first, others)
                    .try_for_each(|invitation| self.put_invitation(invitation, rows))
            }
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

    /// Removes invitations before `next` that ended long ago. New ones take their place, so that as many records remain as can be
    /// open or were sent lately.
    fn remove_forgotten_invitations(
        &mut self,
        at: Timestamp,
        next: InvitationId,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let known = self.directory.invitations().take_while(|one| one.id < next);
        let forgotten: Vec<InvitationId> =
            known.filter(|one| one.is_forgotten(at)).map(|one| one.id).collect();
        forgotten.into_iter().try_for_each(|id| self.put_or_remove::<records::Invitations>(rows, id, None))
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

#[cfg(test)]
mod tests {
    use crate::view::tests::World;
    use model::invitation::ENDED_KEPT_MILLIS;
    use model::{Fact, Invitation, InvitationFact, InvitationId, InvitationState, Role, Timestamp, UserId};

    fn created(id: u32, sent: u64, expires: Option<u64>) -> InvitationFact {
        let first = Invitation {
            id: InvitationId(id),
            address: Some(format!("person{id}@milk.example")),
            inviter: UserId(1),
            role: Role::Member,
            channels: Vec::new(),
            groups: Vec::new(),
            includes_default_channels: true,
            notifies_inviter: false,
            welcome_text: None,
            sent: Timestamp(sent),
            expires: expires.map(Timestamp),
            state: InvitationState::Pending,
            has_expired: false,
        };
        InvitationFact::Created { first, others: Vec::new() }
    }

    fn apply(world: &mut World, at: u64, fact: InvitationFact) {
        let facts = vec![Fact::Invitation(Box::new(fact))];
        world.run.frame_at(Timestamp(at), facts);
    }

    #[test]
    fn ended_invitations_are_removed_once_they_are_old_and_others_come() {
        let mut world = World::new();
        let known = |world: &World| -> Vec<u32> {
            world.run.view().directory.invitations().map(|invitation| invitation.id.0).collect()
        };
        for id in 1..=4 {
            apply(&mut world, 10, created(id, 10, (id == 3).then_some(1_000)));
        }
        apply(&mut world, 20, InvitationFact::Revoked(vec![InvitationId(1)]));
        apply(&mut world, 20, InvitationFact::Accepted { invitation: InvitationId(2), user: UserId(2) });
        apply(&mut world, 1_000, InvitationFact::Expired(vec![InvitationId(3)]));
        let early = ENDED_KEPT_MILLIS;
        apply(&mut world, early, created(5, early, None));
        assert_eq!(known(&world), [1, 2, 3, 4, 5]);
        let late = ENDED_KEPT_MILLIS + 10;
        apply(&mut world, late, created(6, late, None));
        assert_eq!(known(&world), [3, 4, 5, 6], "the third expired later, and the fourth is open");
        apply(&mut world, late + 1_000, created(7, late, None));
        assert_eq!(known(&world), [4, 5, 6, 7]);
        world.restart();
        assert_eq!(known(&world), [4, 5, 6, 7]);
        assert_eq!(world.run.view().directory.next_invitation(), InvitationId(8));
    }
}
