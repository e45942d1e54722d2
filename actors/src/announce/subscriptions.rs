//! Events of subscriptions: added, removed, and personal settings of channels and topics.

use super::channels::clients_of;
use super::context::{Announcements, EventContext, new_summary, subscribed_channels};
use model::event::SubscriptionChange;
use model::{
    Channel, ChannelId, EventBody, EventKind, Subscription, SubscriptionFact, Timestamp, UserId,
    VisibilityPolicy,
};
use rules::permissions::channel::sees_subscribers;
use rules::visibility;
use std::collections::BTreeSet;
use std::sync::Arc;
use storage::View;

/// The events of a fact about subscriptions or policies for topics.
pub(super) fn announce(fact: &SubscriptionFact, out: &mut Announcements<'_>) {
    match fact {
        SubscriptionFact::Added { channel, subscribers, .. } => {
            subscribed(*channel, subscribers, out);
        }
        SubscriptionFact::Removed { channel, users, .. } => unsubscribed(*channel, users, out),
        SubscriptionFact::Changed { user, channel, subscription } => {
            changed(*user, *channel, subscription, out);
        }
        SubscriptionFact::Restated { user, channel, property } => {
            announce_unchanged(*user, *channel, property, out);
        }
        SubscriptionFact::TopicPolicySet { channel, topic, policy, users } => {
            policies(users, (*channel, topic, *policy), out);
        }
        SubscriptionFact::TopicPoliciesImported { .. } => {}
    }
}

/// Users who may see the subscribers of a channel, without `except`.
fn peers(context: &EventContext<'_>, channel: &Channel, except: &[UserId]) -> Vec<UserId> {
    let except: BTreeSet<UserId> = except.iter().copied().collect();
    let users = context.after.users();
    users
        .filter(|user| user.is_active && !except.contains(&user.id))
        .filter(|user| sees_subscribers(context.after, user, channel))
        .map(|user| user.id)
        .collect()
}

/// The [`peers`] among those who can receive events, in proportion to them and not to the members. The numbers of later events of
/// the fact may not depend on who listens.
pub(super) fn listening_peers(
    context: &EventContext<'_>,
    channel: &Channel,
    except: &[UserId],
) -> Vec<UserId> {
    let Some(listening) = context.listening else { return peers(context, channel, except) };
    let except: BTreeSet<UserId> = except.iter().copied().collect();
    let users = listening.users().into_iter().filter(|user| !except.contains(user));
    users.filter(|user| is_peer(context, channel, *user)).collect()
}

fn subscribed(id: ChannelId, subscribers: &[(UserId, Subscription)], out: &mut Announcements<'_>) {
    let context = out.context;
    let Some(channel) = context.after.channel(id) else { return };
    let clients = clients_of(channel);
    let users: Arc<[UserId]> = subscribers.iter().map(|(user, _)| *user).collect();
    // Users who could not see the channel receive it first. A channel of the same frame was announced already.
    if let Some(known) = context.before().channel(id).filter(|_| !context.is_new(id)) {
        let diff = |user: UserId| context.visibility_diff(user, Some(known), Some(channel));
        let new = users.iter().copied().filter(|user| diff(*user).is_gained());
        out.for_clients(clients, new, EventBody::ChannelsCreated(vec![new_summary(context, channel)]));
    }
    out.each_for(clients, subscribed_channels(context, channel, users.iter().copied()));
    let peers = listening_peers(context, channel, &users);
    out.for_clients(clients, peers, EventBody::PeersAdded { channel: id, users });
}

fn unsubscribed(id: ChannelId, users: &[UserId], out: &mut Announcements<'_>) {
    let context = out.context;
    let Some(channel) = context.after.channel(id) else { return };
    let clients = clients_of(channel);
    let removed = EventBody::SubscriptionsRemoved(vec![(id, channel.name.clone())]);
    out.for_clients(clients, users.iter().copied(), removed);
    let was = context.before().channel(id).map(|channel| &**channel);
    let diff = |user: UserId| context.visibility_diff(user, was, Some(channel));
    let lost = users.iter().copied().filter(|user| diff(*user).is_lost());
    out.for_clients(clients, lost, EventBody::ChannelsLost(vec![id]));
    // Users who were unsubscribed with others and still see the subscribers receive the others: those who can receive events,
    // since each has a list of its own.
    let receives = |user: &UserId| {
        context.listening.is_none_or(|listeners| listeners.receives(*user, EventKind::Subscription))
    };
    let has_others = |user: &&UserId| users.len() > 1 && receives(user) && is_peer(context, channel, **user);
    let others = users.iter().filter(has_others).map(|user| {
        let others: Arc<[UserId]> = users.iter().copied().filter(|other| other != user).collect();
        (vec![*user], EventBody::PeersRemoved { channel: id, users: others })
    });
    let others: Vec<_> = others.collect();
    let peers = (
        listening_peers(context, channel, users),
        EventBody::PeersRemoved { channel: id, users: users.into() },
    );
    out.each_for(clients, others.into_iter().chain([peers]));
}

fn is_peer(context: &EventContext<'_>, channel: &Channel, user: UserId) -> bool {
    let user = context.after.user(user).filter(|user| user.is_active);
    user.is_some_and(|user| sees_subscribers(context.after, user, channel))
}

/// A user changed properties of a subscription. If the record before is unknown, all properties are announced.
fn changed(user: UserId, channel: ChannelId, is: &Subscription, out: &mut Announcements<'_>) {
    let clients = out.context.after.channel(channel).map(|channel| clients_of(channel)).unwrap_or_default();
    let was = out.context.before().subscription(channel, user);
    for change in differences(was.map(|was| &**was), is) {
        out.for_clients(clients, [user], EventBody::SubscriptionChanged { channel, change });
    }
}

/// A user set a property to the value that it had.
fn announce_unchanged(user: UserId, channel: ChannelId, property: &str, out: &mut Announcements<'_>) {
    let clients = out.context.after.channel(channel).map(|channel| clients_of(channel)).unwrap_or_default();
    let Some(own) = out.context.after.subscription(channel, user) else { return };
    for change in differences(None, own).into_iter().filter(|change| change.property() == property) {
        out.for_clients(clients, [user], EventBody::SubscriptionChanged { channel, change });
    }
}

fn differences(was: Option<&Subscription>, is: &Subscription) -> Vec<SubscriptionChange> {
    type Notification = (&'static str, &'static str, fn(&Subscription) -> Option<bool>);
    const NOTIFICATIONS: [Notification; 5] = [
        ("desktop_notifications", "enable_stream_desktop_notifications", |own| own.desktop_notifications),
        ("audible_notifications", "enable_stream_audible_notifications", |own| own.audible_notifications),
        ("push_notifications", "enable_stream_push_notifications", |own| own.push_notifications),
        ("email_notifications", "enable_stream_email_notifications", |own| own.email_notifications),
        ("wildcard_mentions_notify", "wildcard_mentions_notify", |own| own.wildcard_mentions_notify),
    ];
    let has_new_mute = was.is_none_or(|was| was.is_muted != is.is_muted);
    let changes = [
        was.is_none_or(|was| was.color != is.color).then(|| SubscriptionChange::Color(is.color.clone())),
        has_new_mute.then_some(SubscriptionChange::IsMuted(is.is_muted)),
        has_new_mute.then_some(SubscriptionChange::InHomeView(!is.is_muted)),
        was.is_none_or(|was| was.pin_to_top != is.pin_to_top)
            .then_some(SubscriptionChange::PinToTop(is.pin_to_top)),
    ];
    let changed = NOTIFICATIONS.into_iter().filter(|(.., of)| was.is_none_or(|was| of(was) != of(is)));
    let notifications = changed.map(|(name, inherits, of)| SubscriptionChange::Notification {
        name,
        inherits,
        value: of(is),
    });
    changes.into_iter().flatten().chain(notifications).collect()
}

/// Users' policies for a topic: for older clients each user's muted topics, then the new form, which is the same for all.
fn policies(
    users: &[UserId],
    (channel, topic, policy): (ChannelId, &str, VisibilityPolicy),
    out: &mut Announcements<'_>,
) {
    let (context, first) = (out.context, out.next);
    if users.is_empty() {
        return;
    }
    // The list is long, and most users have no client that takes it.
    let receives = |user: &&UserId| {
        context.listening.is_none_or(|listeners| listeners.receives(**user, EventKind::MutedTopics))
    };
    let muted = |user: &UserId| (vec![*user], EventBody::MutedTopics(muted_topics(context.view, *user)));
    out.each(users.iter().filter(receives).map(muted));
    // The numbers of later events may not depend on who listens.
    out.next = first.next();
    let body = EventBody::UserTopic { channel, topic: topic.to_owned(), updated: context.frame.at, policy };
    out.to(users.to_vec(), body);
}

/// A user's muted topics, for clients that know no other policies.
fn muted_topics(view: &View, user: UserId) -> Vec<(String, String, Timestamp)> {
    let user = view.directory.user(user);
    let topics = user.into_iter().flat_map(|user| visibility::muted_topics(&view.directory, user));
    topics.map(|(channel, topic)| (channel.name.clone(), topic.name.clone(), topic.updated)).collect()
}
