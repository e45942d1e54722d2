//! Events for users who gain or lose channels, by a channel's privacy and permissions, by groups or by a role, and for
//! users who gain sight of the subscribers.

use super::context::{Announcements, EventContext, new_summary, subscribed_channels, uncounted};
use model::event::Clients;
use model::{Channel, ChannelId, EventBody, Fact, SubscriptionFact, UserId};
use rules::permissions::channel_visibility::{VisibilityDiff, visibility_diff};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the frame changed about a user's view of a channel.
pub(super) type Change<'c> = (UserId, &'c Arc<Channel>, VisibilityDiff);

impl EventContext<'_> {
    /// Whether the frame changed the role of a user or the owner of a bot: a bot has its owner's permissions.
    pub(super) fn has_new_role(&self, user: UserId) -> bool {
        let role = |user: &Arc<model::User>| (user.role, user.owner());
        let (was, is) = (self.before().user(user).map(role), self.after.user(user).map(role));
        was.is_some() && was != is
    }

    /// Compares a user's view of a channel before the frame and after it.
    pub(super) fn visibility_diff(
        &self,
        user: UserId,
        was: Option<&Channel>,
        is: Option<&Channel>,
    ) -> VisibilityDiff {
        visibility_diff(user, (self.before(), was), (self.after, is))
    }

    /// Whether a user's account is active before the frame and after it.
    pub(super) fn stays_active(&self, user: UserId) -> bool {
        self.before().is_active_user(user) && self.after.is_active_user(user)
    }

    /// Whether the frame unsubscribes a user from a channel, which is announced with that fact.
    pub(super) fn unsubscribes(&self, user: UserId, channel: ChannelId) -> bool {
        self.frame.facts.iter().any(|fact| {
            matches!(fact, Fact::Subscription(SubscriptionFact::Removed { channel: left, users, .. })
                if *left == channel && users.contains(&user))
        })
    }
}

/// Events for users whose groups or role changed, about the channels that `concerns` selects. Each channel is announced
/// once to a user; channels whose record the frame changes are announced with that fact.
pub(super) fn users_changed(
    users: impl IntoIterator<Item = UserId>,
    concerns: impl Fn(&Channel) -> bool,
    out: &mut Announcements<'_>,
) {
    let context = out.context;
    let users: Vec<UserId> = users.into_iter().filter(|user| context.stays_active(*user)).collect();
    for (clients, is_archived) in [(Clients::All, false), (Clients::KnowArchived, true)] {
        let mut changes: Vec<Change<'_>> = Vec::new();
        for is in context.after.channels().filter(|is| is.is_archived == is_archived && concerns(is)) {
            let was = context.before().channel(is.id).filter(|was| *was == is);
            let Some(was) = was.filter(|was| !context.before.not_yet_created.contains(&was.id)) else {
                continue;
            };
            for user in users.iter().filter(|user| !context.unsubscribes(**user, is.id)) {
                let diff = context.visibility_diff(*user, Some(was), Some(is));
                if is_announced(diff) && out.seen.insert((*user, is.id)) {
                    changes.push((*user, is, diff));
                }
            }
        }
        emit(clients, &changes, out);
    }
}

fn is_announced(diff: VisibilityDiff) -> bool {
    diff.is_lost() || diff.is_gained() || diff.is_renewed
}

/// Lost channels first, then gained ones with the user's own subscription, then subscribers. A channel whose subscribers the user
/// sees from now on, or no longer, is lost and gained: clients get a new list of subscribers and count them anew, whatever they
/// knew before and did not learn meanwhile.
pub(super) fn emit(clients: Clients, changes: &[Change<'_>], out: &mut Announcements<'_>) {
    let context = out.context;
    let (before, after) = (context.before(), context.after);
    let is_new_peer = |(user, channel, diff): &Change<'_>| {
        diff.gains_subscribers && !after.is_subscribed(channel.id, *user)
    };
    let lost = || changes.iter().filter(|(_, _, diff)| diff.is_lost() || diff.is_renewed);
    let unsubscribed = by_channels(
        lost()
            .filter(|(user, channel, _)| before.is_subscribed(channel.id, *user))
            .map(|(user, channel, _)| (*user, (channel.id, channel.name.clone()))),
    );
    let bodies = unsubscribed.into_iter().map(|(of, users)| (users, EventBody::SubscriptionsRemoved(of)));
    out.each_for(clients, bodies);
    let lost = by_channels(lost().map(|(user, channel, _)| (*user, channel.id)));
    out.each_for(
        clients,
        lost.into_iter().map(|(channels, users)| (users, EventBody::ChannelsLost(channels))),
    );
    let gained = changes.iter().filter(|(_, _, diff)| diff.is_gained() || diff.is_renewed);
    let created = by_channels(gained.clone().map(|change| (change.0, (change.1.id, is_new_peer(change)))));
    out.each_for(
        clients,
        created.into_iter().map(|(channels, users)| {
            // Users who receive the subscribers by a separate event count them then.
            let summaries = channels.into_iter().filter_map(|(id, is_new_peer)| {
                let channel = after.channel(id)?;
                Some(if is_new_peer { uncounted(context, channel) } else { new_summary(context, channel) })
            });
            (users, EventBody::ChannelsCreated(summaries.collect()))
        }),
    );
    for (channel, users) in by_channel(gained) {
        let own = users.into_iter().filter(|user| after.is_subscribed(channel.id, *user));
        out.each_for(clients, subscribed_channels(context, channel, own));
    }
    for (channel, peers) in by_channel(changes.iter().filter(|change| is_new_peer(change))) {
        let users: Arc<[UserId]> = after.subscriber_ids(channel.id).collect();
        if !users.is_empty() {
            out.for_clients(clients, peers, EventBody::PeersAdded { channel: channel.id, users });
        }
    }
}

/// Users with the same channels, so that they share an event.
fn by_channels<C: Ord>(pairs: impl Iterator<Item = (UserId, C)>) -> BTreeMap<Vec<C>, Vec<UserId>> {
    let mut channels: BTreeMap<UserId, Vec<C>> = BTreeMap::new();
    pairs.for_each(|(user, channel)| channels.entry(user).or_default().push(channel));
    let mut users: BTreeMap<Vec<C>, Vec<UserId>> = BTreeMap::new();
    channels.into_iter().for_each(|(user, channels)| users.entry(channels).or_default().push(user));
    users
}

/// The users of each channel; changes are in the order of channels.
fn by_channel<'c>(changes: impl Iterator<Item = &'c Change<'c>>) -> Vec<(&'c Arc<Channel>, Vec<UserId>)> {
    let mut found: Vec<(&'c Arc<Channel>, Vec<UserId>)> = Vec::new();
    for (user, channel, _) in changes {
        match found.last_mut() {
            Some((last, users)) if last.id == channel.id => users.push(*user),
            _ => found.push((channel, vec![*user])),
        }
    }
    found
}
