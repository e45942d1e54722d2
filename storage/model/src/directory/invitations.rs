//! Invitations of a directory.

use super::{Directory, list};
use crate::ids::InvitationId;
use crate::invitation::Invitation;
use std::sync::Arc;

impl Directory {
    /// An invitation by id, in any state.
    pub fn invitation(&self, id: InvitationId) -> Option<&Arc<Invitation>> {
        self.invitations.all.get(&id)
    }

    /// All invitations in any state, by id.
    pub fn invitations(&self) -> impl DoubleEndedIterator<Item = &Arc<Invitation>> {
        self.invitations.all.values()
    }

    /// The invitations that are neither used nor revoked, expired ones included, by id.
    pub fn pending_invitations(&self) -> impl Iterator<Item = &Arc<Invitation>> {
        self.invitations.pending.iter().filter_map(|id| self.invitation(*id))
    }

    /// The pending invitations that are not recorded as expired, by id.
    pub fn unexpired_invitations(&self) -> impl Iterator<Item = &Arc<Invitation>> {
        self.invitations.unexpired.iter().filter_map(|id| self.invitation(*id))
    }

    /// The id of the next invitation.
    pub fn next_invitation(&self) -> InvitationId {
        self.invitations.all.get_max().map(|(id, _)| *id).unwrap_or_default().next()
    }

    /// Sets an invitation's record.
    pub fn put_invitation(&mut self, invitation: Invitation) {
        let (id, is_pending) = (invitation.id, invitation.is_pending());
        let invitations = &mut self.invitations;
        list(&mut invitations.pending, id, is_pending);
        list(&mut invitations.unexpired, id, is_pending && !invitation.has_expired);
        invitations.all.insert(id, Arc::new(invitation));
    }

    /// Removes an invitation that has ended.
    pub fn remove_invitation(&mut self, id: InvitationId) {
        let invitations = &mut self.invitations;
        list(&mut invitations.pending, id, false);
        list(&mut invitations.unexpired, id, false);
        invitations.all.remove(&id);
    }
}
