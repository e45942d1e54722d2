//! Events of messages: sent, flagged, changed, gone, reacted to.

use super::access;
use super::context::{Announcements, EventContext};
use super::pre_images::{Texts, spot_of};
use model::event::{
    ChangedContent, ChannelChange, Clients, MessageChange, MessageContext, MovedMessages, UnreadDetail,
};
use model::fact::{DeletedFrom, MessageRanges, MessageUpdate, Movement};
use model::{
    Audience, ChannelId, EventBody, Flag, FlagOp, Flags, Message, MessageFact, MessageId, MessageVersion,
    Place, Reaction, Spot, Submessage, User, UserId,
};
use roaring::RoaringBitmap;
use rules::permissions::channel::sees_channel;
use std::sync::Arc;
use storage::View;

/// The events of a fact about messages.
pub(super) fn announce(
    context: &EventContext<'_>,
    position: usize,
    fact: &MessageFact,
    out: &mut Announcements,
) {
    match fact {
        MessageFact::Sent { message, .. } => {
            if let Some(body) = message_body(context.view, message) {
                out.add(body, Audience::Readers(message.clone()));
            }
        }
        MessageFact::Updated(update) => updated(context, position, update, out),
        MessageFact::Deleted { from, messages, by } => deleted(context, position, (from, messages), *by, out),
        MessageFact::FlagsChanged { user, flag, op, messages } => {
            flagged(context, *user, (*flag, *op), messages, out);
        }
        MessageFact::ReactionAdded { message, spot, reaction: added } => {
            reaction(context, (*message, *spot), added, true, out);
        }
        MessageFact::ReactionRemoved { message, spot, reaction: removed, .. } => {
            reaction(context, (*message, *spot), removed, false, out);
        }
        MessageFact::SubmessageAdded { message, spot, submessage: added } => {
            submessage(context, (*message, *spot), added, out);
        }
        // Its first message says it.
        MessageFact::ConversationCreated(_) => {}
    }
}

/// A message event's body, with the names as they are now.
pub fn message_body(view: &View, message: &Arc<Message>) -> Option<EventBody> {
    let sender = view.directory.user(message.sender)?.clone();
    let context = match &message.place {
        Place::Channel { channel, .. } => {
            let name = view.directory.channel(*channel)?.name.as_str().into();
            MessageContext { sender, channel_name: Some(name), participants: Vec::new() }
        }
        Place::Direct => {
            let direct = view.directory.direct(message.recipient)?;
            let participants =
                direct.users.iter().filter_map(|id| view.directory.user(*id).cloned()).collect();
            MessageContext { sender, channel_name: None, participants }
        }
    };
    Some(EventBody::Message { message: message.clone(), context })
}

/// One request changed a message: first those learn of it who lose messages by it, then those who keep them.
fn updated(context: &EventContext<'_>, position: usize, update: &MessageUpdate, out: &mut Announcements) {
    let Some(origin) = spot_of(context.view, update) else { return };
    if let Some(movement) = &update.movement {
        lost_by_move(context, position, movement, out);
    }
    let recipients = recipients(context, position, update, origin);
    let mut change = change(context, position, update, origin);
    if change.content.is_none() && change.movement.is_none() {
        return;
    }
    let first = out.next;
    if !recipients.of_all.is_empty() {
        let change = EventBody::MessageChanged(Box::new(change.clone()));
        out.push(first, Clients::All, change, Audience::Flagged(recipients.of_all.into()));
    }
    if !recipients.of_move.is_empty() {
        change.content = None;
        let change = EventBody::MessageChanged(Box::new(change));
        out.push(first, Clients::All, change, Audience::Flagged(recipients.of_move.into()));
    }
    if let Some(movement) = &update.movement
        && let Some(arrival) = &movement.new_channel
    {
        first_message_left(context, movement.channel, &movement.messages, out);
        first_message_came(context, arrival.channel, &movement.messages, out);
    }
}

fn lost_by_move(context: &EventContext<'_>, position: usize, movement: &Movement, out: &mut Announcements) {
    let Some(arrival) = &movement.new_channel else { return };
    let holders = context.before.holders.get(&position).map(Vec::as_slice).unwrap_or_default();
    let ids: RoaringBitmap = movement.messages.iter().map(|id| id.0).collect();
    let lost = access::lost(context.view, context.after, holders, &ids, arrival.channel);
    let place = Some((movement.channel, movement.topic.clone()));
    let bodies = lost.into_iter().map(|(messages, users)| {
        let body = EventBody::MessagesDeleted { place: place.clone(), messages };
        (users, body)
    });
    out.each(bodies.collect::<Vec<_>>());
}

/// Who is told of a change, each with what the target is to them now. Nobody is in both.
#[derive(Default)]
struct Recipients {
    /// Everything.
    of_all: Vec<(UserId, Flags)>,
    /// Where messages went: what the target says is not for them any more, but they still have others that moved.
    of_move: Vec<(UserId, Flags)>,
}

fn recipients(
    context: &EventContext<'_>,
    position: usize,
    update: &MessageUpdate,
    origin: Spot,
) -> Recipients {
    let (view, target) = (context.view, update.target);
    let sent_to = match (&update.movement, origin) {
        (Some(Movement { new_channel: Some(arrival), .. }), _) => Spot::Channel(arrival.channel),
        (_, origin) => origin,
    };
    let (mut place, mut others) = (Some(sent_to), Vec::new());
    // In a replay other moves and deletions may have followed: what may be read is decided by what is where now.
    if let (Spot::Channel(channel), true) = (sent_to, context.before.is_replay) {
        place = access::channel_of(view, target, channel).map(Spot::Channel);
        let moved = update.movement.iter().flat_map(|movement| movement.messages.iter());
        others = access::parts_of(view, &moved.map(|id| id.0).collect());
    }
    // The request may have taken the target itself away, a notice that it made pointless: who had it stays as it was.
    let is_undone = !context.before.is_replay && !view.messages.all.contains(target.0);
    let mut recipients = Recipients::default();
    for id in affected(context, position, update, origin) {
        let Some(user) = view.directory.user(id) else { continue };
        let reads = |place| match is_undone {
            true => rules::permissions::message::can_read(&view.directory, user, place, || true),
            false => access::can_read(view, &view.directory, user, place, target),
        };
        if place.is_some_and(reads) {
            recipients.of_all.push((id, flags_of(view, id, target)));
        } else if others.iter().any(|(channel, ids)| access::can_read_any(view, user, *channel, ids)) {
            recipients.of_move.push((id, flags_of(view, id, target)));
        }
    }
    recipients
}

/// Who is told of a change if they can read what it leaves; sorted.
fn affected(
    context: &EventContext<'_>,
    position: usize,
    update: &MessageUpdate,
    origin: Spot,
) -> Vec<UserId> {
    let mut users = context.before.readers.get(&position).cloned().unwrap_or_default();
    // Whoever has the messages by the move alone has them now, too; guests are told if they could have seen them before.
    let arrival = update.movement.as_ref().and_then(|movement| movement.new_channel.as_ref());
    for delivery in arrival.map(|arrival| arrival.deliveries.as_slice()).unwrap_or_default() {
        let newly =
            delivery.users.iter().filter(|_| delivery.is_new && delivery.messages.contains(update.target));
        users.extend(newly.filter(|user| {
            let user = context.before().user(**user).filter(|user| user.is_active);
            let could_read =
                |user| rules::permissions::message::can_read(context.before(), user, origin, || false);
            user.is_some_and(|user| !user.is_guest() || could_read(user))
        }));
    }
    if let Some(arrival) = arrival {
        users.extend(destination_subscribers(context, origin, arrival.channel));
    }
    users.sort_unstable();
    users.dedup();
    users
}

/// Subscribers of the channel where messages went, who are to see the topic appear there: those who may know of the
/// channel where it was, and guests only if they could read it there.
fn destination_subscribers<'m>(
    context: &'m EventContext<'_>,
    origin: Spot,
    destination: ChannelId,
) -> impl Iterator<Item = UserId> + 'm {
    let before = context.before();
    let left = match origin {
        Spot::Channel(channel) => before.channel(channel),
        Spot::Direct(_) => None,
    };
    let may_know = move |user: &User| {
        left.is_some_and(|left| match user.is_guest() {
            true => rules::permissions::message::can_read(before, user, origin, || false),
            false => sees_channel(before, user, left),
        })
    };
    let subscribers = context.after.subscriber_ids(destination).filter_map(|id| before.user(id));
    subscribers.filter(move |user| user.is_active && may_know(user)).map(|user| user.id)
}

/// What a message is to a user now. Without having got it, it counts as read.
fn flags_of(view: &View, user: UserId, id: MessageId) -> Flags {
    let mine = view.messages.users.get(&user);
    let has = |flag: Flag| mine.and_then(|m| m.set(flag)).is_some_and(|set| set.contains(id.0));
    let mut flags = Flags::NONE;
    for flag in Flag::ALL {
        flags = flags.with_if(flag, has(flag));
    }
    if !view.delivered_among(user, &RoaringBitmap::from_iter([id.0])).contains(id.0) {
        return flags.with_if(Flag::Read, has(Flag::Read) || !has(Flag::Historical));
    }
    flags.with_if(Flag::ChannelWildcardMentioned, view.messages.channel_wildcard.contains(id.0))
}

fn change(
    context: &EventContext<'_>,
    position: usize,
    update: &MessageUpdate,
    origin: Spot,
) -> MessageChange {
    let channel = match origin {
        Spot::Channel(id) => context.after.channel(id).map(|record| (id, record.name.clone())),
        Spot::Direct(_) => None,
    };
    let movement = update.movement.as_ref().map(|movement| MovedMessages {
        mode: movement.mode,
        topic: movement.topic.clone(),
        new_channel: movement.new_channel.as_ref().map(|arrival| arrival.channel),
        new_topic: movement.new_topic.as_ref().map(|new| (new.name.clone(), new.links.clone())),
    });
    let messages = match &update.movement {
        Some(movement) => movement.messages.iter().collect(),
        None => vec![update.target],
    };
    // In a replay the message may be gone by now, and what it said with it.
    let before = context.before.texts.get(&position);
    let content = update.edited.as_deref().zip(before).map(|(edited, before)| content(edited, before));
    MessageChange {
        by: update.by,
        at: update.at,
        target: update.target,
        messages,
        channel,
        movement,
        content,
    }
}

/// The content now, and before the edit.
fn content(edited: &MessageVersion, before: &Texts) -> ChangedContent {
    ChangedContent {
        orig_content: before.content.clone(),
        orig_rendered: before.rendered.clone(),
        content: edited.content.clone(),
        rendered: edited.rendered.clone(),
        is_me: edited.traits.is_me,
    }
}

/// Messages are gone: each of those who had them is told of exactly what they had, and whoever deleted them of all,
/// also without having got any (so until feature level 457).
fn deleted(
    context: &EventContext<'_>,
    position: usize,
    (from, messages): (&DeletedFrom, &MessageRanges),
    by: Option<UserId>,
    out: &mut Announcements,
) {
    let holders = context.before.holders.get(&position).map(Vec::as_slice).unwrap_or_default();
    let place = match from {
        DeletedFrom::Topic { channel, topic } => Some((*channel, topic.clone())),
        DeletedFrom::Direct(_) => None,
    };
    let mut groups: Vec<(Vec<UserId>, Option<&RoaringBitmap>)> = Vec::new();
    for holder in holders {
        match groups.iter_mut().find(|(_, part)| *part == holder.part.as_ref()) {
            Some((users, _)) => users.push(holder.user),
            None => groups.push((vec![holder.user], holder.part.as_ref())),
        }
    }
    if let Some(by) = by.filter(|by| holders.iter().all(|holder| holder.user != *by)) {
        groups.push((vec![by], None));
    }
    let bodies = groups.into_iter().map(|(users, part)| {
        let messages = match part {
            Some(part) => part.iter().map(MessageId).collect(),
            None => messages.iter().collect(),
        };
        (users, EventBody::MessagesDeleted { place: place.clone(), messages })
    });
    out.each(bodies.collect::<Vec<_>>());
    if let DeletedFrom::Topic { channel, .. } = from {
        first_message_left(context, *channel, messages, out);
    }
}

/// Messages left a channel: was its oldest among them?
fn first_message_left(
    context: &EventContext<'_>,
    channel: ChannelId,
    messages: &MessageRanges,
    out: &mut Announcements,
) {
    let first = context.view.messages.first_in_channel(channel);
    if messages.iter().next().is_some_and(|left| first.is_none_or(|first| left < first)) {
        first_message_is(context, channel, first, out);
    }
}

/// Messages came to a channel: is one of them its oldest now?
fn first_message_came(
    context: &EventContext<'_>,
    channel: ChannelId,
    messages: &MessageRanges,
    out: &mut Announcements,
) {
    let first = context.view.messages.first_in_channel(channel);
    if first.is_some_and(|first| messages.contains(first)) {
        first_message_is(context, channel, first, out);
    }
}

fn first_message_is(
    context: &EventContext<'_>,
    channel: ChannelId,
    first: Option<MessageId>,
    out: &mut Announcements,
) {
    super::channels::emit(context, channel, ChannelChange::FirstMessage(first), out);
}

/// Everybody who is told of reactions to a message and of parts of its widget.
fn access_set(context: &EventContext<'_>, id: MessageId, spot: Spot) -> Vec<UserId> {
    // In a replay it may be gone by now; whoever had it is told that.
    if !context.view.messages.all.contains(id.0) {
        return Vec::new();
    }
    let Some(spot) = access::spot_now(context.view, id, spot) else { return Vec::new() };
    let ids = RoaringBitmap::from_iter([id.0]);
    let holders = access::holders(context.view, context.after, spot, &ids, false);
    holders.into_iter().map(|holder| holder.user).collect()
}

/// Somebody reacted, or took it back.
fn reaction(
    context: &EventContext<'_>,
    (message, spot): (MessageId, Spot),
    reaction: &Reaction,
    is_added: bool,
    out: &mut Announcements,
) {
    let Some(user) = context.after.user(reaction.user).cloned() else { return };
    let body = EventBody::Reaction { message, reaction: reaction.clone(), user, is_added };
    out.to(access_set(context, message, spot), body);
}

/// A widget got another part.
fn submessage(
    context: &EventContext<'_>,
    (message, spot): (MessageId, Spot),
    submessage: &Submessage,
    out: &mut Announcements,
) {
    let body = EventBody::Submessage { message, submessage: submessage.clone() };
    out.to(access_set(context, message, spot), body);
}

/// Flags of the user's own messages. Somebody may have deleted some meanwhile: of those nothing is said.
fn flagged(
    context: &EventContext<'_>,
    user: UserId,
    (flag, op): (Flag, FlagOp),
    messages: &MessageRanges,
    out: &mut Announcements,
) {
    let mut here = RoaringBitmap::new();
    for (first, last) in &messages.0 {
        here.insert_range(first.0..=last.0);
    }
    here &= &context.view.messages.all;
    if here.is_empty() {
        return;
    }
    let messages: Vec<MessageId> = here.iter().map(MessageId).collect();
    let details = unread_details(context.view, user, flag, op, &messages);
    out.to([user], EventBody::Flags { flag, op, messages, details });
}

/// Where messages are that became unread, for clients that had forgotten them.
fn unread_details(
    view: &View,
    user: UserId,
    flag: Flag,
    op: FlagOp,
    messages: &[MessageId],
) -> Vec<UnreadDetail> {
    if (flag, op) != (Flag::Read, FlagOp::Remove) {
        return Vec::new();
    }
    let wanted: RoaringBitmap = messages.iter().map(|id| id.0).collect();
    let mut found = direct_details(view, user, &wanted);
    for (channel, subscription) in view.directory.subscriptions_of_user(user) {
        let Some(messages) = view.messages.channels.get(&channel) else { continue };
        let here = &messages.ids & &wanted;
        if here.is_empty() {
            continue;
        }
        for (key, topic) in messages.topics.iter().filter(|(_, topic)| !topic.ids.is_disjoint(&here)) {
            let policy = view.directory.topic_policy(user, channel, key);
            let is_unmuted = !rules::visibility::is_muted(subscription.is_muted, policy);
            let place = Some((channel, topic.name.clone(), is_unmuted));
            found.extend((&topic.ids & &here).iter().map(|id| detail(view, user, id, place.clone(), &[])));
        }
    }
    found.sort_unstable_by_key(|detail| detail.id);
    found
}

fn direct_details(view: &View, user: UserId, wanted: &RoaringBitmap) -> Vec<UnreadDetail> {
    let mut found = Vec::new();
    for direct in view.directory.directs_of(user) {
        let Some(ids) = view.messages.directs.get(&direct.recipient) else { continue };
        let ids = ids & wanted;
        if !ids.is_empty() {
            let others: Vec<UserId> = direct.users.iter().copied().filter(|other| *other != user).collect();
            found.extend(ids.iter().map(|id| detail(view, user, id, None, &others)));
        }
    }
    found
}

fn detail(
    view: &View,
    user: UserId,
    id: u32,
    channel: Option<(ChannelId, String, bool)>,
    users: &[UserId],
) -> UnreadDetail {
    let mine = view.messages.users.get(&user);
    let is_mentioned = mine.is_some_and(|m| m.mentioned.contains(id) || m.topic_wildcard.contains(id))
        || view.messages.channel_wildcard.contains(id);
    UnreadDetail { id: MessageId(id), is_mentioned, channel, users: users.to_vec() }
}
