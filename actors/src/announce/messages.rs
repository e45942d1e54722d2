//! Events of messages: sent, flagged, changed, deleted, reactions, parts of widgets.

use super::access;
use super::context::{Announcements, EventContext};
use super::pre_images::conversation_of;
use super::readable_parts::{MovedTo, ReadablePart, ReadableParts};
use model::event::{
    ChangedContent, ChannelChange, Clients, MessageChange, MessageContext, MovedMessages, UnreadDetail,
};
use model::fact::{DeletedFrom, MessageRanges, MessageUpdate, Movement};
use model::{
    Audience, ChannelId, ConversationId, Directory, EventBody, Flag, FlagOp, Flags, Message, MessageFact,
    MessageId, Place, Reaction, Submessage, TopicKey, User, UserId,
};
use roaring::RoaringBitmap;
use rules::permissions::channel::sees_channel;
use std::sync::Arc;
use storage::View;
use storage::view::{Location, ids_of};

/// The events of a fact about messages.
pub(super) fn announce(fact: &MessageFact, out: &mut Announcements<'_>) {
    match fact {
        MessageFact::Sent { message, .. } => {
            if let Some(body) = message_body(out.context.view, message) {
                out.add(body, Audience::Readers(message.clone()));
            }
        }
        MessageFact::Updated(update) => updated(update, out),
        MessageFact::Deleted { from, messages, by } => deleted((from, messages), *by, out),
        MessageFact::FlagsChanged { user, flag, op, messages } => {
            flagged(*user, (*flag, *op), messages, out);
        }
        MessageFact::ReactionAdded { message, conversation, reaction: added } => {
            reaction((*message, *conversation), added, true, out);
        }
        MessageFact::ReactionRemoved { message, conversation, reaction: removed, .. } => {
            reaction((*message, *conversation), removed, false, out);
        }
        MessageFact::SubmessageAdded { message, conversation, submessage: added } => {
            submessage((*message, *conversation), added, out);
        }
        // Clients learn of a conversation by its first message; old versions were hidden before.
        MessageFact::ConversationCreated(_) | MessageFact::HistoryErased { .. } => {}
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

/// One request changed a message: first the events for users who lose messages by it, then for those who keep them.
fn updated(update: &MessageUpdate, out: &mut Announcements<'_>) {
    let context = out.context;
    let Some(origin) = conversation_of(context.view, update) else { return };
    if let Some(movement) = &update.movement {
        lost_by_move(movement, out);
    }
    let recipients = recipients(out, update, origin);
    let change = change(out, update, origin);
    if change.content.is_none() && change.movement.is_none() {
        return;
    }
    let first = out.next;
    for (part, users) in recipients.into_parts() {
        let messages = match (part.messages, &update.movement) {
            (Some(ids), _) => ids.iter().map(MessageId).collect(),
            (None, Some(movement)) => movement.messages.iter().collect(),
            (None, None) => vec![update.target],
        };
        let mut change = MessageChange { target: part.target, messages, ..change.clone() };
        if part.target != update.target {
            change.content = None;
        }
        if !part.names_origin {
            change.channel_name = None;
        }
        let body = EventBody::MessageChanged(Box::new(change));
        out.push(first, Clients::All, body, Audience::Flagged(users.into()));
    }
    if let Some(movement) = &update.movement
        && let Some(arrival) = &movement.new_channel
    {
        first_message_left(movement.channel, &movement.messages, out);
        first_message_came(arrival.channel, &movement.messages, out);
    }
}

fn lost_by_move(movement: &Movement, out: &mut Announcements<'_>) {
    let context = out.context;
    let Some(arrival) = &movement.new_channel else { return };
    let holders = context.before.holders.get(&out.position).map(Vec::as_slice).unwrap_or_default();
    let ids = ids_of(&movement.messages);
    let lost = access::lost_access(
        context.view,
        context.after,
        holders,
        &ids,
        (arrival.channel, context.before.is_replay),
    );
    let place = Some((movement.channel, movement.topic.clone()));
    out.each(
        lost.into_iter()
            .map(|(messages, users)| (users, EventBody::MessagesDeleted { place: place.clone(), messages })),
    );
}

/// The recipients of a change by what they can read of it, each with their current flags of the target.
fn recipients(out: &Announcements<'_>, update: &MessageUpdate, origin: ConversationId) -> ReadableParts {
    let (context, view, target) = (out.context, out.context.view, update.target);
    let is_replay = context.before.is_replay;
    let sent_to = match (&update.movement, origin) {
        (Some(Movement { new_channel: Some(arrival), .. }), _) => ConversationId::Channel(arrival.channel),
        (_, origin) => origin,
    };
    let moved = match (sent_to, &update.movement) {
        (ConversationId::Channel(channel), Some(movement)) => {
            Some(MovedTo::of(view, channel, ids_of(&movement.messages), is_replay))
        }
        (ConversationId::Channel(_), None) | (ConversationId::Direct(_), _) => None,
    };
    let place = match sent_to {
        // Other moves may have followed: access is decided by the current place.
        ConversationId::Channel(channel) if is_replay => {
            access::channel_of(view, target, channel).map(ConversationId::Channel)
        }
        ConversationId::Channel(_) | ConversationId::Direct(_) => Some(sent_to),
    };
    // The request may have deleted the target itself, an obsolete notice: access stays as it was.
    let is_undone = !is_replay && !view.messages.all.contains(target.0);
    let mut recipients = ReadableParts::new(target);
    for id in affected(out, update, origin) {
        let Some(user) = view.directory.user(id) else { continue };
        let reads = |place| match is_undone {
            true => rules::permissions::message::can_read(&view.directory, user, place, || true),
            false => access::can_read(view, &view.directory, user, place, target),
        };
        let target = place.is_some_and(reads).then_some(target);
        let readable = match &moved {
            Some(moved) => moved.readable(view, user, target),
            None => target.map(|target| (target, None)),
        };
        if let Some((target, messages)) = readable {
            let names_origin = may_name_origin(context, update, origin, user);
            let part = ReadablePart { target, messages, names_origin };
            recipients.add(part, id, |target| flags_of(view, id, target, sent_to));
        }
    }
    recipients
}

/// Whether a recipient of a change may know the name of the channel where the messages were. A move gives messages of a private
/// channel to users who do not see it, in a replay a later one, too.
fn may_name_origin(
    context: &EventContext<'_>,
    update: &MessageUpdate,
    origin: ConversationId,
    user: &User,
) -> bool {
    let is_replay = context.before.is_replay;
    let has_left = update.movement.as_ref().is_some_and(|movement| movement.new_channel.is_some());
    let channel = match origin {
        ConversationId::Channel(channel) if has_left || is_replay => channel,
        ConversationId::Channel(_) | ConversationId::Direct(_) => return true,
    };
    let sees = |directory: &Directory| {
        directory.channel(channel).is_some_and(|channel| sees_channel(directory, user, channel))
    };
    sees(context.after) && (!is_replay || sees(&context.view.directory))
}

/// Candidates for `recipients`, sorted.
fn affected(out: &Announcements<'_>, update: &MessageUpdate, origin: ConversationId) -> Vec<UserId> {
    let context = out.context;
    let mut users = context.before.readers.get(&out.position).cloned().unwrap_or_default();
    // Users who received the messages by the move; guests only if they could read them before.
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

/// Subscribers of the destination, for whom the topic appears there: those who may see the origin, and guests only if they
/// could read the messages there.
fn destination_subscribers<'m>(
    context: &'m EventContext<'_>,
    origin: ConversationId,
    destination: ChannelId,
) -> impl Iterator<Item = UserId> + 'm {
    let before = context.before();
    let left = match origin {
        ConversationId::Channel(channel) => before.channel(channel),
        ConversationId::Direct(_) => None,
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

/// A user's flags of a message now. A message that was not delivered counts as read. `then` is where the message was last, as far
/// as known.
fn flags_of(view: &View, user: UserId, id: MessageId, then: ConversationId) -> Flags {
    let mine = view.messages.users.get(&user);
    let has = |flag: Flag| mine.and_then(|m| m.set(flag)).is_some_and(|set| set.contains(id.0));
    let mut flags = Flags::NONE;
    for flag in Flag::ALL {
        flags = flags.with_if(flag, has(flag));
    }
    if !access::is_delivered_now(view, user, then, id) {
        return flags.with_if(Flag::Read, has(Flag::Read) || !has(Flag::Historical));
    }
    flags.with_if(Flag::ChannelWildcardMentioned, view.messages.channel_wildcard.contains(id.0))
}

/// What changed, without the messages, which differ between recipients.
fn change(out: &Announcements<'_>, update: &MessageUpdate, origin: ConversationId) -> MessageChange {
    let context = out.context;
    let channel = match origin {
        ConversationId::Channel(id) => context.after.channel(id),
        ConversationId::Direct(_) => None,
    };
    let (channel, channel_name) = channel.map(|record| (record.id, record.name.clone())).unzip();
    let movement = update.movement.as_ref().map(|movement| MovedMessages {
        mode: movement.mode,
        topic: movement.topic.clone(),
        new_channel: movement.new_channel.as_ref().map(|arrival| arrival.channel),
        new_topic: movement.new_topic.as_ref().map(|new| (new.name.clone(), new.links.clone())),
    });
    // In a replay the message may be deleted by now, and its text with it.
    let before = context.before.texts.get(&out.position);
    let content = update.edited.as_deref().zip(before).map(|(edited, before)| ChangedContent {
        orig_content: before.content.clone(),
        orig_rendered: before.rendered.clone(),
        content: edited.content.clone(),
        rendered: edited.rendered.clone(),
        is_me: edited.traits.is_me,
    });
    let MessageUpdate { target, by, at, .. } = *update;
    MessageChange { by, at, target, messages: Vec::new(), channel, channel_name, movement, content }
}

/// Messages were deleted: users who had some of them receive exactly those, and the requester receives all, even without
/// having had any (so until feature level 457).
fn deleted(
    (from, messages): (&DeletedFrom, &MessageRanges),
    by: Option<UserId>,
    out: &mut Announcements<'_>,
) {
    let holders = out.context.before.holders.get(&out.position).map(Vec::as_slice).unwrap_or_default();
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
    out.each(groups.into_iter().map(|(users, part)| {
        let messages = match part {
            Some(part) => part.iter().map(MessageId).collect(),
            None => messages.iter().collect(),
        };
        (users, EventBody::MessagesDeleted { place: place.clone(), messages })
    }));
    if let DeletedFrom::Topic { channel, .. } = from {
        first_message_left(*channel, messages, out);
    }
}

/// Messages left a channel: announces its first message if the first one was among them.
fn first_message_left(channel: ChannelId, messages: &MessageRanges, out: &mut Announcements<'_>) {
    let first = out.context.view.messages.first_in_channel(channel);
    if messages.iter().next().is_some_and(|left| first.is_none_or(|first| left < first)) {
        super::channels::emit(channel, ChannelChange::FirstMessage(first), out);
    }
}

/// Messages were moved to a channel: announces its first message if it is one of them.
fn first_message_came(channel: ChannelId, messages: &MessageRanges, out: &mut Announcements<'_>) {
    let first = out.context.view.messages.first_in_channel(channel);
    if first.is_some_and(|first| messages.contains(first)) {
        super::channels::emit(channel, ChannelChange::FirstMessage(first), out);
    }
}

/// The recipients of reactions to a message and of parts of its widget, among those who can receive events: there is no other
/// event of the fact, whose number could depend on it.
fn access_set(context: &EventContext<'_>, id: MessageId, conversation: ConversationId) -> Vec<UserId> {
    // In a replay it may be deleted by now, which has an event of its own.
    if !context.view.messages.all.contains(id.0) {
        return Vec::new();
    }
    let Some(conversation) = access::conversation_now(context.view, id, conversation) else {
        return Vec::new();
    };
    let ids = RoaringBitmap::from_iter([id.0]);
    let holders =
        access::holders(context.view, context.after, conversation, &ids, (context.listening, false));
    holders.into_iter().map(|holder| holder.user).collect()
}

fn reaction(
    (message, conversation): (MessageId, ConversationId),
    reaction: &Reaction,
    is_added: bool,
    out: &mut Announcements<'_>,
) {
    let Some(user) = out.context.after.user(reaction.user).cloned() else { return };
    let body = EventBody::Reaction { message, reaction: reaction.clone(), user, is_added };
    out.to(access_set(out.context, message, conversation), body);
}

fn submessage(
    (message, conversation): (MessageId, ConversationId),
    submessage: &Submessage,
    out: &mut Announcements<'_>,
) {
    let body = EventBody::Submessage { message, submessage: submessage.clone() };
    out.to(access_set(out.context, message, conversation), body);
}

/// Flags of the user's own messages, without those that were deleted meanwhile.
fn flagged(user: UserId, (flag, op): (Flag, FlagOp), messages: &MessageRanges, out: &mut Announcements<'_>) {
    let here = ids_of(messages) & &out.context.view.messages.all;
    if here.is_empty() {
        return;
    }
    let messages: Vec<MessageId> = here.iter().map(MessageId).collect();
    let details = unread_details(out.context.view, user, flag, op, &messages);
    out.to([user], EventBody::Flags { flag, op, messages, details });
}

/// The places of messages that became unread, for clients that no longer have them.
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
    let mut found = Vec::new();
    for (place, ids) in view.places_for(user, &wanted) {
        let (channel, others) = match place {
            Location::Topic(channel, key) => match topic_detail(view, user, channel, &key) {
                Some(topic) => (Some(topic), Vec::new()),
                None => continue,
            },
            Location::Direct(recipient) => {
                let users = view.directory.direct(recipient).map(|direct| direct.users.as_slice());
                let others = users.unwrap_or_default().iter().copied().filter(|other| *other != user);
                (None, others.collect())
            }
        };
        found.extend(ids.iter().map(|id| detail(view, user, id, channel.clone(), &others)));
    }
    found.sort_unstable_by_key(|detail| detail.id);
    found
}

/// A topic's channel and name, and whether it is unmuted for a user.
fn topic_detail(
    view: &View,
    user: UserId,
    channel: ChannelId,
    key: &TopicKey,
) -> Option<(ChannelId, String, bool)> {
    let topic = view.messages.topic(channel, key)?;
    let subscription = view.directory.subscription(channel, user)?;
    let policy = view.directory.topic_policy(user, channel, key);
    Some((channel, topic.name.clone(), !rules::visibility::is_muted(subscription.is_muted, policy)))
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
