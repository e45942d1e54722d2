//! Who is told that there are other invitations than before: administrators, and those who invited (events.md 3).

use super::{Announcements, Moment};
use model::{EventBody, InvitationFact, InvitationId, UserId};
use std::collections::BTreeSet;

/// Something about invitations.
pub(super) fn changed(moment: &Moment<'_>, fact: &InvitationFact, out: &mut Announcements) {
    let directory = moment.after;
    let inviter = |id: &InvitationId| directory.invitation(*id).map(|invitation| invitation.inviter);
    let mut told: BTreeSet<UserId> = match fact {
        InvitationFact::Created { first, .. } => BTreeSet::from([first.inviter]),
        InvitationFact::Accepted { invitation, .. } => inviter(invitation).into_iter().collect(),
        InvitationFact::Revoked(invitations) => invitations.iter().filter_map(inviter).collect(),
        InvitationFact::Resent { .. } => return,
    };
    told.extend(directory.users().filter(|user| user.is_administrator()).map(|user| user.id));
    let is_active = |id: &UserId| directory.is_active_user(*id);
    out.to(told.into_iter().filter(is_active), EventBody::InvitationsChanged);
}
