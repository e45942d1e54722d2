//! `DELETE /invites/{id}`: revokes an invitation by mail (docs/api/invitations.md#revoke-and-resend).

use crate::http::{Caller, HandlerResult, Params, Path, reply_ok};
use actors::commands;
use model::InvitationId;

/// The link in the mail is good no longer; a mail that waits is not sent.
pub async fn revoke(caller: Caller, Path(invitation): Path<InvitationId>, _: Params<()>) -> HandlerResult {
    caller
        .realm
        .execute(commands::RevokeInvitation { by: caller.user.id, invitation, is_reusable: false })
        .await?;
    reply_ok()
}
