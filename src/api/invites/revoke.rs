//! `DELETE /invites/{id}`: revokes an invitation by mail (docs/api/invitations.md#revoke-and-resend).

use crate::http::{Caller, HandlerResult, Params, Path};
use actors::commands;
use model::InvitationId;

/// Invalidates the link in the mail; a mail that is still queued is not sent.
pub async fn revoke(caller: Caller, Path(invitation): Path<InvitationId>, _: Params<()>) -> HandlerResult {
    caller.execute(commands::RevokeInvitation { by: caller.user.id, invitation, is_reusable: false }).await
}
