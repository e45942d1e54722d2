//! What a user may see, read and do in a channel (docs/api/permissions.md#channel-access).
//!
//! A channel that the requester may not see is refused exactly like one that does not exist.

use crate::error::RuleError;
use crate::names;
use model::{Channel, ChannelId, Directory, MessageId, SubscriptionSpan, User, VisibilityPolicy};
use std::sync::Arc;

/// Whether archived channels count as existing; for most endpoints they do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Archived {
    Allowed,
    Refused,
}

/// How a client refers to a channel; values as sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelRef<'a> {
    Id(i64),
    Name(&'a str),
}

/// The messages of a channel that a user may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History<'d> {
    Whole,
    /// Protected history: only messages delivered in these spans, with exceptions for messages that were moved later.
    Delivered(&'d [SubscriptionSpan]),
}

impl History<'_> {
    /// Whether it includes a message of the channel, exceptions aside.
    pub fn includes(&self, id: MessageId) -> bool {
        match self {
            Self::Whole => true,
            Self::Delivered(spans) => {
                spans.iter().any(|span| id > span.after && span.until.is_none_or(|until| id <= until))
            }
        }
    }
}

/// A channel that the requester may read, and how much of it.
#[derive(Clone, Copy, Debug)]
pub struct ReadableChannel<'d> {
    channel: &'d Arc<Channel>,
    history: History<'d>,
}

impl<'d> ReadableChannel<'d> {
    /// The readable channel.
    pub fn channel(&self) -> &'d Arc<Channel> {
        self.channel
    }

    /// The messages that the requester may read.
    pub fn history(&self) -> History<'d> {
        self.history
    }
}

/// Finds a channel whose name and settings the user may see. `InvalidChannelId` or `InvalidChannelName`.
pub fn access_channel_metadata<'d>(
    dir: &'d Directory,
    user: &User,
    wanted: ChannelRef,
    archived: Archived,
) -> Result<&'d Arc<Channel>, RuleError> {
    find(dir, wanted, archived)
        .filter(|channel| sees_channel(dir, user, channel))
        .ok_or_else(|| not_found(wanted))
}

/// Finds a channel to read in. `InvalidChannelId` or `InvalidChannelName`.
pub fn access_channel_content<'d>(
    dir: &'d Directory,
    user: &User,
    wanted: ChannelRef,
    archived: Archived,
) -> Result<ReadableChannel<'d>, RuleError> {
    let channel = find(dir, wanted, archived).ok_or_else(|| not_found(wanted))?;
    let history = history_of(dir, user, channel).ok_or_else(|| not_found(wanted))?;
    Ok(ReadableChannel { channel, history })
}

/// Finds a channel to change: administered by the user. The error for others reveals only channels that they can see.
pub fn access_channel_administration<'d>(
    dir: &'d Directory,
    user: &User,
    id: i64,
) -> Result<&'d Arc<Channel>, RuleError> {
    match by_id(dir, id).ok_or(RuleError::InvalidChannelId)? {
        channel if administers_channel(dir, user, channel) => Ok(channel),
        channel if sees_content(dir, user, channel) => Err(RuleError::ChannelNotAdministered),
        _ => Err(RuleError::InvalidChannelId),
    }
}

/// Finds a channel to post in (docs/api/messages.md#send-a-message): `ChannelDoesNotExist` or `ChannelIdDoesNotExist`,
/// then the errors of `check_may_post`.
pub fn access_channel_to_post<'d>(
    dir: &'d Directory,
    sender: &User,
    wanted: ChannelRef,
) -> Result<&'d Arc<Channel>, RuleError> {
    let (found, missing) = match wanted {
        ChannelRef::Id(id) => (by_id(dir, id), RuleError::ChannelIdDoesNotExist { id }),
        ChannelRef::Name(raw) => {
            let name = names::parse_channel_name(raw)?;
            (dir.channel_by_name(name), RuleError::ChannelDoesNotExist { name: name.to_owned() })
        }
    };
    let channel = found.filter(|channel| may_address(dir, sender, channel)).ok_or(missing)?;
    check_may_post(dir, sender, channel)?;
    Ok(channel)
}

/// Whether a sender may know that a channel exists; for others it is a missing channel. A bot may post where its owner
/// is subscribed.
pub fn may_address(dir: &Directory, sender: &User, channel: &Channel) -> bool {
    sender.is_system_bot()
        || sees_channel(dir, sender, channel)
        || sender.owner().is_some_and(|owner| dir.is_subscribed(channel.id, owner))
}

/// Whether a user may post in a channel that they can see (docs/api/messages.md#send-a-message).
pub fn check_may_post(dir: &Directory, sender: &User, channel: &Channel) -> Result<(), RuleError> {
    let owner = sender.owner();
    let send_message = &channel.permissions.send_message;
    // A bot that is named itself does not need its owner's permission: a channel may be reserved for one bot.
    let is_permitted = sender.is_system_bot()
        || dir.is_named(send_message, sender.id)
        || owner.is_some_and(|owner| dir.holds(send_message, owner));
    if !is_permitted {
        return Err(RuleError::PostingNotPermitted);
    }
    let has_access = sender.is_system_bot()
        || channel.is_web_public
        || (!channel.invite_only && !sender.is_guest())
        || dir.is_subscribed(channel.id, sender.id)
        || owner.is_some_and(|owner| dir.is_subscribed(channel.id, owner))
        || (channel.history_public_to_subscribers && is_granted_content(dir, sender, channel));
    match has_access && !channel.is_archived {
        true => Ok(()),
        false => Err(RuleError::SendingNotAuthorized { name: channel.name.clone() }),
    }
}

/// Whether a user may see a channel (docs/api/permissions.md#channel-access).
pub fn sees_channel(dir: &Directory, user: &User, channel: &Channel) -> bool {
    sees_channel_as(dir, user, channel, dir.is_subscribed(channel.id, user.id))
}

/// Whether a user may see a channel, for lists of many channels, whose writers know whether the user is subscribed.
pub fn sees_channel_as(dir: &Directory, user: &User, channel: &Channel, is_subscribed: bool) -> bool {
    if channel.is_web_public || is_subscribed {
        return true;
    }
    !user.is_guest()
        && (!channel.invite_only
            || user.is_administrator()
            || dir.holds(&channel.permissions.administer_channel, user.id)
            || is_granted_content(dir, user, channel))
}

/// Whether a user may see the subscribers of a channel (docs/api/permissions.md#channel-access).
pub fn sees_subscribers(dir: &Directory, user: &User, channel: &Channel) -> bool {
    // Most users see those of most channels anyway.
    sees_subscribers_as(dir, user, channel, false) || dir.is_subscribed(channel.id, user.id)
}

/// Whether a user may see the subscribers of a channel, for lists of many channels, whose writers know whether the user is
/// subscribed.
pub fn sees_subscribers_as(dir: &Directory, user: &User, channel: &Channel, is_subscribed: bool) -> bool {
    if channel.invite_only {
        return user.is_administrator() || is_subscribed;
    }
    sees_channel_as(dir, user, channel, is_subscribed)
}

/// Whether a user may list a channel's subscribers; guests only if they are subscribed themselves.
pub fn check_may_list_subscribers(dir: &Directory, user: &User, channel: &Channel) -> Result<(), RuleError> {
    let may = if user.is_guest() {
        dir.is_subscribed(channel.id, user.id)
    } else {
        sees_subscribers(dir, user, channel)
    };
    if may { Ok(()) } else { Err(RuleError::InvalidChannelId) }
}

/// Whether a user may read content of a channel, now or later. Administrators have no access to private channels by
/// their role alone.
pub fn sees_content(dir: &Directory, user: &User, channel: &Channel) -> bool {
    is_open_to(user, channel)
        || dir.is_subscribed(channel.id, user.id)
        || is_granted_content(dir, user, channel)
}

/// Whether a user may read content of a channel without being subscribed to it.
pub(crate) fn sees_content_unsubscribed(dir: &Directory, user: &User, channel: &Channel) -> bool {
    is_open_to(user, channel) || is_granted_content(dir, user, channel)
}

/// Web-public channels are open to everyone, public ones to all but guests.
fn is_open_to(user: &User, channel: &Channel) -> bool {
    channel.is_web_public || (!channel.invite_only && !user.is_guest())
}

/// The messages of a channel that a user may read; none without content access.
pub fn history_of<'d>(dir: &'d Directory, user: &User, channel: &Channel) -> Option<History<'d>> {
    if !sees_content(dir, user, channel) {
        return None;
    }
    if channel.history_public_to_subscribers || channel.is_web_public || !channel.invite_only {
        return Some(History::Whole);
    }
    match dir.subscription(channel.id, user.id) {
        Some(subscription) if subscription.is_active => Some(History::Delivered(&subscription.spans)),
        _ => Some(History::Delivered(&[])),
    }
}

/// Whether a user may change a channel: administrators of the organization, and non-guests in
/// `can_administer_channel_group`.
pub fn administers_channel(dir: &Directory, user: &User, channel: &Channel) -> bool {
    user.is_administrator()
        || (!user.is_guest() && dir.holds(&channel.permissions.administer_channel, user.id))
}

/// Non-guests who may subscribe themselves or others may read without being subscribed.
pub(crate) fn is_granted_content(dir: &Directory, user: &User, channel: &Channel) -> bool {
    !user.is_guest()
        && (dir.holds(&channel.permissions.add_subscribers, user.id)
            || dir.holds(&channel.permissions.subscribe, user.id))
}

fn find<'d>(dir: &'d Directory, wanted: ChannelRef, archived: Archived) -> Option<&'d Arc<Channel>> {
    let channel = match wanted {
        ChannelRef::Id(id) => by_id(dir, id)?,
        ChannelRef::Name(name) => dir.channel_by_name(crate::text::strip(name))?,
    };
    (archived == Archived::Allowed || !channel.is_archived).then_some(channel)
}

fn by_id(dir: &Directory, id: i64) -> Option<&Arc<Channel>> {
    dir.channel(ChannelId(u32::try_from(id).ok()?))
}

fn not_found(wanted: ChannelRef) -> RuleError {
    match wanted {
        ChannelRef::Id(_) => RuleError::InvalidChannelId,
        ChannelRef::Name(name) => RuleError::InvalidChannelName { name: name.to_owned() },
    }
}

/// Finds a channel whose topics a user sets a policy for: the user must be able to read it, except to remove a policy.
/// None if a policy is removed and the channel is neither visible to the user nor has a policy of the user.
/// `InvalidChannelId` or `InvalidChannelName`.
pub fn access_channel_for_policy(
    directory: &Directory,
    user: &User,
    wanted: ChannelRef<'_>,
    policy: VisibilityPolicy,
) -> Result<Option<ChannelId>, RuleError> {
    if policy != VisibilityPolicy::Inherit {
        let found = access_channel_content(directory, user, wanted, Archived::Refused)?;
        return Ok(Some(found.channel().id));
    }
    let is_known = |channel: &&Arc<Channel>| {
        sees_channel(directory, user, channel)
            || directory.topics_of_user(user.id).any(|(of, ..)| of == channel.id)
    };
    Ok(find(directory, wanted, Archived::Allowed).filter(is_known).map(|channel| channel.id))
}

#[cfg(test)]
mod tests;
