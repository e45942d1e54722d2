//! `POST /invites/{id}/resend`: sends the mail of an invitation once more (companions.md 10).

use crate::http::{Answer, Caller, Params, Path, reply_ok};
use model::InvitationId;

/// The link is the same, and good for as long as it was at first: also where that time was over.
pub async fn resend(caller: Caller, Path(invitation): Path<InvitationId>, _: Params<()>) -> Answer {
    caller.realm.resend_invitation(caller.user.id, invitation).await?;
    reply_ok()
}
