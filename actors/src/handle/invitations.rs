//! Commands about invitations, and the links that they are.

use super::{RealmHandle, ask};
use crate::error::DomainError;
use crate::realm::{
    AcceptInvitation, CreateReusableInvitation, Joining, ResendInvitation, RevokeInvitation, SendInvitations,
};
use model::{InvitationId, User, UserId};
use rules::error::NotInvited;
use rules::invitations::InvitationRequest;
use std::sync::Arc;

/// Sets keys of invitations apart from those of other links.
const LINK_PURPOSE: &str = "invitation";

impl RealmHandle {
    /// Invites everybody in a list of addresses but those who are known here, which it returns. `daily_max` bounds what
    /// the organization sends in a day; 0: nothing does.
    ///
    /// # Errors
    /// As `rules::invitations::check_invitations`; then nobody was invited.
    pub async fn send_invitations(
        &self,
        by: UserId,
        addresses: String,
        request: InvitationRequest,
        daily_max: usize,
    ) -> Result<Vec<NotInvited>, DomainError> {
        self.settle(SendInvitations { by, addresses, request, daily_max }).await
    }

    /// Makes an invitation that anybody may use who has its link.
    ///
    /// # Errors
    /// As `rules::invitations::check_reusable_invitation`.
    pub async fn create_reusable_invitation(
        &self,
        by: UserId,
        request: InvitationRequest,
    ) -> Result<InvitationId, DomainError> {
        self.settle(CreateReusableInvitation { by, request }).await
    }

    /// Takes an invitation of one kind back.
    ///
    /// # Errors
    /// As `rules::invitations::access_invitation`.
    pub async fn revoke_invitation(
        &self,
        by: UserId,
        invitation: InvitationId,
        is_reusable: bool,
    ) -> Result<(), DomainError> {
        self.settle(RevokeInvitation { by, invitation, is_reusable }).await
    }

    /// Sends an invitation once more; it is good for as long as it was at first.
    ///
    /// # Errors
    /// As `rules::invitations::access_invitation`.
    pub async fn resend_invitation(&self, by: UserId, invitation: InvitationId) -> Result<(), DomainError> {
        self.settle(ResendInvitation { by, invitation }).await
    }

    /// Makes an account of an invitation, with everything that the invitation says.
    ///
    /// # Errors
    /// `RealmDeactivated`; `InvitationError::Over` and `Address`, and those of names.
    pub async fn accept_invitation(&self, joining: Joining) -> Result<Arc<User>, DomainError> {
        ask(self.actor()?, |answer| AcceptInvitation { joining, answer }).await
    }

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
