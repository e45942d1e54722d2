//! Recipients of changes of invitations: administrators and the inviter (docs/api/events.md#invites_changed).

use super::context::Announcements;
use model::{EventBody, InvitationFact, InvitationId, UserId};
use std::collections::BTreeSet;

/// One event without content, for clients to fetch the invitations again.
pub(super) fn announce(fact: &InvitationFact, out: &mut Announcements<'_>) {
    let directory = out.context.after;
    let inviter = |id: &InvitationId| directory.invitation(*id).map(|invitation| invitation.inviter);
    let mut recipients: BTreeSet<UserId> = match fact {
        InvitationFact::Created { first, .. } => BTreeSet::from([first.inviter]),
        InvitationFact::Accepted { invitation, .. } => inviter(invitation).into_iter().collect(),
        InvitationFact::Revoked(invitations) | InvitationFact::Expired(invitations) => {
            invitations.iter().filter_map(inviter).collect()
        }
        InvitationFact::Resent { .. } => return,
    };
    recipients.extend(directory.users().filter(|user| user.is_administrator()).map(|user| user.id));
    let is_active = |id: &UserId| directory.is_active_user(*id);
    out.to(recipients.into_iter().filter(is_active), EventBody::InvitationsChanged);
}
