//! Participants of a topic: everyone who wrote in it or reacted to a message of it
//! (docs/api/messages.md#wildcard-mentions). Needed only for topic wildcard mentions.

use model::{ChannelId, TopicKey, UserId};
use std::collections::BTreeSet;
use storage::View;

/// The distinct senders and reactors of a topic's messages, sorted.
pub(crate) fn participants(view: &View, channel: ChannelId, topic: &TopicKey) -> Vec<UserId> {
    let Some(messages) = view.messages.topic(channel, topic) else { return Vec::new() };
    let all = view.messages.senders.iter().chain(&view.messages.reactors);
    let here = all.filter(|(_, ids)| !ids.is_disjoint(&messages.ids)).map(|(user, _)| *user);
    here.collect::<BTreeSet<_>>().into_iter().collect()
}
