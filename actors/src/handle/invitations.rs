//! Accounts made from invitations, and the keys in invitation links.

use super::RealmHandle;
use model::InvitationId;

/// Sets keys of invitations apart from those of other links.
const LINK_PURPOSE: &str = "invitation";

impl RealmHandle {
    /// What makes the link of an invitation, so that whoever has it is invited: the id, by which it is found, and what
    /// only this server can know.
    pub fn invitation_key(&self, invitation: InvitationId) -> String {
        let id = invitation.to_string();
        let secret = self.link_key(LINK_PURPOSE, &[&id]);
        format!("{id}-{secret}")
    }

    /// The invitation that a key was made for, whatever has become of it; none for a key that was made for none.
    pub fn invitation_of_key(&self, key: &str) -> Option<InvitationId> {
        let (id, secret) = key.split_once('-')?;
        let is_made_here = self.is_link_key(secret, LINK_PURPOSE, &[id]);
        is_made_here.then(|| id.parse().ok().map(InvitationId))?
    }
}
