//! Channels with their counts, and their topics, at one point in time.

use super::sets;
use crate::announce::summary;
use crate::handle::RealmHandle;
use model::event::ChannelSummary;
use model::{Channel, ChannelId, Directory, MessageId, Timestamp, User};
use rules::traffic::{TRAFFIC_DAYS, weekly_traffic};
use std::sync::Arc;
use storage::View;

/// Some channels, and the directory of the same point in time.
#[derive(Clone, Debug)]
pub struct ChannelSnapshot {
    pub directory: Directory,
    pub channels: Vec<ChannelSummary>,
}

/// A snapshot of the channels that `is_wanted` selects; it must check access.
pub fn channel_snapshot(
    realm: &RealmHandle,
    is_wanted: impl Fn(&Directory, &Channel) -> bool,
) -> ChannelSnapshot {
    let now = realm.now();
    realm.read(|view| {
        let channels = view.directory.channels().filter(|channel| is_wanted(&view.directory, channel));
        let channels = channels.map(|channel| counted(view, channel, now)).collect();
        ChannelSnapshot { directory: view.directory.clone(), channels }
    })
}

/// One channel, if it exists, and the directory of the same point in time.
pub fn one_channel(realm: &RealmHandle, id: ChannelId) -> (Directory, Option<ChannelSummary>) {
    let now = realm.now();
    realm.read(|view| {
        let found = view.directory.channel(id).map(|channel| counted(view, channel, now));
        (view.directory.clone(), found)
    })
}

/// A channel with its counts.
pub(super) fn counted(view: &View, channel: &Arc<Channel>, now: Timestamp) -> ChannelSummary {
    let recent = recent_messages(view, channel.id, now);
    summary(view, channel, weekly_traffic(recent, channel.created, now))
}

/// Messages of a channel in the days over which traffic is computed.
fn recent_messages(view: &View, channel: ChannelId, now: Timestamp) -> u64 {
    let since = Timestamp(now.0.saturating_sub(TRAFFIC_DAYS * 24 * 60 * 60 * 1000));
    view.messages.count_in_channel_since(channel, since)
}

/// A topic of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicSummary {
    /// As spelled on the newest of the user's messages.
    pub name: String,
    pub max_id: MessageId,
}

/// How many topics a channel has.
pub fn topic_count(realm: &RealmHandle, channel: ChannelId) -> usize {
    realm.read(|view| view.messages.channels.get(&channel).map_or(0, |messages| messages.topics.len()))
}

/// Topics of a channel, the one with the newest message first. With `only_those_of`, only topics of messages that this user
/// has (protected history).
pub fn topics(realm: &RealmHandle, channel: ChannelId, only_those_of: Option<&User>) -> Vec<TopicSummary> {
    let mut found: Vec<TopicSummary> = realm.read(|view| {
        let Some(messages) = view.messages.channels.get(&channel) else { return Vec::new() };
        let own = only_those_of.map(|user| view.accessible_in_channel(user.id, channel, &messages.ids));
        let topics = messages.topics.values().filter_map(|topic| {
            let newest = match &own {
                Some(own) => sets::newest(&(own & &topic.ids)),
                None => sets::newest(&topic.ids),
            };
            // Not the topic's own name, which is that of its newest message: the user may not have it.
            Some(TopicSummary { name: topic.spelling_of(newest?).to_owned(), max_id: newest? })
        });
        topics.collect()
    });
    found.sort_by_key(|topic| std::cmp::Reverse(topic.max_id));
    found
}
