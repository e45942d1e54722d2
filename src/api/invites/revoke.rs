//! `DELETE /invites/{id}`: takes an invitation of one address back (companions.md 10).

use crate::http::{Answer, Caller, Params, Path, reply_ok};
use model::InvitationId;

/// The link in the mail is good no longer; a mail that waits is not sent.
pub async fn revoke(caller: Caller, Path(invitation): Path<InvitationId>, _: Params<()>) -> Answer {
    caller.realm.revoke_invitation(caller.user.id, invitation, false).await?;
    reply_ok()
}
