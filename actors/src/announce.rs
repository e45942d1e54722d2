//! Facts become events: who is told what. Pure: from the view as the frame left it, and the little of
//! the state before that events need.

use model::event::{ChannelSummary, MessageContext, SubscribedChannel, UnreadDetail};
use model::{
    Audience, Channel, ChannelId, Event, EventBody, EventNumber, Fact, Flag, FlagOp, Frame, GroupId, Message,
    MessageId, Place, Subscription, User, UserId, VisibilityPolicy,
};
use roaring::RoaringBitmap;
use rules::permissions::channel::{sees_channel, sees_subscribers};
use rules::permissions::users::sees_user;
use std::collections::HashMap;
use std::sync::Arc;
use storage::View;

/// What events need of the state before a frame.
#[derive(Debug, Default)]
pub struct Before {
    /// For channels whose subscribers change: who could see them.
    viewers: HashMap<ChannelId, Vec<UserId>>,
}

impl Before {
    /// Collects it; nothing for most frames.
    pub fn of(view: &View, frame: &Frame) -> Self {
        let mut before = Self::default();
        for fact in &frame.facts {
            if let Fact::Subscribed { channel, .. } | Fact::Unsubscribed { channel, .. } = fact
                && let Some(record) = view.directory.channel(*channel)
            {
                before.viewers.insert(*channel, viewers(view, record));
            }
        }
        before
    }
}

/// Collects events and numbers them.
struct Announcements {
    next: EventNumber,
    events: Vec<(Event, Audience)>,
}

impl Announcements {
    fn add(&mut self, body: EventBody, audience: Audience) {
        self.events.push((Event::new(self.next, body), audience));
        self.next = self.next.next();
    }

    fn to(&mut self, users: impl IntoIterator<Item = UserId>, body: EventBody) {
        let users: Arc<[UserId]> = users.into_iter().collect();
        if !users.is_empty() {
            self.add(body, Audience::Users(users));
        }
    }
}

/// The events of a frame that was just applied to `view`, in order.
pub fn events(view: &View, before: &Before, frame: &Frame) -> Vec<(Event, Audience)> {
    // Most facts are one event.
    let events = Vec::with_capacity(frame.facts.len());
    let mut out = Announcements { next: frame.first_event, events };
    let mut reserved = frame.first_event;
    for fact in &frame.facts {
        announce(view, before, frame, fact, &mut out);
        // Each fact has its own numbers, so that a replay gives every event the same one.
        reserved.0 += fact.events_max();
        debug_assert!(out.next <= reserved, "more events than `Fact::events_max` says: {fact:?}");
        out.next = reserved;
    }
    out.events
}

fn announce(view: &View, before: &Before, frame: &Frame, fact: &Fact, out: &mut Announcements) {
    match fact {
        Fact::MessageSent { message, .. } => {
            if let Some(body) = message_body(view, message) {
                out.add(body, Audience::Readers(message.clone()));
            }
        }
        Fact::FlagsChanged { user, flag, op, messages } => {
            let messages: Vec<MessageId> = messages.iter().collect();
            let details = unread_details(view, *user, *flag, *op, &messages);
            out.to([*user], EventBody::Flags { flag: *flag, op: *op, messages, details });
        }
        Fact::UserCreated(user) => {
            if let Some(user) = view.directory.user(user.id) {
                let seen_by = everyone_who_sees(view, user);
                out.to(seen_by, EventBody::UserAdded(user.clone()));
            }
        }
        Fact::GroupCreated(group) => {
            if let Some(group) = view.directory.group(group.id) {
                out.add(EventBody::GroupAdded(group.clone()), Audience::Everyone);
            }
        }
        Fact::GroupMembersChanged { group, added, removed } => members_changed(*group, added, removed, out),
        Fact::ChannelCreated(channel) => {
            if let Some(channel) = view.directory.channel(channel.id) {
                // Empty: its first subscribers and messages are told of behind this, and counted then.
                let created =
                    ChannelSummary { subscriber_count: 0, first_message: None, ..new_summary(view, channel) };
                out.to(viewers(view, channel), EventBody::ChannelsCreated(vec![created]));
            }
        }
        Fact::ChannelActivityChanged { channel, .. } => {
            if let Some(channel) = view.directory.channel(*channel) {
                out.to(viewers(view, channel), EventBody::ChannelActivity { channel: channel.clone() });
            }
        }
        Fact::Subscribed { channel, subscribers, .. } => subscribed(view, before, *channel, subscribers, out),
        Fact::Unsubscribed { channel, users, .. } => unsubscribed(view, before, *channel, users, out),
        Fact::DefaultChannelsChanged(channels) => {
            out.add(EventBody::DefaultChannels(channels.clone()), Audience::NonGuests);
        }
        Fact::TopicPolicySet { user, channel, topic, policy } => {
            let muted = muted_topics(view, *user);
            out.to([*user], EventBody::MutedTopics(muted));
            let (channel, topic, policy) = (*channel, topic.clone(), *policy);
            out.to([*user], EventBody::UserTopic { channel, topic, updated: frame.at, policy });
        }
        Fact::RealmCreated(_)
        | Fact::RealmChanged(_)
        | Fact::UserChanged(_)
        | Fact::DirectConversationCreated(_)
        | Fact::QueueRegistered(_)
        | Fact::QueueEnded(_)
        | Fact::EventNumbersReserved(_) => {}
        Fact::MessageUpdated(_)
        | Fact::MessagesDeleted { .. }
        | Fact::ReactionAdded { .. }
        | Fact::ReactionRemoved { .. }
        | Fact::SubmessageAdded { .. }
        | Fact::TopicPoliciesSet { .. }
        | Fact::ChannelChanged(_)
        | Fact::SubscriptionChanged { .. }
        | Fact::FolderChanged(_)
        | Fact::FoldersReordered(_)
        | Fact::GroupChanged(_)
        | Fact::AlertWordsSet { .. } => {}
    }
}

fn members_changed(group: GroupId, added: &[UserId], removed: &[UserId], out: &mut Announcements) {
    if !added.is_empty() {
        out.add(EventBody::GroupMembersAdded { group, users: added.to_vec() }, Audience::Everyone);
    }
    if !removed.is_empty() {
        out.add(EventBody::GroupMembersRemoved { group, users: removed.to_vec() }, Audience::Everyone);
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

/// A channel with its counts.
pub fn summary(view: &View, channel: &Arc<Channel>, weekly_traffic: Option<u32>) -> ChannelSummary {
    ChannelSummary {
        channel: channel.clone(),
        first_message: view.messages.first_in_channel(channel.id),
        subscriber_count: view.directory.subscriber_count(channel.id),
        weekly_traffic,
    }
}

fn new_summary(view: &View, channel: &Arc<Channel>) -> ChannelSummary {
    // As the API has it: events about channels carry no traffic.
    summary(view, channel, None)
}

/// Everybody who knows of a channel.
fn viewers(view: &View, channel: &Channel) -> Vec<UserId> {
    let users = view.directory.users();
    users
        .filter(|user| user.is_active && sees_channel(&view.directory, user, channel))
        .map(|user| user.id)
        .collect()
}

fn everyone_who_sees(view: &View, about: &User) -> Vec<UserId> {
    let users = view.directory.users();
    users
        .filter(|user| user.is_active && sees_user(&view.directory, user, about))
        .map(|user| user.id)
        .collect()
}

/// Everybody who sees who subscribes to a channel, but for some.
fn peers(view: &View, channel: &Channel, except: &[UserId]) -> Vec<UserId> {
    let users = view.directory.users();
    users
        .filter(|user| user.is_active && !except.contains(&user.id))
        .filter(|user| sees_subscribers(&view.directory, user, channel))
        .map(|user| user.id)
        .collect()
}

fn subscribed(
    view: &View,
    before: &Before,
    id: ChannelId,
    subscribers: &[(UserId, Subscription)],
    out: &mut Announcements,
) {
    let Some(channel) = view.directory.channel(id) else { return };
    let users: Arc<[UserId]> = subscribers.iter().map(|(user, _)| *user).collect();
    // Those who did not know of the channel learn of it first. A channel of this very frame was announced.
    if let Some(known) = before.viewers.get(&id) {
        let new = users.iter().copied().filter(|user| !known.contains(user));
        out.to(new.collect::<Vec<_>>(), EventBody::ChannelsCreated(vec![new_summary(view, channel)]));
    }
    let everyone: Arc<[UserId]> = view.directory.subscriber_ids(id).collect();
    let mut summary = new_summary(view, channel);
    summary.weekly_traffic = None;
    for user in users.iter() {
        let Some(subscription) = view.directory.subscription(id, *user) else { continue };
        let own = SubscribedChannel {
            summary: summary.clone(),
            subscription: subscription.clone(),
            subscribers: everyone.clone(),
        };
        out.to([*user], EventBody::SubscriptionsAdded(vec![own]));
    }
    out.to(peers(view, channel, &users), EventBody::PeersAdded { channel: id, users });
}

fn unsubscribed(view: &View, before: &Before, id: ChannelId, users: &[UserId], out: &mut Announcements) {
    let Some(channel) = view.directory.channel(id) else { return };
    let removed = EventBody::SubscriptionsRemoved(vec![(id, channel.name.clone())]);
    out.to(users.to_vec(), removed);
    let now = viewers(view, channel);
    let knew = before.viewers.get(&id).map(Vec::as_slice).unwrap_or_default();
    let lost: Vec<UserId> = users.iter().copied().filter(|u| knew.contains(u) && !now.contains(u)).collect();
    out.to(lost, EventBody::ChannelsLost(vec![id]));
    let users: Arc<[UserId]> = users.into();
    out.to(peers(view, channel, &users), EventBody::PeersRemoved { channel: id, users });
}

/// A user's muted topics, for clients that know nothing else.
pub fn muted_topics(view: &View, user: UserId) -> Vec<(String, String, model::Timestamp)> {
    let topics = view.directory.topics_of_user(user);
    topics
        .filter(|(_, _, topic)| topic.policy == VisibilityPolicy::Muted)
        .filter_map(|(channel, _, topic)| {
            let name = view.directory.channel(channel)?.name.clone();
            Some((name, topic.name.clone(), topic.updated))
        })
        .collect()
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
