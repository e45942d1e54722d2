//! `POST /invites/multiuse` and `DELETE /invites/multiuse/{id}`: reusable links
//! (docs/api/invitations.md#reusable-links).

use super::fields::InvitationFields;
use crate::hosts::invitation_link;
use crate::http::{
    ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, Path, RealmUrl, reply, reply_ok,
};
use actors::commands;
use model::InvitationId;
use serde::Serialize;

/// The parameters.
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

#[derive(Serialize)]
struct Created {
    invite_link: String,
}

/// `invite_link`, which is good until it is taken back or its time is over.
pub async fn create(
    app: App,
    caller: Caller,
    RealmUrl(url): RealmUrl,
    Params(CreateLink { invitation, channels }): Params<CreateLink>,
) -> HandlerResult {
    // Whoever makes a link is told who came by it; there is no parameter for that.
    let request = invitation.into_request(&app.config, channels, true);
    let invitation =
        caller.realm.execute(commands::CreateReusableInvitation { by: caller.user.id, request }).await?;
    reply(&Created { invite_link: invitation_link(&caller.realm, &url, invitation) })
}

/// Takes a link back. Who joined with it stays.
pub async fn revoke(caller: Caller, Path(invitation): Path<InvitationId>, _: Params<()>) -> HandlerResult {
    caller
        .realm
        .execute(commands::RevokeInvitation { by: caller.user.id, invitation, is_reusable: true })
        .await?;
    reply_ok()
}
