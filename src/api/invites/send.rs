//! `POST /invites`: invites people by mail (docs/api/invitations.md#invite-by-e-mail).

use super::fields::InvitationFields;
use crate::http::error::domain::not_invited;
use crate::http::{ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, reply_ok};
use actors::commands;
use rules::error::InvitingRefusal;

/// Invitations to send.
pub struct SendInvites {
    addresses: String,
    invitation: InvitationFields,
    channels: Vec<i64>,
    notifies_inviter: bool,
}

impl FromFields for SendInvites {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            addresses: fields.required("invitee_emails")?,
            invitation: InvitationFields::read(fields)?,
            channels: fields.required_ints("stream_ids")?,
            notifies_inviter: fields.bool_or("notify_referrer_on_join", true)?,
        })
    }
}

/// Invites all addresses that can be invited. If some have an account already, the response is an error that lists
/// them.
pub async fn send(app: App, caller: Caller, Params(params): Params<SendInvites>) -> HandlerResult {
    let SendInvites { addresses, invitation, channels, notifies_inviter } = params;
    let request = invitation.into_request(&app.config, channels, notifies_inviter);
    let limits = app.config.invitations.limits();
    let command = commands::SendInvitations { by: caller.user.id, addresses, request, limits };
    let skipped = caller.realm.execute(command).await?;
    match skipped.is_empty() {
        true => reply_ok(),
        false => Err(not_invited(InvitingRefusal::SomeKnown, &skipped)),
    }
}
