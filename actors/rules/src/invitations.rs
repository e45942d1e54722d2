//! Who may invite others, to which role, and who may revoke invitations (docs/api/invitations.md).

mod limits;

pub use limits::{
    INVITATION_BYTES_MAX, INVITATIONS_MAX, INVITATIONS_OF_INVITER_MAX, InvitationLimits, ResentInvitations,
    SentInvitations, check_resend,
};

use crate::address_list::{is_address, parse_address_list};
use crate::addresses::check_email_allowed;
use crate::error::{AddressProblem, InvitationEnd, InvitationError, InvitingRefusal, NotInvited, RuleError};
use crate::groups::manages_group;
use crate::names::check_length;
use crate::permissions::channel::{Archived, ChannelRef, access_channel_content};
use crate::permissions::create::check_may_add_subscribers;
use crate::permissions::group_setting::{active_group, check_holds_realm};
use crate::settings::{RealmPermission, realm_bool};
use limits::{DAY_SECS, check_daily, check_room};
use model::{
    Channel, ChannelId, Directory, GroupId, Invitation, InvitationId, InvitationState, Role, Timestamp, User,
    UserId,
};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// Longest custom welcome message, in code points.
pub const WELCOME_TEXT_LENGTH_MAX: usize = 8000;

/// Minimum age of an account that invites to an organization that anyone may join, in seconds.
const ACCOUNT_AGE_SECS_MIN: u64 = 3 * DAY_SECS;

/// The parameters of an invitation, as sent.
#[derive(Clone, Debug)]
pub struct InvitationRequest {
    pub role: i64,
    pub channels: Vec<i64>,
    pub groups: Vec<i64>,
    pub includes_default_channels: bool,
    pub notifies_inviter: bool,
    /// None for the organization's default.
    pub welcome_text: Option<String>,
    /// Validity; none if it does not expire.
    pub valid_minutes: Option<u64>,
}

/// Permitted invitations by e-mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvitationPlan {
    /// The record of each; the caller fills in id and address.
    pub invitation: Invitation,
    /// The addresses to invite, at least one.
    pub addresses: Vec<String>,
    /// Addresses that have an account already.
    pub skipped: Vec<NotInvited>,
}

/// Decides invitations by e-mail, checking in the order of docs/api/invitations.md#invite-by-e-mail.
pub fn check_invitations(
    dir: &Directory,
    inviter: &User,
    addresses: &str,
    request: InvitationRequest,
    now: Timestamp,
    sent: SentInvitations<'_>,
) -> Result<InvitationPlan, RuleError> {
    check_holds_realm(dir, RealmPermission::InviteUsers, inviter.id)?;
    let role = check_role(inviter, request.role)?;
    let addresses = parse_address_list(addresses);
    if addresses.is_empty() {
        return Err(InvitationError::NoAddress.into());
    }
    let invitation = plan(dir, inviter, role, request, now)?;
    check_daily(dir, inviter, addresses.len(), now, sent)?;
    check_age(dir, inviter, now)?;
    // Before each address is checked.
    if addresses.len() > INVITATIONS_OF_INVITER_MAX {
        return Err(InvitationError::TooMany { limit: INVITATIONS_OF_INVITER_MAX }.into());
    }
    let (addresses, skipped) = sort_addresses(dir, addresses)?;
    check_room(dir, &invitation, addresses.len(), now)?;
    Ok(InvitationPlan { invitation, addresses, skipped })
}

/// Decides a reusable invitation; the caller fills in its id.
pub fn check_reusable_invitation(
    dir: &Directory,
    inviter: &User,
    request: InvitationRequest,
    now: Timestamp,
) -> Result<Invitation, RuleError> {
    check_holds_realm(dir, RealmPermission::CreateMultiuseInvite, inviter.id)?;
    let role = check_role(inviter, request.role)?;
    let invitation = plan(dir, inviter, role, request, now)?;
    check_room(dir, &invitation, 1, now)?;
    Ok(invitation)
}

/// Users cannot invite to a role above their own, and only administrators invite moderators and above.
fn check_role(inviter: &User, code: i64) -> Result<Role, RuleError> {
    let role = Role::from_code(code).ok_or(InvitationError::RoleInvalid)?;
    match role {
        Role::Owner if inviter.role != Role::Owner => Err(RuleError::OwnerRequired),
        Role::Administrator | Role::Moderator if !inviter.is_administrator() => {
            Err(InvitationError::AdministratorRequired.into())
        }
        _ => Ok(role),
    }
}

fn plan(
    dir: &Directory,
    inviter: &User,
    role: Role,
    request: InvitationRequest,
    now: Timestamp,
) -> Result<Invitation, RuleError> {
    let channels = check_channels(dir, inviter, &request.channels)?;
    let groups = check_groups(dir, inviter, &request.groups)?;
    if let Some(text) = &request.welcome_text {
        if !inviter.is_administrator() {
            return Err(InvitationError::AdministratorRequired.into());
        }
        check_length("welcome_message_custom_text", text, WELCOME_TEXT_LENGTH_MAX)?;
    }
    Ok(Invitation {
        id: InvitationId::default(),
        address: None,
        inviter: inviter.id,
        role,
        channels,
        groups,
        includes_default_channels: request.includes_default_channels,
        notifies_inviter: request.notifies_inviter,
        welcome_text: request.welcome_text,
        sent: now,
        expires: request.valid_minutes.map(|minutes| now.plus_secs(minutes.saturating_mul(60))),
        state: InvitationState::Pending,
        has_expired: false,
    })
}

/// Checks that all channels exist before any permission.
fn check_channels(dir: &Directory, inviter: &User, ids: &[i64]) -> Result<Vec<ChannelId>, RuleError> {
    let channels =
        distinct(ids).map(|id| readable_channel(dir, inviter, id)).collect::<Result<Vec<_>, _>>()?;
    channels.iter().try_for_each(|channel| check_may_add_to(dir, inviter, channel))?;
    let ids: BTreeSet<ChannelId> = channels.into_iter().map(|channel| channel.id).collect();
    Ok(ids.into_iter().collect())
}

/// The first of each of the same ids, in their order: access is checked once for each.
fn distinct(ids: &[i64]) -> impl Iterator<Item = i64> {
    let mut seen = HashSet::new();
    ids.iter().copied().filter(move |id| seen.insert(*id))
}

fn readable_channel<'d>(dir: &'d Directory, inviter: &User, id: i64) -> Result<&'d Arc<Channel>, RuleError> {
    let found = access_channel_content(dir, inviter, ChannelRef::Id(id), Archived::Refused);
    found.map(|found| found.channel()).map_err(|_| InvitationError::ChannelInvalid { id }.into())
}

fn check_may_add_to(dir: &Directory, inviter: &User, channel: &Channel) -> Result<(), RuleError> {
    let is_default = dir.realm().default_channels.contains(&channel.id);
    if !is_default && check_may_add_subscribers(dir, inviter, channel).is_err() {
        return Err(InvitationError::SubscribingNotPermitted.into());
    }
    Ok(())
}

fn check_group(dir: &Directory, inviter: &User, id: i64) -> Result<GroupId, RuleError> {
    let group = active_group(dir, id)?;
    if group.is_system {
        return Err(RuleError::InvalidUserGroup);
    }
    let may_add = manages_group(dir, inviter, group) || dir.holds(&group.permissions.add_members, inviter.id);
    if may_add { Ok(group.id) } else { Err(RuleError::InsufficientPermission) }
}

fn check_groups(dir: &Directory, inviter: &User, ids: &[i64]) -> Result<Vec<GroupId>, RuleError> {
    let groups = distinct(ids).map(|id| check_group(dir, inviter, id));
    Ok(groups.collect::<Result<BTreeSet<_>, _>>()?.into_iter().collect())
}

/// New members do not invite to an organization that anyone may join.
fn check_age(dir: &Directory, inviter: &User, now: Timestamp) -> Result<(), InvitationError> {
    let is_new = now.millis_since(inviter.joined) < ACCOUNT_AGE_SECS_MIN * 1000;
    let is_open_to_all = !realm_bool(dir.realm(), "invite_required");
    if is_open_to_all && is_new && !inviter.is_administrator() {
        return Err(InvitationError::NotSent { why: InvitingRefusal::AccountTooNew, problems: Vec::new() });
    }
    Ok(())
}

/// Separates the addresses that can be invited from those that have an account.
fn sort_addresses(
    dir: &Directory,
    addresses: Vec<String>,
) -> Result<(Vec<String>, Vec<NotInvited>), RuleError> {
    let (mut good, mut invalid, mut known) = (Vec::new(), Vec::new(), Vec::new());
    for address in addresses {
        match check_new_address(dir, &address) {
            Ok(()) => good.push(address),
            Err(problem) if problem.is_known() => known.push((address, problem)),
            Err(problem) => invalid.push((address, problem)),
        }
    }
    if !invalid.is_empty() {
        let problems = invalid.into_iter().chain(known).collect();
        return Err(InvitationError::NotSent { why: InvitingRefusal::SomeInvalid, problems }.into());
    }
    if good.is_empty() {
        return Err(InvitationError::NotSent { why: InvitingRefusal::AllKnown, problems: known }.into());
    }
    Ok((good, known))
}

/// Whether an account with this address can be created.
pub fn check_new_address(dir: &Directory, address: &str) -> Result<(), AddressProblem> {
    if !is_address(address) {
        return Err(AddressProblem::Invalid);
    }
    check_email_allowed(dir, address)?;
    match dir.user_by_email(address) {
        None => Ok(()),
        Some(user) if user.is_system_bot() => Err(AddressProblem::Reserved),
        Some(user) if user.is_active => Err(AddressProblem::Taken),
        Some(_) => Err(AddressProblem::Deactivated),
    }
}

/// Finds an invitation to revoke or resend, possibly an expired one: by its inviter, administrators, or, for invitations
/// of owners, owners. `Missing`, `OwnerRequired`, `AdministratorRequired`; `Ended` or `AlreadyRevoked` if it is not
/// pending.
pub fn access_invitation<'d>(
    dir: &'d Directory,
    requester: &User,
    id: InvitationId,
    is_reusable: bool,
) -> Result<&'d Arc<Invitation>, RuleError> {
    let found = dir.invitation(id).filter(|invitation| invitation.is_reusable() == is_reusable);
    let invitation = found.ok_or(InvitationError::Missing)?;
    if invitation.inviter != requester.id {
        if invitation.role == Role::Owner && requester.role != Role::Owner {
            return Err(RuleError::OwnerRequired);
        }
        if !requester.is_administrator() {
            return Err(InvitationError::AdministratorRequired.into());
        }
    }
    match (invitation.is_pending(), is_reusable) {
        (true, _) => Ok(invitation),
        (false, false) => Err(InvitationError::Ended.into()),
        (false, true) => Err(InvitationError::AlreadyRevoked.into()),
    }
}

/// Whether a user sees an open invitation in the list: administrators see all, others their own. Only owners and its
/// inviter see a link that makes owners: administrators could use it themselves.
pub fn sees_invitation(requester: &User, invitation: &Invitation) -> bool {
    let makes_owners = invitation.is_reusable() && invitation.role == Role::Owner;
    invitation.inviter == requester.id
        || if makes_owners { requester.role == Role::Owner } else { requester.is_administrator() }
}

/// The expiry of a resent invitation: it is valid as long as at first.
pub fn renewed_expiry(invitation: &Invitation, now: Timestamp) -> Option<Timestamp> {
    invitation.expires.map(|expires| Timestamp(now.0.saturating_add(expires.millis_since(invitation.sent))))
}

/// Whether an invitation can still be used.
fn check_open(invitation: &Invitation, now: Timestamp) -> Result<(), InvitationEnd> {
    match invitation.state {
        InvitationState::Used(_) => Err(InvitationEnd::Used),
        InvitationState::Revoked => Err(InvitationEnd::Revoked),
        InvitationState::Pending if invitation.is_expired(now) => Err(InvitationEnd::Expired),
        InvitationState::Pending => Ok(()),
    }
}

/// An invitation restricted to what its inviter could still grant. None if the inviter is deactivated, is a guest, or could
/// no longer invite to this role.
pub fn still_grantable(dir: &Directory, invitation: &Invitation) -> Option<Invitation> {
    let inviter = dir.user(invitation.inviter).filter(|inviter| inviter.is_active && !inviter.is_guest())?;
    let permission = match invitation.is_reusable() {
        true => RealmPermission::CreateMultiuseInvite,
        false => RealmPermission::InviteUsers,
    };
    check_holds_realm(dir, permission, inviter.id).ok()?;
    check_role(inviter, invitation.role.code().into()).ok()?;
    let mut given = invitation.clone();
    given.channels.retain(|id| {
        let channel = readable_channel(dir, inviter, id.0.into());
        channel.is_ok_and(|channel| check_may_add_to(dir, inviter, channel).is_ok())
    });
    given.groups.retain(|id| check_group(dir, inviter, id.0.into()).is_ok());
    if !inviter.is_administrator() {
        given.welcome_text = None;
    }
    Some(given)
}

/// An open invitation, as restricted by [`still_grantable`]; `Revoked` if its inviter could no longer send it.
pub fn open_invitation(
    dir: &Directory,
    invitation: &Invitation,
    now: Timestamp,
) -> Result<Invitation, InvitationEnd> {
    check_open(invitation, now)?;
    still_grantable(dir, invitation).ok_or(InvitationEnd::Revoked)
}

/// Pending invitations that their inviter could no longer send, for the frame that takes the permission away.
pub fn overreaching_invitations(dir: &Directory, inviter: UserId) -> Vec<InvitationId> {
    pending_of(dir, inviter).filter(|one| still_grantable(dir, one).is_none()).map(|one| one.id).collect()
}

/// Pending invitations, expired ones included, for an address that now has an account, except the accepted one.
pub fn superseded_invitations(
    dir: &Directory,
    address: &str,
    accepted: Option<InvitationId>,
) -> Vec<InvitationId> {
    let is_superseded =
        |invitation: &&Arc<Invitation>| invitation.is_for(address) && Some(invitation.id) != accepted;
    dir.pending_invitations().filter(is_superseded).map(|invitation| invitation.id).collect()
}

/// The pending invitations of a user, which are revoked when the account is deactivated.
pub fn invitations_of(dir: &Directory, inviter: &User) -> Vec<InvitationId> {
    pending_of(dir, inviter.id).map(|invitation| invitation.id).collect()
}

fn pending_of(dir: &Directory, inviter: UserId) -> impl Iterator<Item = &Arc<Invitation>> {
    dir.pending_invitations().filter(move |invitation| invitation.inviter == inviter)
}

#[cfg(test)]
mod tests;
