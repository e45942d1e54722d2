//! Invitations of a directory.

use super::Directory;
use crate::ids::InvitationId;
use crate::invitation::Invitation;
use std::sync::Arc;

impl Directory {
    /// An invitation by id, in any state.
    pub fn invitation(&self, id: InvitationId) -> Option<&Arc<Invitation>> {
        self.invitations.get(&id)
    }

    /// All invitations in any state, by id.
    pub fn invitations(&self) -> impl DoubleEndedIterator<Item = &Arc<Invitation>> {
        self.invitations.values()
    }

    /// The id of the next invitation.
    pub fn next_invitation(&self) -> InvitationId {
        self.invitations.get_max().map(|(id, _)| *id).unwrap_or_default().next()
    }

    /// Sets an invitation's record.
    pub fn put_invitation(&mut self, invitation: Invitation) {
        self.invitations.insert(invitation.id, Arc::new(invitation));
    }
}
