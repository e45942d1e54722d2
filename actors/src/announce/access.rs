//! Recipients of events about messages that were sent before, and about users (docs/api/events.md#event-rules).

use model::{
    Audience, Channel, ChannelId, ConversationId, Directory, EventKind, Message, MessageId, Subscription,
    User, UserId,
};
use roaring::{MultiOps, RoaringBitmap};
use rules::permissions::channel::{History, history_of};
use rules::permissions::users::sees_user;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use storage::View;

/// The users who can receive events; none if every user may. Large audiences are narrowed to them.
pub(crate) type Listening<'a> = Option<&'a dyn Listeners>;

/// The event queues of an organization, as far as it matters which events are made.
pub(crate) trait Listeners {
    /// The users who have queues, in order.
    fn users(&self) -> Vec<UserId>;

    /// Whether a user has a queue that gets a type of events.
    fn receives(&self, user: UserId, kind: EventKind) -> bool;
}

/// Users who may see a user.
pub(super) fn users_who_see(directory: &Directory, about: &User) -> Vec<UserId> {
    let users = directory.users();
    users.filter(|user| user.is_active && sees_user(directory, user, about)).map(|user| user.id).collect()
}

/// Active users who may not see a user: only guests may be restricted.
pub(super) fn guests_without_access(directory: &Directory, about: &User) -> BTreeSet<UserId> {
    let blind = directory.guests().filter(|guest| guest.is_active && !sees_user(directory, guest, about));
    blind.map(|guest| guest.id).collect()
}

/// The audience of events about a user: all who may see the user, or (if a guest may not) those of them who can receive
/// events, where that is known. Costs a step for each guest or for each of the latter, at most; otherwise for each user.
pub(crate) fn viewers_of(directory: &Directory, about: &User, listening: Listening<'_>) -> Audience {
    let listening = listening.map(|listeners| listeners.users());
    let is_each_guest_asked =
        listening.as_ref().is_none_or(|users| directory.guests().nth(users.len()).is_none());
    if is_each_guest_asked && guests_without_access(directory, about).is_empty() {
        return Audience::Everyone;
    }
    Audience::Users(match listening {
        Some(users) => {
            let sees = |user: &User| user.is_active && sees_user(directory, user, about);
            users.into_iter().filter(|user| directory.user(*user).is_some_and(|user| sees(user))).collect()
        }
        None => users_who_see(directory, about).into(),
    })
}

/// A user who has some of the messages in question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub user: UserId,
    /// The messages that the user has; none: all of them.
    pub part: Option<RoaringBitmap>,
}

/// The access set of messages that are in one place: all users of a direct conversation; of a public channel the
/// subscribers and those non-guests who have any of the messages; of a private one the subscribers; with protected
/// history, subscribers with the messages that each has.
///
/// Where it is known who can receive events, those of them, with all users of a direct conversation and of a channel with
/// fewer subscribers: in proportion to them and not to the members.
///
/// In a replay the messages may be deleted: who received them then follows from the subscription spans. Users who had some
/// of them otherwise, by a star or a move, are unknown: for a public channel, all users who could read it are recipients.
pub fn holders(
    view: &View,
    directory: &Directory,
    conversation: ConversationId,
    ids: &RoaringBitmap,
    (listening, is_replay): (Listening<'_>, bool),
) -> Vec<Holder> {
    let channel = match conversation {
        ConversationId::Direct(recipient) => {
            let users = directory.direct(recipient).map(|direct| direct.users.as_slice());
            let users = users.unwrap_or_default().iter().filter(|user| directory.is_active_user(**user));
            return users.map(|user| Holder { user: *user, part: None }).collect();
        }
        ConversationId::Channel(channel) => channel,
    };
    let Some(record) = directory.channel(channel) else { return Vec::new() };
    let is_protected = is_protected(record);
    let listening = listening.map(|listeners| listeners.users());
    let mut found = Vec::new();
    for (id, subscription) in subscriptions(directory, channel, listening.as_deref()) {
        let Some(user) = directory.user(id).filter(|user| user.is_active) else { continue };
        if subscription.is_active && !is_protected {
            found.push(Holder { user: id, part: None });
            continue;
        }
        let may_have = subscription.is_active || (!record.invite_only && !user.is_guest());
        if !may_have {
            continue;
        }
        let received = received(view, id, &subscription, ids, is_replay);
        if received.is_empty() {
            continue;
        }
        let part = (is_protected && received != *ids).then_some(received);
        found.push(Holder { user: id, part });
    }
    if !record.invite_only {
        let recipients: BTreeSet<UserId> = found.iter().map(|holder| holder.user).collect();
        let retained_users = match is_replay {
            true => directory.users().filter(|user| user.is_active).cloned().collect(),
            false => retained_users(view, directory, ids, listening.as_deref()),
        };
        let retained_users = retained_users.into_iter();
        let others = retained_users.filter(|user| !user.is_guest() && !recipients.contains(&user.id));
        found.extend(others.map(|user| Holder { user: user.id, part: None }));
    }
    found
}

/// Whether each subscriber of a channel has only what they received: a private one with protected history.
fn is_protected(channel: &Channel) -> bool {
    channel.invite_only && !channel.history_public_to_subscribers
}

/// Whether all users with access to messages of a conversation have the same ones.
pub fn has_shared_history(directory: &Directory, conversation: ConversationId) -> bool {
    match conversation {
        ConversationId::Direct(_) => true,
        ConversationId::Channel(channel) => {
            directory.channel(channel).is_some_and(|record| !is_protected(record))
        }
    }
}

/// The subscriptions to a channel by user, ended ones included; only those of users who can receive events, where that is
/// known and they are fewer.
fn subscriptions(
    directory: &Directory,
    channel: ChannelId,
    listening: Option<&[UserId]>,
) -> Vec<(UserId, Arc<Subscription>)> {
    let all = directory.subscriptions_of(channel);
    match listening.filter(|users| users.len() < all.len()) {
        Some(users) => users.iter().filter_map(|user| Some((*user, all.get(user)?.clone()))).collect(),
        None => all.iter().map(|(user, subscription)| (*user, subscription.clone())).collect(),
    }
}

/// Users who have any of some messages without having received them, for example by starring one; only those who can receive
/// events, where that is known.
fn retained_users(
    view: &View,
    directory: &Directory,
    ids: &RoaringBitmap,
    listening: Option<&[UserId]>,
) -> Vec<Arc<User>> {
    let users = &view.messages.users;
    let has = |user: &UserId| users.get(user).is_some_and(|mine| !mine.historical.is_disjoint(ids));
    let have: Vec<UserId> = match listening {
        Some(listening) => listening.iter().copied().filter(has).collect(),
        None => users.flagged_near(ids).iter().map(UserId).filter(has).collect(),
    };
    let users = have.into_iter().filter_map(|user| directory.user(user)).filter(|user| user.is_active);
    let mut users: Vec<Arc<User>> = users.cloned().collect();
    users.sort_unstable_by_key(|user| user.id);
    users
}

/// The recipients of a change of a message: users who have it and, where the history is shared, all subscribers; as in
/// [`holders`], where it is known who can receive events. Whether they can read it afterwards is for the caller to check.
pub fn receivers(
    view: &View,
    directory: &Directory,
    conversation: ConversationId,
    message: &RoaringBitmap,
    (listening, is_replay): (Listening<'_>, bool),
) -> Vec<UserId> {
    let ConversationId::Channel(channel) = conversation else {
        let holders = holders(view, directory, conversation, message, (listening, is_replay));
        return holders.into_iter().map(|one| one.user).collect();
    };
    let is_shared = directory.channel(channel).is_some_and(|record| {
        record.history_public_to_subscribers || record.is_web_public || !record.invite_only
    });
    let listening = listening.map(|listeners| listeners.users());
    let subscriptions = subscriptions(directory, channel, listening.as_deref());
    let recipients = subscriptions.iter().filter(|(user, subscription)| {
        directory.is_active_user(*user)
            && ((is_shared && subscription.is_active)
                || !received(view, *user, subscription, message, is_replay).is_empty())
    });
    let mut recipients: Vec<UserId> = recipients.map(|(user, _)| *user).collect();
    let retained_users = retained_users(view, directory, message, listening.as_deref());
    recipients.extend(retained_users.iter().map(|user| user.id));
    recipients.sort_unstable();
    recipients.dedup();
    recipients
}

/// Those of some messages of a channel that a user has, or (in a replay) once received there.
fn received(
    view: &View,
    user: UserId,
    subscription: &Subscription,
    ids: &RoaringBitmap,
    is_replay: bool,
) -> RoaringBitmap {
    let mut found = view.accessible_among(user, ids);
    if is_replay {
        found.extend(ids.iter().filter(|id| subscription.received(MessageId(*id))));
    }
    found
}

/// The channel that a message is in now; `sent_to` is where it most often still is.
pub fn channel_of(view: &View, id: MessageId, sent_to: ChannelId) -> Option<ChannelId> {
    let is_in = |channel: ChannelId| view.channel_ids(channel).is_some_and(|ids| ids.contains(id.0));
    if is_in(sent_to) {
        return Some(sent_to);
    }
    view.messages
        .channels
        .iter()
        .find(|(_, messages)| messages.ids.contains(id.0))
        .map(|(channel, _)| *channel)
}

/// Where a message is now; `then` is where it was, and most often still is. None: it was deleted.
pub fn conversation_now(view: &View, id: MessageId, then: ConversationId) -> Option<ConversationId> {
    match then {
        ConversationId::Direct(_) => Some(then),
        ConversationId::Channel(channel) => channel_of(view, id, channel).map(ConversationId::Channel),
    }
}

/// Whether a message exists and was delivered to a user; `then` as in [`conversation_now`].
pub fn is_delivered_now(view: &View, user: UserId, then: ConversationId, id: MessageId) -> bool {
    view.messages.all.contains(id.0)
        && conversation_now(view, id, then)
            .is_some_and(|conversation| view.is_delivered_at(user, conversation, id))
}

/// What holders can no longer read of messages that were moved to another channel, by the messages.
///
/// In a replay also what they could read there, but cannot read now: they get no event of the move itself, so that only this
/// one takes the messages from where their clients have them.
pub fn lost_access(
    view: &View,
    after: &Directory,
    holders: &[Holder],
    ids: &RoaringBitmap,
    (channel, is_replay): (ChannelId, bool),
) -> BTreeMap<Vec<MessageId>, Vec<UserId>> {
    let mut lost: BTreeMap<Vec<MessageId>, Vec<UserId>> = BTreeMap::new();
    let Some(record) = after.channel(channel) else { return lost };
    let places = if is_replay { split_by_channel(view, ids) } else { Vec::new() };
    // What the request itself deleted has an event of its own. What was deleted later has one for those who could read it then.
    let (moved, deleted) = match is_replay {
        true => (ids.clone(), ids - &view.messages.all),
        false => (ids & &view.messages.all, RoaringBitmap::new()),
    };
    let all: Vec<MessageId> = moved.iter().map(MessageId).collect();
    let mut shut_out = Vec::new();
    for holder in holders {
        let Some(user) = after.user(holder.user) else { continue };
        let mut kept = match history_of(after, user, record) {
            Some(History::Whole) if !is_replay => continue,
            Some(History::Whole) => ids.clone(),
            Some(History::Delivered(_)) if after.is_subscribed(channel, user.id) => {
                view.accessible_among(user.id, ids) | &deleted
            }
            _ => RoaringBitmap::new(),
        };
        if is_replay {
            kept &= readable_now(view, holder.user, channel, &places, &deleted);
        }
        if holder.part.is_none() && kept.is_empty() {
            shut_out.push(user.id);
            continue;
        }
        let had = holder.part.as_ref().map_or_else(|| moved.clone(), |part| part & &moved);
        let taken: Vec<MessageId> = (had - kept).iter().map(MessageId).collect();
        lost.entry(taken).or_default().push(user.id);
    }
    lost.entry(all).or_default().extend(shut_out);
    lost.retain(|messages, users| !messages.is_empty() && !users.is_empty());
    lost.values_mut().for_each(|users| users.sort_unstable());
    lost
}

/// Of messages that were moved to a channel, those that a user can read where they are now, and the deleted ones if the user
/// reads the channel: a deletion is announced to those who do.
fn readable_now(
    view: &View,
    user: UserId,
    channel: ChannelId,
    places: &[(ChannelId, RoaringBitmap)],
    deleted: &RoaringBitmap,
) -> RoaringBitmap {
    let Some(user) = view.directory.user(user) else { return RoaringBitmap::new() };
    let mut found = readable_in_any(view, user, places).into_owned();
    if reads_channel(view, user, channel) {
        found |= deleted;
    }
    found
}

/// Whether a user reads what is sent to a channel.
pub fn reads_channel(view: &View, user: &User, channel: ChannelId) -> bool {
    let conversation = ConversationId::Channel(channel);
    rules::permissions::message::can_read(&view.directory, user, conversation, || true)
}

/// Whether a user can read a message that is in `conversation` now.
pub fn can_read(
    view: &View,
    directory: &Directory,
    user: &User,
    conversation: ConversationId,
    id: MessageId,
) -> bool {
    let received = || view.messages.all.contains(id.0) && view.has_at(user.id, conversation, id);
    rules::permissions::message::can_read(directory, user, conversation, received)
}

/// The channels that some messages are in now, each with those of them that are there.
pub fn split_by_channel(view: &View, ids: &RoaringBitmap) -> Vec<(ChannelId, RoaringBitmap)> {
    let parts = view.messages.channels.iter().map(|(channel, messages)| (*channel, &messages.ids & ids));
    parts.filter(|(_, part)| !part.is_empty()).collect()
}

/// Those of some messages of a channel that a user can read. Borrowed if they are all of them.
pub fn readable_in<'i>(
    view: &View,
    user: &User,
    channel: ChannelId,
    ids: &'i RoaringBitmap,
) -> Cow<'i, RoaringBitmap> {
    let record = view.directory.channel(channel);
    match record.and_then(|record| history_of(&view.directory, user, record)) {
        Some(History::Whole) => Cow::Borrowed(ids),
        Some(History::Delivered(_)) if view.directory.is_subscribed(channel, user.id) => {
            Cow::Owned(view.accessible_in_channel(user.id, channel, ids))
        }
        Some(History::Delivered(_)) | None => Cow::Owned(RoaringBitmap::new()),
    }
}

/// Those of the messages of some channels that a user can read. Borrowed if they are all of them in one channel.
pub fn readable_in_any<'i>(
    view: &View,
    user: &User,
    places: &'i [(ChannelId, RoaringBitmap)],
) -> Cow<'i, RoaringBitmap> {
    match places {
        [(channel, ids)] => readable_in(view, user, *channel, ids),
        places => {
            let parts = places.iter().map(|(channel, ids)| readable_in(view, user, *channel, ids));
            let parts: Vec<_> = parts.collect();
            Cow::Owned(parts.iter().map(|part| &**part).union())
        }
    }
}

/// Whether a user can read any of some messages of a channel.
pub fn can_read_any(view: &View, user: &User, channel: ChannelId, ids: &RoaringBitmap) -> bool {
    !readable_in(view, user, channel, ids).is_empty()
}

/// Whether a message exists and a user can read it where it is now.
pub fn can_read_now(view: &View, user: &User, message: &Message) -> bool {
    let conversation = conversation_now(view, message.id, ConversationId::of(message));
    view.messages.all.contains(message.id.0)
        && conversation
            .is_some_and(|conversation| can_read(view, &view.directory, user, conversation, message.id))
}
