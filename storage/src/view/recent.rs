//! Bodies of messages in memory: the newest ones because they are read most, and all that are not in the trees yet. Beside them
//! are older ones that were read lately.

use super::message_bytes::message_bytes;
use super::read_cache::{ReadCache, ReadMessages};
use model::{Message, MessageId, Sequence};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum bytes of stored message bodies in memory.
pub const RECENT_BYTES_MAX: usize = 6 * 1024 * 1024;

/// Up to this many bodies for each wanted one are walked over.
const WALK_FACTOR: usize = 3;

/// The bodies of one view between two changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodiesRevision {
    /// The number of the view; none without a cache.
    view: Option<u32>,
    changes: u64,
}

/// Message bodies by id.
#[derive(Debug, Default)]
pub struct RecentMessages {
    messages: BTreeMap<MessageId, (Sequence, Arc<Message>)>,
    /// Ids of the messages by the frame that changed them last: a change makes an old message recent.
    order: BTreeSet<(Sequence, MessageId)>,
    bytes: usize,
    /// The newest frame that is in the trees; set by the writer of the trees.
    stored: Arc<AtomicU64>,
    /// Whether no bodies are kept.
    is_off: bool,
    /// Stored bodies that were read lately and are not among the messages: as they are now, like those.
    read: Option<ReadMessages>,
    /// How often a body was changed or removed.
    changes: u64,
}

impl RecentMessages {
    /// Keeps no bodies from now on, for a view of which none is read.
    pub fn keep_none(&mut self) {
        if !self.is_off {
            (self.is_off, self.bytes) = (true, 0);
            self.messages.clear();
            self.order.clear();
        }
    }

    /// Keeps bodies that are read in `cache` from now on.
    pub fn keep_read_in(&mut self, cache: &ReadCache) {
        self.read = Some(cache.part());
    }

    /// None of these bodies, for a view that takes the place of this one: it keeps those that are read in the same cache.
    pub(super) fn emptied(&self) -> Self {
        Self { read: self.read.as_ref().map(ReadMessages::next), ..Self::default() }
    }

    /// The newest frame that is in the trees, to be set by the writer of the trees.
    pub fn stored(&self) -> Arc<AtomicU64> {
        self.stored.clone()
    }

    /// The newest frame that is in the trees, as a number.
    pub fn stored_sequence(&self) -> Sequence {
        Sequence(self.stored.load(Ordering::Acquire))
    }

    /// A message's body, if it is in memory.
    pub fn get(&self, id: MessageId) -> Option<&Arc<Message>> {
        self.messages.get(&id).map(|(_, message)| message)
    }

    /// The bodies of some messages (ascending) that are in memory, beside them.
    pub fn among(&self, ids: &[MessageId]) -> Vec<Option<Arc<Message>>> {
        let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return Vec::new() };
        let mut found = Vec::with_capacity(ids.len());
        // Neighbors are found faster in one walk.
        let mut walk = self.messages.range(first..=last).take(WALK_FACTOR * ids.len()).peekable();
        for id in ids {
            while walk.next_if(|(before, _)| *before < id).is_some() {}
            found.push(match walk.peek() {
                Some((known, (_, message))) => (*known == id).then(|| message.clone()),
                None => self.get(*id).cloned(),
            });
        }
        found
    }

    /// A stored body that was read lately.
    pub fn read_lately(&self, id: MessageId) -> Option<Arc<Message>> {
        self.read.as_ref()?.get(id)
    }

    /// Which bodies these are, for [`Self::keep_read`].
    pub fn revision(&self) -> BodiesRevision {
        BodiesRevision { view: self.read.as_ref().map(ReadMessages::view), changes: self.changes }
    }

    /// Keeps stored bodies that were read, complete with their changes, since [`Self::revision`] returned `revision`. If a body
    /// has changed meanwhile, none is kept.
    pub fn keep_read<'a>(
        &self,
        messages: impl IntoIterator<Item = &'a Arc<Message>>,
        revision: BodiesRevision,
    ) {
        let Some(read) = self.read.as_ref().filter(|_| revision == self.revision()) else { return };
        messages.into_iter().for_each(|message| read.insert(message));
    }

    /// Adds a body that frame `sequence` wrote. The oldest stored ones are evicted; unstored ones stay.
    pub fn put(&mut self, sequence: Sequence, message: Arc<Message>) {
        if self.is_off {
            return;
        }
        let id = message.id;
        self.bytes += message_bytes(&message);
        if let Some((before, replaced)) = self.messages.insert(id, (sequence, message)) {
            self.order.remove(&(before, id));
            self.bytes -= message_bytes(&replaced);
        }
        self.order.insert((sequence, id));
        while self.bytes > RECENT_BYTES_MAX {
            let Some((sequence, oldest)) = self.order.first().copied() else { break };
            if sequence > self.stored_sequence() {
                break;
            }
            self.take(oldest);
        }
    }

    /// Applies a change of frame `sequence` to a body in memory. Other bodies are read from the trees with their changes.
    pub fn change(&mut self, sequence: Sequence, id: MessageId, change: impl FnOnce(&mut Message)) {
        if let Some(mut message) = self.remove(id) {
            change(Arc::make_mut(&mut message));
            self.put(sequence, message);
        }
    }

    /// Adds a body from the trees that frame `sequence` is about to change, unless it is in memory.
    pub(super) fn warm(&mut self, sequence: Sequence, message: Arc<Message>) {
        if !self.messages.contains_key(&message.id) {
            self.remove(message.id);
            self.put(sequence, message);
        }
    }

    /// Removes a body, and returns it if it was among the newest.
    pub fn remove(&mut self, id: MessageId) -> Option<Arc<Message>> {
        self.changes += 1;
        if let Some(read) = &self.read {
            read.remove(id);
        }
        self.take(id)
    }

    fn take(&mut self, id: MessageId) -> Option<Arc<Message>> {
        let (sequence, message) = self.messages.remove(&id)?;
        self.order.remove(&(sequence, id));
        self.bytes -= message_bytes(&message);
        Some(message)
    }

    /// The number of bodies in memory.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether no body is in memory.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }
}
