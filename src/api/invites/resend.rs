//! `POST /invites/{id}/resend`: sends the mail of an invitation again (docs/api/invitations.md#revoke-and-resend).

use crate::http::{App, Caller, HandlerResult, Params, Path};
use actors::commands;
use model::InvitationId;

/// Sends the same link again, and restarts its validity, also if it has expired.
pub async fn resend(
    app: App,
    caller: Caller,
    Path(invitation): Path<InvitationId>,
    _: Params<()>,
) -> HandlerResult {
    let limits = app.config.invitations.limits();
    caller.execute(commands::ResendInvitation { by: caller.user.id, invitation, limits }).await
}
