//! `POST /invites/multiuse` and `DELETE /invites/multiuse/{id}`: reusable links
//! (docs/api/invitations.md#reusable-links).

use super::fields::InvitationFields;
use crate::hosts::invitation_link;
use crate::http::{
    ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, Path, RealmUrl, reply_field,
};
use actors::commands;
use model::InvitationId;

/// A link to create.
pub struct CreateLink {
    invitation: InvitationFields,
    channels: Vec<i64>,
}

impl FromFields for CreateLink {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            invitation: InvitationFields::read(fields)?,
            channels: fields.optional_ints("stream_ids")?.unwrap_or_default(),
        })
    }
}

/// Returns the `invite_link`, which is valid until it is revoked or expires.
pub async fn create(
    app: App,
    caller: Caller,
    RealmUrl(url): RealmUrl,
    Params(CreateLink { invitation, channels }): Params<CreateLink>,
) -> HandlerResult {
    // The creator of a link is always notified of joins; there is no parameter.
    let request = invitation.into_request(&app.config, channels, true);
    let invitation =
        caller.realm.execute(commands::CreateReusableInvitation { by: caller.user.id, request }).await?;
    reply_field("invite_link", &invitation_link(&caller.realm, &url, invitation))
}

/// Revokes a link. Accounts that were created with it stay.
pub async fn revoke(caller: Caller, Path(invitation): Path<InvitationId>, _: Params<()>) -> HandlerResult {
    caller.execute(commands::RevokeInvitation { by: caller.user.id, invitation, is_reusable: true }).await
}
