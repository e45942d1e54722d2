//! POST /register: the initial state of a client, at one point in time.

use super::channels::counted;
use super::own::OwnConversation;
use super::received::newest_of;
use super::sets::newest;
use super::unread::{Unreads, unreads};
use crate::handle::RealmHandle;
use model::event::ChannelSummary;
use model::{DirectConversation, Directory, EventNumber, MessageId, User, UserId};
use std::sync::Arc;

/// A direct conversation and its newest message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecentConversation {
    pub users: Vec<UserId>,
    pub max_message_id: MessageId,
}

/// An organization at one point in time, for one user (none: without an account).
#[derive(Clone, Debug)]
pub struct StateSnapshot {
    /// Events up to this one are in the snapshot.
    pub last_event: EventNumber,
    pub directory: Directory,
    /// The newest message that was delivered to the user.
    pub max_message_id: Option<MessageId>,
    /// All channels, by id.
    pub channels: Vec<ChannelSummary>,
    pub unreads: Unreads,
    pub starred: Vec<MessageId>,
    /// The user's direct conversations, newest first.
    pub recent_conversations: Vec<RecentConversation>,
}

/// Maximum number of listed conversations.
const RECENT_CONVERSATIONS_MAX: usize = 1000;

/// The requested parts of a snapshot; the others stay empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Include {
    pub channels: bool,
    pub unreads: bool,
    pub starred: bool,
    pub recent_conversations: bool,
}

/// Takes a snapshot for a user (none: without an account).
pub fn state_snapshot(realm: &RealmHandle, user: Option<&User>, include: Include) -> StateSnapshot {
    let now = realm.now();
    realm.read(|view| {
        // Once for all parts: there may be very many.
        let conversations: Vec<OwnConversation<'_>> =
            user.into_iter().flat_map(|user| view.conversations_of(user.id)).collect();
        let newest_direct = conversations.iter().filter_map(|(_, messages)| newest(messages)).max();
        let mut snapshot = StateSnapshot {
            last_event: view.progress.last_event,
            directory: view.directory.clone(),
            max_message_id: user.and_then(|user| newest_of(view, user.id, newest_direct)),
            channels: Vec::new(),
            unreads: Unreads::default(),
            starred: Vec::new(),
            recent_conversations: Vec::new(),
        };
        if include.channels {
            let channels = view.directory.channels();
            snapshot.channels = channels.map(|channel| counted(view, channel, now)).collect();
        }
        let Some(user) = user else { return snapshot };
        if include.unreads {
            snapshot.unreads = unreads(view, user, &conversations);
        }
        if include.starred {
            let mine = view.messages.users.get(&user.id);
            snapshot.starred = mine.map(|m| m.starred.iter().map(MessageId).collect()).unwrap_or_default();
        }
        if include.recent_conversations {
            snapshot.recent_conversations = recent_conversations(user.id, &conversations);
        }
        snapshot
    })
}

/// The newest of a user's conversations.
fn recent_conversations(user: UserId, conversations: &[OwnConversation<'_>]) -> Vec<RecentConversation> {
    let with_messages = conversations.iter().filter_map(|(direct, ids)| Some((newest(ids)?, *direct)));
    let mut recent: Vec<(MessageId, &Arc<DirectConversation>)> = with_messages.collect();
    recent.sort_unstable_by_key(|(newest, _)| std::cmp::Reverse(*newest));
    recent.truncate(RECENT_CONVERSATIONS_MAX);
    let others =
        |direct: &DirectConversation| direct.users.iter().copied().filter(|other| *other != user).collect();
    recent
        .into_iter()
        .map(|(max_message_id, direct)| RecentConversation { users: others(direct), max_message_id })
        .collect()
}
