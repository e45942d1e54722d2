//! Events of channels: made, changed, gained and lost.

use super::{Announcements, Moment, new_summary};
use model::event::{ChannelChange, ChannelSummary, Clients, SubscribedChannel};
use model::{Channel, ChannelId, Directory, EventBody, Fact, User, UserId};
use rules::permissions::channel::{sees_channel, sees_subscribers};
use rules::posting::{channel_post_policy, is_announcement_only};
use rules::settings::ChannelPermission;
use std::sync::Arc;

/// Which clients have a channel at all: an archived one only those that know of archiving.
pub(super) fn clients_of(channel: &Channel) -> Clients {
    if channel.is_archived { Clients::KnowArchived } else { Clients::All }
}

/// Everybody who knows of a channel.
pub(super) fn viewers(directory: &Directory, channel: &Channel) -> Vec<UserId> {
    let users = directory.users();
    users
        .filter(|user| user.is_active && sees_channel(directory, user, channel))
        .map(|user| user.id)
        .collect()
}

/// Tells everybody who knows of a channel about a property of it.
pub(super) fn say(moment: &Moment<'_>, channel: ChannelId, change: ChannelChange, out: &mut Announcements) {
    let Some(record) = moment.after.channel(channel) else { return };
    let body = EventBody::ChannelChanged { channel, name: record.name.clone(), change };
    out.for_clients(clients_of(record), viewers(moment.after, record), body);
}

/// A channel came to be.
pub(super) fn created(moment: &Moment<'_>, channel: ChannelId, out: &mut Announcements) {
    let Some(channel) = moment.after.channel(channel) else { return };
    // Empty: its first subscribers and messages are told of behind this, and counted then.
    let summary = ChannelSummary { first_message: None, ..uncounted(moment, channel) };
    out.to(viewers(moment.after, channel), EventBody::ChannelsCreated(vec![summary]));
}

/// A channel for those who are told of its subscribers by an event of their own, and count them then.
pub(super) fn uncounted(moment: &Moment<'_>, channel: &Arc<Channel>) -> ChannelSummary {
    ChannelSummary { subscriber_count: 0, ..new_summary(moment, channel) }
}

/// A channel's record changed: those who come to know of it or are shut out learn that, all others what changed.
pub(super) fn changed(moment: &Moment<'_>, position: usize, record: &Channel, out: &mut Announcements) {
    let id = record.id;
    let earlier = moment.frame.facts[..position].iter().rev().find_map(|fact| match fact {
        Fact::ChannelCreated(earlier) | Fact::ChannelChanged(earlier) if earlier.id == id => Some(&**earlier),
        _ => None,
    });
    let previous = earlier.or_else(|| moment.before().channel(id).map(|channel| &**channel));
    let Some(was) = moment.before().channel(id).filter(|_| !moment.is_new(id)) else { return };
    let Some(is) = moment.after.channel(id) else { return };
    let is_first = !matches!(earlier, Some(earlier) if earlier.id == id);
    let changes = previous.map(|previous| differences(moment.after, previous, record)).unwrap_or_default();
    let name = previous.map_or_else(String::new, |previous| previous.name.clone());
    for clients in variants(was, is) {
        let reach = Reach::of(moment, was, is, clients);
        if is_first {
            reach.tell(moment, is, clients, out);
        }
        let steady: Arc<[UserId]> = reach.steady.into();
        for change in &changes {
            let has_name = if matches!(change, ChannelChange::Name(_)) { &name } else { &record.name };
            let body =
                EventBody::ChannelChanged { channel: id, name: has_name.clone(), change: change.clone() };
            out.for_clients(clients, steady.iter().copied(), body);
        }
    }
}

/// Where archived channels are concerned, clients that know of archiving are told other things than the rest.
fn variants(was: &Channel, is: &Channel) -> Vec<Clients> {
    match was.is_archived || is.is_archived {
        true => vec![Clients::KnowArchived, Clients::IgnoreArchived],
        false => vec![Clients::All],
    }
}

/// What a change did to people's knowledge of a channel, for some clients.
struct Reach {
    /// Knew of it and still do.
    steady: Vec<UserId>,
    gained: Vec<UserId>,
    lost: Vec<UserId>,
    /// See who subscribes from now on.
    new_peers: Vec<UserId>,
}

impl Reach {
    fn of(moment: &Moment<'_>, was: &Channel, is: &Channel, clients: Clients) -> Self {
        let has = |channel: &Channel| clients != Clients::IgnoreArchived || !channel.is_archived;
        let knows = |dir: &Directory, user: UserId, channel: &Channel, sees: Sees| {
            let user = dir.user(user).filter(|user| user.is_active);
            has(channel) && user.is_some_and(|user| sees(dir, user, channel))
        };
        let mut reach = Self { steady: vec![], gained: vec![], lost: vec![], new_peers: vec![] };
        for user in moment.after.users().filter(|user| user.is_active) {
            let knew = knows(moment.before(), user.id, was, sees_channel);
            let list = match (knew, knows(moment.after, user.id, is, sees_channel)) {
                (true, true) => &mut reach.steady,
                (false, true) => &mut reach.gained,
                (true, false) => &mut reach.lost,
                (false, false) => continue,
            };
            list.push(user.id);
            if knows(moment.after, user.id, is, sees_subscribers)
                && !knows(moment.before(), user.id, was, sees_subscribers)
            {
                reach.new_peers.push(user.id);
            }
        }
        reach
    }

    fn tell(&self, moment: &Moment<'_>, channel: &Arc<Channel>, clients: Clients, out: &mut Announcements) {
        let id = channel.id;
        let was_subscribed = |user: &UserId| moment.before().is_subscribed(id, *user);
        let removed = self.lost.iter().copied().filter(was_subscribed);
        let body = EventBody::SubscriptionsRemoved(vec![(id, channel.name.clone())]);
        out.for_clients(clients, removed, body);
        out.for_clients(clients, self.lost.iter().copied(), EventBody::ChannelsLost(vec![id]));
        let is_subscribed = |user: &UserId| moment.after.is_subscribed(id, *user);
        let is_new_peer = |user: &UserId| self.new_peers.binary_search(user).is_ok() && !is_subscribed(user);
        let (peers, others): (Vec<UserId>, Vec<UserId>) = self.gained.iter().copied().partition(is_new_peer);
        out.each_for(
            clients,
            [
                (peers, EventBody::ChannelsCreated(vec![uncounted(moment, channel)])),
                (others, EventBody::ChannelsCreated(vec![new_summary(moment, channel)])),
            ],
        );
        let own = subscribed_channels(moment, channel, self.gained.iter().copied().filter(is_subscribed));
        out.each_for(clients, own);
        let users: Arc<[UserId]> = moment.after.subscriber_ids(id).collect();
        if !users.is_empty() {
            let peers = self.new_peers.iter().copied().filter(|user| !is_subscribed(user));
            out.for_clients(clients, peers, EventBody::PeersAdded { channel: id, users });
        }
    }
}

type Sees = fn(&Directory, &User, &Channel) -> bool;

/// The own `subscription add` of each of some subscribers.
pub(super) fn subscribed_channels(
    moment: &Moment<'_>,
    channel: &Arc<Channel>,
    users: impl Iterator<Item = UserId>,
) -> Vec<(Vec<UserId>, EventBody)> {
    let everyone: Arc<[UserId]> = moment.after.subscriber_ids(channel.id).collect();
    let summary = new_summary(moment, channel);
    let own = |user: UserId| {
        let subscription = moment.after.subscription(channel.id, user)?.clone();
        let own = SubscribedChannel { summary: summary.clone(), subscription, subscribers: everyone.clone() };
        Some((vec![user], EventBody::SubscriptionsAdded(vec![own])))
    };
    users.filter_map(own).collect()
}

/// One change for each property that differs.
fn differences(directory: &Directory, was: &Channel, is: &Channel) -> Vec<ChannelChange> {
    let mut found = Vec::new();
    let privacy = |channel: &Channel| {
        (channel.invite_only, channel.is_web_public, channel.history_public_to_subscribers)
    };
    if privacy(was) != privacy(is) {
        found.push(ChannelChange::Privacy {
            invite_only: is.invite_only,
            is_web_public: is.is_web_public,
            history_public_to_subscribers: is.history_public_to_subscribers,
        });
    }
    if was.topics_policy != is.topics_policy {
        found.push(ChannelChange::TopicsPolicy(is.topics_policy));
    }
    if was.message_retention_days != is.message_retention_days {
        found.push(ChannelChange::Retention(is.message_retention_days));
    }
    if was.is_archived != is.is_archived {
        found.push(ChannelChange::Archived(is.is_archived));
    }
    if was.description != is.description || was.rendered_description != is.rendered_description {
        let (text, rendered) = (is.description.clone(), is.rendered_description.clone());
        found.push(ChannelChange::Description { text, rendered });
    }
    if was.name != is.name {
        found.push(ChannelChange::Name(is.name.clone()));
    }
    if was.folder != is.folder {
        found.push(ChannelChange::Folder(is.folder));
    }
    if was.is_recently_active != is.is_recently_active {
        found.push(ChannelChange::Activity(is.is_recently_active));
    }
    for permission in ChannelPermission::ALL {
        if permission.of(was) != permission.of(is) {
            let value = permission.of(is).clone();
            found.push(ChannelChange::Permission(permission.rule().name, value));
        }
    }
    // Older clients read the same from numbers.
    let policy = channel_post_policy(directory, is);
    if channel_post_policy(directory, was) != policy {
        found.push(ChannelChange::PostPolicy(policy));
        found.push(ChannelChange::AnnouncementOnly(is_announcement_only(directory, is)));
    }
    found
}
