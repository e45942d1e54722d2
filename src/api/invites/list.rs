//! `GET /invites`: pending invitations (docs/api/invitations.md#list-invitations).

use crate::api::wire::list::reply_list;
use crate::hosts::invitation_link;
use crate::http::{Caller, HandlerResult, Params, RealmUrl};
use actors::RealmHandle;
use model::{Invitation, InvitationId, UserId};
use rules::invitations::sees_invitation;
use serde::Serialize;

/// The invitation object of the API, with an address or a reusable link.
#[derive(Serialize)]
struct InvitationJson<'i> {
    id: InvitationId,
    invited_by_user_id: UserId,
    /// Unix time in seconds.
    invited: u64,
    /// Unix time in seconds; null if it never expires.
    expiry_date: Option<u64>,
    invited_as: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<&'i str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link_url: Option<String>,
    notify_referrer_on_join: bool,
    is_multiuse: bool,
}

/// Lists `invites` that have not expired: all for administrators, their own for others.
pub async fn list(caller: Caller, RealmUrl(url): RealmUrl, _: Params<()>) -> HandlerResult {
    let (directory, now) = (caller.realm.directory(), caller.realm.now());
    let is_listed =
        |invitation: &Invitation| invitation.is_open(now) && sees_invitation(&caller.user, invitation);
    let open = directory.unexpired_invitations().filter(|invitation| is_listed(invitation));
    reply_list("invites", open.map(|invitation| json(&caller.realm, &url, invitation)))
}

fn json<'i>(realm: &RealmHandle, url: &str, invitation: &'i Invitation) -> InvitationJson<'i> {
    InvitationJson {
        id: invitation.id,
        invited_by_user_id: invitation.inviter,
        invited: invitation.sent.secs(),
        expiry_date: invitation.expires.map(|expires| expires.secs()),
        invited_as: invitation.role.code(),
        email: invitation.address.as_deref(),
        link_url: invitation.is_reusable().then(|| invitation_link(realm, url, invitation.id)),
        notify_referrer_on_join: invitation.notifies_inviter,
        is_multiuse: invitation.is_reusable(),
    }
}
