//! POST /register: everything a client starts from, as of one moment.

use super::unread::{Unreads, unreads};
use crate::announce::summary;
use crate::handle::RealmHandle;
use model::event::ChannelSummary;
use model::{Channel, ChannelId, Directory, EventNumber, MessageId, Timestamp, User, UserId};
use rules::traffic::weekly_traffic;
use std::collections::BTreeMap;
use std::sync::Arc;
use storage::View;

/// A direct conversation and its newest message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecentConversation {
    /// The others in it, sorted.
    pub users: Vec<UserId>,
    /// Its newest message.
    pub max_message_id: MessageId,
}

/// An organization as of one moment, for one user (none: without an account).
#[derive(Clone, Debug)]
pub struct StateSnapshot {
    /// Events up to this one are in the snapshot.
    pub last_event: EventNumber,
    /// Everybody and everything but the messages.
    pub directory: Directory,
    /// The newest message that there ever was.
    pub max_message_id: Option<MessageId>,
    /// Counts of channels.
    pub channels: BTreeMap<ChannelId, ChannelSummary>,
    /// What the user has not read.
    pub unreads: Unreads,
    /// What the user has starred.
    pub starred: Vec<MessageId>,
    /// The user's direct conversations, newest first.
    pub recent_conversations: Vec<RecentConversation>,
}

/// So many conversations are listed.
const RECENT_CONVERSATIONS_MAX: usize = 1000;

/// Takes a snapshot. `with_messages` also collects what belongs to the user's messages.
pub fn state_snapshot(realm: &RealmHandle, user: Option<&User>, with_messages: bool) -> StateSnapshot {
    let now = realm.now();
    realm.read(|view| {
        let mut snapshot = StateSnapshot {
            last_event: view.progress.last_event,
            directory: view.directory.clone(),
            max_message_id: Some(view.messages.last).filter(|last| *last != MessageId::ZERO),
            channels: summaries(view, now),
            unreads: Unreads::default(),
            starred: Vec::new(),
            recent_conversations: Vec::new(),
        };
        if let Some(user) = user.filter(|_| with_messages) {
            snapshot.unreads = unreads(view, user);
            let mine = view.messages.users.get(&user.id);
            snapshot.starred = mine.map(|m| m.starred.iter().map(MessageId).collect()).unwrap_or_default();
            snapshot.recent_conversations = recent_conversations(view, user.id);
        }
        snapshot
    })
}

fn summaries(view: &View, now: Timestamp) -> BTreeMap<ChannelId, ChannelSummary> {
    let channels = view.directory.channels();
    channels.map(|channel| (channel.id, summary(view, channel, traffic(view, channel, now)))).collect()
}

/// Messages a week. Counted from the ids of the last 28 days: times of messages are not in memory, so the
/// share of ids stands for the share of time.
fn traffic(view: &View, channel: &Arc<Channel>, now: Timestamp) -> Option<u32> {
    let count = view.channel_ids(channel.id).map_or(0, |ids| ids.len());
    weekly_traffic(count, channel.created, now)
}

fn recent_conversations(view: &View, user: UserId) -> Vec<RecentConversation> {
    let directs = view.directory.directs_of(user);
    let mut found: Vec<RecentConversation> = directs
        .filter_map(|direct| {
            let newest = view.messages.directs.get(&direct.recipient).and_then(super::sets::newest)?;
            let users = direct.users.iter().copied().filter(|other| *other != user).collect();
            Some(RecentConversation { users, max_message_id: newest })
        })
        .collect();
    found.sort_by_key(|conversation| std::cmp::Reverse(conversation.max_message_id));
    found.truncate(RECENT_CONVERSATIONS_MAX);
    found
}
