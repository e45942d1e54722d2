//! Events of subscriptions: made, ended, and what people set for channels and topics.

use super::channels::clients_of;
use super::context::{Announcements, EventContext, new_summary, subscribed_channels};
use model::event::SubscriptionChange;
use model::{
    Channel, ChannelId, EventBody, Subscription, SubscriptionFact, Timestamp, UserId, VisibilityPolicy,
};
use rules::permissions::channel::sees_subscribers;
use std::sync::Arc;
use storage::View;

/// The events of a fact about subscriptions or policies for topics.
pub(super) fn announce(context: &EventContext<'_>, fact: &SubscriptionFact, out: &mut Announcements) {
    match fact {
        SubscriptionFact::Added { channel, subscribers, .. } => {
            subscribed(context, *channel, subscribers, out);
        }
        SubscriptionFact::Removed { channel, users, .. } => unsubscribed(context, *channel, users, out),
        SubscriptionFact::Changed { user, channel, subscription } => {
            changed(context, *user, *channel, subscription, out);
        }
        SubscriptionFact::Restated { user, channel, property } => {
            restated(context, *user, *channel, property, out);
        }
        SubscriptionFact::TopicPolicySet { channel, topic, policy, users } => {
            policies(context, users, (*channel, topic, *policy), out);
        }
    }
}

/// Everybody who sees who subscribes to a channel, but for some.
pub(super) fn peers(context: &EventContext<'_>, channel: &Channel, except: &[UserId]) -> Vec<UserId> {
    let users = context.after.users();
    users
        .filter(|user| user.is_active && !except.contains(&user.id))
        .filter(|user| sees_subscribers(context.after, user, channel))
        .map(|user| user.id)
        .collect()
}

/// Users were subscribed.
fn subscribed(
    context: &EventContext<'_>,
    id: ChannelId,
    subscribers: &[(UserId, Subscription)],
    out: &mut Announcements,
) {
    let Some(channel) = context.after.channel(id) else { return };
    let clients = clients_of(channel);
    let users: Arc<[UserId]> = subscribers.iter().map(|(user, _)| *user).collect();
    // Those who did not know of the channel learn of it first. A channel of this very frame was announced.
    if let Some(known) = context.before().channel(id).filter(|_| !context.is_new(id)) {
        let diff = |user: UserId| context.visibility_diff(user, Some(known), Some(channel));
        let new = users.iter().copied().filter(|user| diff(*user).is_gained());
        out.for_clients(clients, new, EventBody::ChannelsCreated(vec![new_summary(context, channel)]));
    }
    out.each_for(clients, subscribed_channels(context, channel, users.iter().copied()));
    out.for_clients(clients, peers(context, channel, &users), EventBody::PeersAdded { channel: id, users });
}

/// Users were unsubscribed.
fn unsubscribed(context: &EventContext<'_>, id: ChannelId, users: &[UserId], out: &mut Announcements) {
    let Some(channel) = context.after.channel(id) else { return };
    let clients = clients_of(channel);
    let removed = EventBody::SubscriptionsRemoved(vec![(id, channel.name.clone())]);
    out.for_clients(clients, users.iter().copied(), removed);
    let was = context.before().channel(id).map(|channel| &**channel);
    let diff = |user: UserId| context.visibility_diff(user, was, Some(channel));
    let lost = users.iter().copied().filter(|user| diff(*user).is_lost());
    out.for_clients(clients, lost, EventBody::ChannelsLost(vec![id]));
    // Whoever was unsubscribed with others and still sees who is subscribed is told of the others.
    let told = users.iter().filter(|user| users.len() > 1 && is_peer(context, channel, **user)).map(|user| {
        let others: Arc<[UserId]> = users.iter().copied().filter(|other| other != user).collect();
        (vec![*user], EventBody::PeersRemoved { channel: id, users: others })
    });
    let told: Vec<_> = told.collect();
    let peers =
        (peers(context, channel, users), EventBody::PeersRemoved { channel: id, users: users.into() });
    out.each_for(clients, told.into_iter().chain([peers]));
}

fn is_peer(context: &EventContext<'_>, channel: &Channel, user: UserId) -> bool {
    let user = context.after.user(user).filter(|user| user.is_active);
    user.is_some_and(|user| sees_subscribers(context.after, user, channel))
}

/// Somebody set something for a channel. Without the record from before, all of it is told.
fn changed(
    context: &EventContext<'_>,
    user: UserId,
    channel: ChannelId,
    is: &Subscription,
    out: &mut Announcements,
) {
    let clients = context.after.channel(channel).map(|channel| clients_of(channel)).unwrap_or_default();
    let was = context.before().subscription(channel, user);
    for change in differences(was.map(|was| &**was), is) {
        out.for_clients(clients, [user], EventBody::SubscriptionChanged { channel, change });
    }
}

/// Somebody set a property to the value that it had.
fn restated(
    context: &EventContext<'_>,
    user: UserId,
    channel: ChannelId,
    property: &str,
    out: &mut Announcements,
) {
    let clients = context.after.channel(channel).map(|channel| clients_of(channel)).unwrap_or_default();
    let Some(own) = context.after.subscription(channel, user) else { return };
    for change in differences(None, own).into_iter().filter(|change| change.property() == property) {
        out.for_clients(clients, [user], EventBody::SubscriptionChanged { channel, change });
    }
}

fn differences(was: Option<&Subscription>, is: &Subscription) -> Vec<SubscriptionChange> {
    let mut found = Vec::new();
    if was.is_none_or(|was| was.color != is.color) {
        found.push(SubscriptionChange::Color(is.color.clone()));
    }
    if was.is_none_or(|was| was.is_muted != is.is_muted) {
        found.push(SubscriptionChange::IsMuted(is.is_muted));
        found.push(SubscriptionChange::InHomeView(!is.is_muted));
    }
    if was.is_none_or(|was| was.pin_to_top != is.pin_to_top) {
        found.push(SubscriptionChange::PinToTop(is.pin_to_top));
    }
    type Notification = (&'static str, &'static str, fn(&Subscription) -> Option<bool>);
    let notifications: [Notification; 5] = [
        ("desktop_notifications", "enable_stream_desktop_notifications", |own| own.desktop_notifications),
        ("audible_notifications", "enable_stream_audible_notifications", |own| own.audible_notifications),
        ("push_notifications", "enable_stream_push_notifications", |own| own.push_notifications),
        ("email_notifications", "enable_stream_email_notifications", |own| own.email_notifications),
        ("wildcard_mentions_notify", "wildcard_mentions_notify", |own| own.wildcard_mentions_notify),
    ];
    for (name, inherits, of) in notifications {
        if was.is_none_or(|was| of(was) != of(is)) {
            found.push(SubscriptionChange::Notification { name, inherits, value: of(is) });
        }
    }
    found
}

/// Users' policies for a topic: all muted ones for older clients, each user's own, then what is the same for all.
fn policies(
    context: &EventContext<'_>,
    users: &[UserId],
    (channel, topic, policy): (ChannelId, &str, VisibilityPolicy),
    out: &mut Announcements,
) {
    let muted = |user: &UserId| (vec![*user], EventBody::MutedTopics(muted_topics(context.view, *user)));
    out.each(users.iter().map(muted).collect::<Vec<_>>());
    let body = EventBody::UserTopic { channel, topic: topic.to_owned(), updated: context.frame.at, policy };
    out.to(users.to_vec(), body);
}

/// A user's muted topics, for clients that know nothing else.
fn muted_topics(view: &View, user: UserId) -> Vec<(String, String, Timestamp)> {
    let topics = view.directory.topics_of_user(user);
    topics
        .filter(|(_, _, topic)| topic.policy == VisibilityPolicy::Muted)
        .filter_map(|(channel, _, topic)| {
            let name = view.directory.channel(channel)?.name.clone();
            Some((name, topic.name.clone(), topic.updated))
        })
        .collect()
}
