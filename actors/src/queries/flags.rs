//! Which messages a change of flags affects (docs/api/message-flags.md#change-flags).

use super::own;
use model::fact::MessageRanges;
use model::{ChannelId, Flag, FlagOp, MessageId, TopicKey, User, UserId};
use roaring::RoaringBitmap;
use rules::RuleError;
use rules::permissions::channel::{History, history_of};
use storage::View;

/// The effect of a change of flags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlagSelection {
    /// Messages whose flags change.
    pub messages: MessageRanges,
    pub count: u64,
    /// Channels whose messages are skipped because the user is not subscribed; sorted.
    pub not_subscribed: Vec<ChannelId>,
}

/// Selects among messages that a client names. Messages that were never delivered can be starred and collapsed if they can
/// be read, and marked unread in subscribed channels; they always count as read.
///
/// # Errors
/// `InvalidMessage` for what does not exist or cannot be read, unless it is only about being read.
pub fn select_flags(
    view: &View,
    user: &User,
    (flag, op): (Flag, FlagOp),
    ids: &[MessageId],
) -> Result<FlagSelection, RuleError> {
    let wanted: RoaringBitmap = ids.iter().map(|id| id.0).collect();
    let mut candidates = own(view, user, &wanted);
    let others = &wanted - &candidates;
    let is_unreading = (flag, op) == (Flag::Read, FlagOp::Remove);
    if flag != Flag::Read || is_unreading {
        let readable = readable(view, user, &others);
        if flag != Flag::Read && readable != others {
            return Err(RuleError::InvalidMessage);
        }
        candidates |= readable;
    }
    let not_subscribed =
        if is_unreading { drop_not_subscribed(view, user, &mut candidates) } else { Vec::new() };
    let changed = changed(view, user, flag, op, candidates);
    Ok(FlagSelection { not_subscribed, ..selection(&changed) })
}

fn selection(changed: &RoaringBitmap) -> FlagSelection {
    FlagSelection {
        messages: MessageRanges::from_sorted(changed.iter().map(MessageId)),
        count: changed.len(),
        not_subscribed: Vec::new(),
    }
}

/// Which messages to mark as read.
#[derive(Clone, Copy, Debug)]
pub enum ReadScope<'t> {
    Everything,
    Channel(ChannelId),
    Topic(ChannelId, &'t TopicKey),
    /// Messages of one sender.
    Sender(UserId),
}

/// Selects a user's unread messages. None: no message of the topic was delivered to the user.
pub fn select_unread(view: &View, user: &User, scope: ReadScope<'_>) -> Option<FlagSelection> {
    let none = RoaringBitmap::new();
    let unread = match scope {
        ReadScope::Everything => own::unread(view, user),
        ReadScope::Channel(channel) => {
            view.unread_of(user.id, &own(view, user, view.channel_ids(channel).unwrap_or(&none)))
        }
        ReadScope::Sender(sender) => {
            let sent = view.messages.senders.get(&sender).unwrap_or(&none);
            view.unread_of(user.id, &own(view, user, sent))
        }
        ReadScope::Topic(channel, topic) => {
            let topic = view.messages.topic(channel, topic)?;
            let own = own(view, user, &topic.ids);
            if own.is_empty() {
                return None;
            }
            view.unread_of(user.id, &own)
        }
    };
    Some(selection(&unread))
}

/// Those of some messages that were delivered to a user, or that the user has flagged.
fn own(view: &View, user: &User, ids: &RoaringBitmap) -> RoaringBitmap {
    let mut own = view.delivered_among(user.id, ids);
    if let Some(mine) = view.messages.users.get(&user.id).filter(|mine| !mine.historical.is_empty()) {
        own |= &mine.historical & ids;
    }
    own
}

/// Those of some messages in channels whose whole history a user can read.
fn readable(view: &View, user: &User, ids: &RoaringBitmap) -> RoaringBitmap {
    let mut readable = RoaringBitmap::new();
    if ids.is_empty() {
        return readable;
    }
    for (channel, messages) in &view.messages.channels {
        if messages.ids.is_disjoint(ids) {
            continue;
        }
        let channel = view.directory.channel(*channel);
        let history = channel.and_then(|channel| history_of(&view.directory, user, channel));
        if history == Some(History::Whole) {
            readable |= &messages.ids & ids;
        }
    }
    readable
}

/// Removes messages of channels to which a user is not subscribed, and returns these channels.
fn drop_not_subscribed(view: &View, user: &User, ids: &mut RoaringBitmap) -> Vec<ChannelId> {
    let mut dropped = Vec::new();
    for (channel, messages) in &view.messages.channels {
        if !view.directory.is_subscribed(*channel, user.id) && !messages.ids.is_disjoint(ids) {
            *ids -= &messages.ids;
            dropped.push(*channel);
        }
    }
    dropped.sort_unstable();
    dropped
}

/// Those of some messages that do not have the flag yet, or still have it.
fn changed(view: &View, user: &User, flag: Flag, op: FlagOp, candidates: RoaringBitmap) -> RoaringBitmap {
    let mine = view.messages.users.get(&user.id);
    let set = mine.and_then(|mine| mine.set(flag));
    match (op, set) {
        (FlagOp::Add, None) => candidates,
        (FlagOp::Add, Some(set)) => candidates - set,
        // Messages that were never delivered count as read until the user marks them as unread.
        (FlagOp::Remove, _) if flag == Flag::Read => {
            &candidates - view.unread_of(user.id, &own(view, user, &candidates))
        }
        (FlagOp::Remove, None) => RoaringBitmap::new(),
        (FlagOp::Remove, Some(set)) => candidates & set,
    }
}
