//! A user's unread messages, grouped as clients expect them at registration (docs/api/events.md#unread-messages).

use super::own::{OwnConversation, own_in_channel};
use model::{ChannelId, MessageId, TopicKey, User, UserId};
use roaring::{MultiOps, RoaringBitmap};
use rules::visibility::is_muted;
use storage::View;
use storage::view::ChannelMessages;

/// Maximum number of listed unread messages.
const UNREAD_MAX: u64 = 50_000;

/// Unread messages of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadTopic {
    pub channel: ChannelId,
    /// The topic as spelled on its newest message.
    pub topic: String,
    /// Message ids, ascending.
    pub ids: Vec<MessageId>,
}

/// Unread messages of a direct conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadConversation {
    /// All users in it, sorted.
    pub users: Vec<UserId>,
    /// Message ids, ascending.
    pub ids: Vec<MessageId>,
}

/// All that a user has not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unreads {
    /// By channel and lower-case topic.
    pub topics: Vec<UnreadTopic>,
    /// Direct conversations with unread messages.
    pub conversations: Vec<UnreadConversation>,
    /// Messages that mention the user, ascending.
    pub mentions: Vec<MessageId>,
    /// The number of direct messages and of messages that are not muted.
    pub count: usize,
    /// Whether older unread messages are not listed.
    pub old_unreads_missing: bool,
}

/// Collects a user's unread messages: direct ones, and those of channels they are subscribed to now. `conversations` are all of
/// the user's direct conversations.
pub(super) fn unreads(view: &View, user: &User, conversations: &[OwnConversation<'_>]) -> Unreads {
    let mut all = subscribed_unread(view, user, conversations);
    let mut found = Unreads::default();
    if all.len() >= UNREAD_MAX {
        found.old_unreads_missing = true;
        let oldest = all.len() - UNREAD_MAX;
        all.remove_smallest(oldest);
    }
    for (direct, messages) in conversations.iter().filter(|(_, messages)| !messages.is_disjoint(&all)) {
        let ids = *messages & &all;
        found.count += ids.len() as usize;
        found.conversations.push(UnreadConversation { users: direct.users.clone(), ids: listed(&ids) });
    }
    let mut muted = RoaringBitmap::new();
    for channel in view.directory.channels_of_user(user.id) {
        // Most channels have nothing unread, and need no subscription.
        let messages =
            view.messages.channels.get(&channel).filter(|messages| !messages.ids.is_disjoint(&all));
        let subscription = messages.and_then(|_| view.directory.subscription(channel, user.id));
        let (Some(messages), Some(subscription)) = (messages, subscription.filter(|own| own.is_active))
        else {
            continue;
        };
        for (key, name, ids) in unread_topics(messages, &all) {
            if is_muted(subscription.is_muted, view.directory.topic_policy(user.id, channel, key)) {
                muted |= &ids;
            } else {
                found.count += ids.len() as usize;
            }
            found.topics.push(UnreadTopic { channel, topic: name.to_owned(), ids: listed(&ids) });
        }
    }
    found.mentions = mentions(view, user.id, &all, &muted);
    found
}

/// The topics of a channel with any of some messages, each with its key, its name and these messages, by key.
fn unread_topics<'v>(
    messages: &'v ChannelMessages,
    unread: &RoaringBitmap,
) -> Vec<(&'v TopicKey, &'v str, RoaringBitmap)> {
    let here = &messages.ids & unread;
    let topics = messages.topics.iter().filter(|(_, topic)| !topic.ids.is_disjoint(&here));
    let mut topics: Vec<_> =
        topics.map(|(key, topic)| (key, topic.name.as_str(), &topic.ids & &here)).collect();
    topics.sort_unstable_by_key(|(key, ..)| *key);
    topics
}

fn subscribed_unread(view: &View, user: &User, conversations: &[OwnConversation<'_>]) -> RoaringBitmap {
    let mut delivered = conversations.iter().map(|(_, messages)| *messages).union();
    for channel in view.directory.channels_of_user(user.id) {
        if view.channel_ids(channel).is_none_or(RoaringBitmap::is_empty) {
            continue;
        }
        // Of an archived channel, too: what was unread there is marked as read, and what is marked as unread later is unread.
        if view.directory.is_subscribed(channel, user.id) {
            // Includes messages that were marked as unread without having been delivered.
            delivered |= &*own_in_channel(view, user, channel);
        }
    }
    view.unread_of(user.id, &delivered)
}

/// Mentions by name or group always count, wildcard mentions only if they are not muted.
fn mentions(view: &View, user: UserId, unread: &RoaringBitmap, muted: &RoaringBitmap) -> Vec<MessageId> {
    let shown = unread - muted;
    let mut found = &view.messages.channel_wildcard & &shown;
    if let Some(mine) = view.messages.users.get(&user) {
        found -= &mine.historical;
        found |= &mine.mentioned & unread;
        found |= &mine.topic_wildcard & &shown;
    }
    listed(&found)
}

fn listed(ids: &RoaringBitmap) -> Vec<MessageId> {
    ids.iter().map(MessageId).collect()
}
