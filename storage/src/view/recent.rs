//! Bodies of messages in memory: the newest ones because they are read most, and every one that
//! the trees do not have yet because nobody else has it.

use model::{Flags, Message, MessageId, Sequence, UserId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of message bodies kept for quick reading.
pub const RECENT_BYTES_MAX: usize = 12 * 1024 * 1024;

/// What a message costs beside its texts, roughly.
const MESSAGE_OVERHEAD_BYTES: usize = 320;

/// What a reaction costs, roughly.
const REACTION_BYTES: usize = 128;

/// Message bodies by id.
#[derive(Debug, Default)]
pub struct RecentMessages {
    messages: BTreeMap<MessageId, (Sequence, Arc<Message>)>,
    /// The same by the frame that wrote them last: a change makes an old message a recent one.
    order: BTreeSet<(Sequence, MessageId)>,
    bytes: usize,
    /// The newest frame that is in the trees; the writer of the trees moves it.
    stored: Arc<AtomicU64>,
}

impl RecentMessages {
    /// Where the writer of the trees notes how far it has come.
    pub fn stored(&self) -> Arc<AtomicU64> {
        self.stored.clone()
    }

    /// A message's body, if it is here.
    pub fn get(&self, id: MessageId) -> Option<&Arc<Message>> {
        self.messages.get(&id).map(|(_, message)| message)
    }

    /// Keeps a body that frame `sequence` wrote. The oldest stored ones make room; unstored ones stay.
    pub fn put(&mut self, sequence: Sequence, message: Arc<Message>) {
        let id = message.id;
        self.remove(id);
        self.bytes += size(&message);
        self.order.insert((sequence, id));
        self.messages.insert(id, (sequence, message));
        while self.bytes > RECENT_BYTES_MAX {
            let Some((sequence, oldest)) = self.order.first().copied() else { break };
            if sequence.0 > self.stored.load(Ordering::Acquire) {
                break;
            }
            self.remove(oldest);
        }
    }

    /// Forgets a body.
    pub fn remove(&mut self, id: MessageId) {
        if let Some((sequence, message)) = self.messages.remove(&id) {
            self.order.remove(&(sequence, id));
            self.bytes -= size(&message);
        }
    }

    /// How many bodies are here.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether none is here.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }
}

fn size(message: &Message) -> usize {
    let edits: usize =
        message.edits.iter().map(|edit| 128 + text(&edit.prev_content) + text(&edit.prev_rendered)).sum();
    let parts: usize = message.submessages.iter().map(|part| 96 + part.content.len()).sum();
    let texts = message.content.len() + message.rendered.len() + message.place.topic().len() + edits + parts;
    let links: usize = message.topic_links.iter().map(|link| 64 + link.text.len() + link.url.len()).sum();
    MESSAGE_OVERHEAD_BYTES
        + texts
        + links
        + message.reactions.len() * REACTION_BYTES
        + message.user_flags.len() * size_of::<(UserId, Flags)>()
}

fn text(text: &Option<String>) -> usize {
    text.as_ref().map_or(0, String::len)
}
