//! Channels that somebody gains and loses with another role, and those whose subscribers they see from now on.

use super::channels::uncounted;
use super::{Announcements, Moment, new_summary};
use model::event::{ChannelSummary, Clients};
use model::{Channel, EventBody, User, UserId};
use rules::permissions::channel::{sees_channel, sees_subscribers};
use std::sync::Arc;

/// What a role did to somebody's knowledge of a channel.
struct Reach<'m> {
    channel: &'m Arc<Channel>,
    knew: bool,
    knows: bool,
    /// Learns who subscribes; not of channels that one is in.
    is_new_peer: bool,
}

impl Moment<'_> {
    /// Whether somebody has another role by the frame.
    pub(super) fn has_new_role(&self, user: UserId) -> bool {
        let role = |user: &Arc<User>| user.role;
        let (was, is) = (self.before().user(user).map(role), self.after.user(user).map(role));
        was.is_some() && was != is
    }
}

/// Somebody has another role.
pub(super) fn changed(moment: &Moment<'_>, user: UserId, out: &mut Announcements) {
    let was = moment.before().user(user).filter(|user| user.is_active);
    let is = moment.after.user(user).filter(|user| user.is_active);
    let (Some(was), Some(is)) = (was, is) else { return };
    for (clients, is_archived) in [(Clients::All, false), (Clients::KnowArchived, true)] {
        let channels = moment.after.channels().filter(|channel| channel.is_archived == is_archived);
        let reach: Vec<Reach<'_>> =
            channels.filter_map(|channel| reach_of(moment, was, is, channel)).collect();
        tell(moment, user, clients, &reach, out);
    }
}

/// None for channels of which nobody knew before the frame.
fn reach_of<'m>(
    moment: &'m Moment<'_>,
    was: &User,
    is: &User,
    channel: &'m Arc<Channel>,
) -> Option<Reach<'m>> {
    let before = moment.before();
    let earlier = before.channel(channel.id).filter(|_| !moment.before.unborn.contains(&channel.id))?;
    let saw_peers = sees_subscribers(before, was, earlier);
    let is_inside = moment.after.is_subscribed(channel.id, is.id);
    Some(Reach {
        channel,
        knew: sees_channel(before, was, earlier),
        knows: sees_channel(moment.after, is, channel),
        is_new_peer: !saw_peers && !is_inside && sees_subscribers(moment.after, is, channel),
    })
}

fn tell(moment: &Moment<'_>, user: UserId, clients: Clients, reach: &[Reach<'_>], out: &mut Announcements) {
    let summary = |reach: &Reach<'_>| -> ChannelSummary {
        // Those who are told of subscribers by an event of their own count them then.
        if reach.is_new_peer { uncounted(moment, reach.channel) } else { new_summary(moment, reach.channel) }
    };
    let gained: Vec<_> = reach.iter().filter(|one| !one.knew && one.knows).map(summary).collect();
    let lost: Vec<_> = reach.iter().filter(|one| one.knew && !one.knows).map(|one| one.channel.id).collect();
    if !lost.is_empty() {
        out.for_clients(clients, [user], EventBody::ChannelsLost(lost));
    }
    if !gained.is_empty() {
        out.for_clients(clients, [user], EventBody::ChannelsCreated(gained));
    }
    for channel in reach.iter().filter(|one| one.is_new_peer).map(|one| one.channel.id) {
        let users: Arc<[UserId]> = moment.after.subscriber_ids(channel).collect();
        if !users.is_empty() {
            out.for_clients(clients, [user], EventBody::PeersAdded { channel, users });
        }
    }
}
