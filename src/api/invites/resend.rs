//! `POST /invites/{id}/resend`: sends the mail of an invitation again (docs/api/invitations.md#revoke-and-resend).

use crate::http::{Caller, HandlerResult, Params, Path, reply_ok};
use actors::commands;
use model::InvitationId;

/// The link is the same, and good for as long as it was at first: also where that time was over.
pub async fn resend(caller: Caller, Path(invitation): Path<InvitationId>, _: Params<()>) -> HandlerResult {
    caller.realm.execute(commands::ResendInvitation { by: caller.user.id, invitation }).await?;
    reply_ok()
}
