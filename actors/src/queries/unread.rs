//! A user's unread messages, grouped as clients expect them at registration (docs/api/events.md#unread-messages).

use super::own::own_in_channel;
use model::{ChannelId, MessageId, TopicKey, User, UserId};
use roaring::RoaringBitmap;
use rules::visibility::is_muted;
use storage::View;

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

/// Collects a user's unread messages: direct ones, and those of channels they are subscribed to now.
pub fn unreads(view: &View, user: &User) -> Unreads {
    let mut all = subscribed_unread(view, user);
    let mut found = Unreads::default();
    if all.len() >= UNREAD_MAX {
        found.old_unreads_missing = true;
        let oldest = all.len() - UNREAD_MAX;
        all.remove_smallest(oldest);
    }
    for direct in view.directory.directs_of(user.id) {
        let Some(ids) = view.messages.directs.get(&direct.recipient) else { continue };
        let ids = ids & &all;
        if !ids.is_empty() {
            found.count += ids.len() as usize;
            found.conversations.push(UnreadConversation { users: direct.users.clone(), ids: listed(&ids) });
        }
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
        for (key, topic) in sorted(messages) {
            let ids = &topic.ids & &all;
            if ids.is_empty() {
                continue;
            }
            if is_muted(subscription.is_muted, view.directory.topic_policy(user.id, channel, key)) {
                muted |= &ids;
            } else {
                found.count += ids.len() as usize;
            }
            found.topics.push(UnreadTopic { channel, topic: topic.name.clone(), ids: listed(&ids) });
        }
    }
    found.mentions = mentions(view, user.id, &all, &muted);
    found
}

fn sorted(messages: &storage::view::ChannelMessages) -> Vec<(&TopicKey, &storage::view::TopicMessages)> {
    let mut topics: Vec<_> = messages.topics.iter().collect();
    topics.sort_by(|a, b| a.0.cmp(b.0));
    topics
}

fn subscribed_unread(view: &View, user: &User) -> RoaringBitmap {
    let mut delivered = view.direct_messages_of(user.id);
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
