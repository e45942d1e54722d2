//! What a user may see, read and do in a channel (docs/api/permissions.md#channel-access).
//!
//! A channel that somebody must not know of is refused exactly like one that does not exist.

use crate::error::RuleError;
use crate::names;
use model::{Channel, ChannelId, Directory, MessageId, SubscriptionSpan, User, VisibilityPolicy};
use std::sync::Arc;

/// Whether archived channels count as existing; most endpoints say they do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Archived {
    /// They do.
    Allowed,
    /// They do not.
    Refused,
}

/// How a client names a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelRef<'a> {
    /// By id, as sent.
    Id(i64),
    /// By name, as sent.
    Name(&'a str),
}

/// A channel of which the asker may know that it exists, its name and its settings.
#[derive(Clone, Copy, Debug)]
pub struct VisibleChannel<'d> {
    channel: &'d Arc<Channel>,
}

impl<'d> VisibleChannel<'d> {
    /// The channel.
    pub fn channel(&self) -> &'d Arc<Channel> {
        self.channel
    }
}

/// Which messages of a channel somebody may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History<'d> {
    /// All of them.
    Whole,
    /// Protected history: only those delivered in these stretches (and what later moves made an exception of).
    Delivered(&'d [SubscriptionSpan]),
}

impl History<'_> {
    /// Whether a message of the channel is among them, exceptions aside.
    pub fn includes(&self, id: MessageId) -> bool {
        match self {
            Self::Whole => true,
            Self::Delivered(spans) => {
                spans.iter().any(|span| id > span.after && span.until.is_none_or(|until| id <= until))
            }
        }
    }
}

/// A channel whose content the asker may see, and how much of it.
#[derive(Clone, Copy, Debug)]
pub struct ReadableChannel<'d> {
    channel: &'d Arc<Channel>,
    history: History<'d>,
}

impl<'d> ReadableChannel<'d> {
    /// The channel.
    pub fn channel(&self) -> &'d Arc<Channel> {
        self.channel
    }

    /// How much of it.
    pub fn history(&self) -> History<'d> {
        self.history
    }
}

/// A channel to which the asker may write.
#[derive(Clone, Copy, Debug)]
pub struct PostableChannel<'d> {
    channel: &'d Arc<Channel>,
}

impl<'d> PostableChannel<'d> {
    /// The channel.
    pub fn channel(&self) -> &'d Arc<Channel> {
        self.channel
    }
}

/// Finds a channel to look at. `InvalidChannelId` or `InvalidChannelName`.
pub fn access_channel_metadata<'d>(
    dir: &'d Directory,
    user: &User,
    wanted: ChannelRef,
    archived: Archived,
) -> Result<VisibleChannel<'d>, RuleError> {
    match find(dir, wanted, archived) {
        Some(channel) if sees_channel(dir, user, channel) => Ok(VisibleChannel { channel }),
        _ => Err(not_found(wanted)),
    }
}

/// Finds a channel to read in. `InvalidChannelId` or `InvalidChannelName`.
pub fn access_channel_content<'d>(
    dir: &'d Directory,
    user: &User,
    wanted: ChannelRef,
    archived: Archived,
) -> Result<ReadableChannel<'d>, RuleError> {
    let channel = find(dir, wanted, archived).ok_or_else(|| not_found(wanted))?;
    match history_of(dir, user, channel) {
        Some(history) => Ok(ReadableChannel { channel, history }),
        None => Err(not_found(wanted)),
    }
}

/// Finds a channel to change: administered by the user. Others learn only what they could see anyway.
pub fn access_channel_administration<'d>(
    dir: &'d Directory,
    user: &User,
    id: i64,
) -> Result<VisibleChannel<'d>, RuleError> {
    let channel = find(dir, ChannelRef::Id(id), Archived::Allowed).ok_or(RuleError::InvalidChannelId)?;
    if administers_channel(dir, user, channel) {
        return Ok(VisibleChannel { channel });
    }
    if sees_content(dir, user, channel) {
        return Err(RuleError::ChannelNotAdministered);
    }
    Err(RuleError::InvalidChannelId)
}

/// Finds a channel to post in (docs/api/messages.md#send-a-message): `ChannelDoesNotExist` or `ChannelIdDoesNotExist`,
/// then the errors of `check_may_post`.
pub fn access_channel_to_post<'d>(
    dir: &'d Directory,
    sender: &User,
    wanted: ChannelRef,
) -> Result<PostableChannel<'d>, RuleError> {
    let (found, missing) = match wanted {
        ChannelRef::Id(id) => (by_id(dir, id), RuleError::ChannelIdDoesNotExist { id }),
        ChannelRef::Name(raw) => {
            let name = names::parse_channel_name(raw)?;
            (dir.channel_by_name(name), RuleError::ChannelDoesNotExist { name: name.to_owned() })
        }
    };
    let channel = found.filter(|channel| may_address(dir, sender, channel)).ok_or(missing)?;
    check_may_post(dir, sender, channel)?;
    Ok(PostableChannel { channel })
}

/// Whether a sender may learn that there is a channel: to all others a message to it is one to no channel at all. A bot
/// writes where its owner subscribes.
pub fn may_address(dir: &Directory, sender: &User, channel: &Channel) -> bool {
    sender.is_system_bot()
        || sees_channel(dir, sender, channel)
        || sender.owner().is_some_and(|owner| dir.is_subscribed(channel.id, owner))
}

/// Whether a user may post in a channel that they can see (docs/api/messages.md#send-a-message).
pub fn check_may_post(dir: &Directory, sender: &User, channel: &Channel) -> Result<(), RuleError> {
    let owner = sender.owner();
    let send_message = &channel.permissions.send_message;
    // To be named suffices here: a channel may be for what one bot writes.
    let is_permitted = sender.is_system_bot()
        || dir.is_named(send_message, sender.id)
        || owner.is_some_and(|owner| dir.holds(send_message, owner));
    if !is_permitted {
        return Err(RuleError::PostingNotPermitted);
    }
    let refused = || RuleError::SendingNotAuthorized { name: channel.name.clone() };
    if channel.is_archived {
        return Err(refused());
    }
    let is_inside = sender.is_system_bot()
        || channel.is_web_public
        || (!channel.invite_only && !sender.is_guest())
        || dir.is_subscribed(channel.id, sender.id)
        || owner.is_some_and(|owner| dir.is_subscribed(channel.id, owner))
        || (channel.history_public_to_subscribers && is_granted_content(dir, sender, channel));
    if is_inside { Ok(()) } else { Err(refused()) }
}

/// Whether a user may see a channel (docs/api/permissions.md#channel-access).
pub fn sees_channel(dir: &Directory, user: &User, channel: &Channel) -> bool {
    if channel.is_web_public || dir.is_subscribed(channel.id, user.id) {
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
    if channel.invite_only {
        return user.is_administrator() || dir.is_subscribed(channel.id, user.id);
    }
    sees_channel(dir, user, channel)
}

/// Whether a user may list a channel's subscribers: guests only where they are one themselves.
pub fn check_may_list_subscribers(dir: &Directory, user: &User, channel: &Channel) -> Result<(), RuleError> {
    let may = if user.is_guest() {
        dir.is_subscribed(channel.id, user.id)
    } else {
        sees_subscribers(dir, user, channel)
    };
    if may { Ok(()) } else { Err(RuleError::InvalidChannelId) }
}

/// Whether a user may see content of a channel, now or later. The role of administrator alone does not let
/// anybody into a private channel.
pub fn sees_content(dir: &Directory, user: &User, channel: &Channel) -> bool {
    channel.is_web_public
        || (!channel.invite_only && !user.is_guest())
        || dir.is_subscribed(channel.id, user.id)
        || is_granted_content(dir, user, channel)
}

/// Which messages of a channel a user may read; none without content access.
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

/// Non-guests in a group that may subscribe itself or others may read without being subscribed.
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

/// Finds the channel for whose topics a user sets a policy: one whose content the user can read. A policy can be removed
/// without that; the result is none when the channel is unknown to the user and the user has no policy in it.
///
/// # Errors
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
    let found = match wanted {
        ChannelRef::Id(id) => u32::try_from(id).ok().and_then(|id| directory.channel(ChannelId(id))),
        ChannelRef::Name(name) => directory.channel_by_name(crate::text::strip(name)),
    };
    let is_known = |channel: &&Arc<Channel>| {
        sees_channel(directory, user, channel)
            || directory.topics_of_user(user.id).any(|(of, ..)| of == channel.id)
    };
    Ok(found.filter(is_known).map(|channel| channel.id))
}

#[cfg(test)]
mod tests;
