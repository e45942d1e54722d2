//! `GET /invites`: open invitations (docs/api/invitations.md#list-invitations).

use crate::api::wire::list::push_list;
use crate::hosts::invitation_link;
use crate::http::{Caller, Envelope, HandlerResult, Params, RealmUrl};
use actors::RealmHandle;
use model::{Invitation, InvitationId, UserId};
use rules::invitations::sees_invitation;
use serde::Serialize;

/// An invitation as clients read it: with an address, or with a link that anybody may use.
#[derive(Serialize)]
struct InvitationJson<'i> {
    id: InvitationId,
    invited_by_user_id: UserId,
    /// Seconds.
    invited: u64,
    /// Seconds; null for ever.
    expiry_date: Option<u64>,
    invited_as: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<&'i str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link_url: Option<String>,
    notify_referrer_on_join: bool,
    is_multiuse: bool,
}

/// `invites`: administrators see all, others their own. Those whose time is over are not listed.
pub async fn list(caller: Caller, RealmUrl(url): RealmUrl, _: Params<()>) -> HandlerResult {
    let (directory, now) = (caller.realm.directory(), caller.realm.now());
    let is_listed =
        |invitation: &Invitation| invitation.is_open(now) && sees_invitation(&caller.user, invitation);
    let open = directory.invitations().filter(|invitation| is_listed(invitation));
    let shown = open.map(|invitation| json(&caller.realm, &url, invitation));
    let mut envelope = Envelope::with_capacity(512);
    push_list(envelope.open_field("invites"), shown);
    envelope.reply()
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
