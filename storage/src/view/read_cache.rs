//! Bodies that were read from the trees lately. A page of messages is often read again soon: by the other members of a channel,
//! and by all clients after a restart.

use super::message_bytes::message_bytes;
use model::{Message, MessageId};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Maximum bytes of the bodies in a cache.
pub const READ_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// For how many bodies the cache reserves memory.
const BODIES_ESTIMATED: usize = 8 * 1024;

/// The bodies of all organizations of a server. Those that are read once, such as in a scan of the history, are replaced
/// before those that are read again.
#[derive(Clone, Debug)]
pub struct ReadCache {
    bodies: Arc<Cache<(u32, MessageId), Arc<Message>, MessageWeighter>>,
    views: Arc<AtomicU32>,
}

impl Default for ReadCache {
    fn default() -> Self {
        let bodies = Cache::with_weighter(BODIES_ESTIMATED, READ_BYTES_MAX, MessageWeighter);
        Self { bodies: Arc::new(bodies), views: Arc::default() }
    }
}

impl ReadCache {
    /// The approximate size of the bodies in the cache.
    pub fn bytes(&self) -> u64 {
        self.bodies.weight()
    }

    /// The part of a view, which is empty: the number of a view is not used again, and an organization that is opened again
    /// has a new one.
    pub(super) fn part(&self) -> ReadMessages {
        ReadMessages { cache: self.clone(), view: self.views.fetch_add(1, Ordering::Relaxed) }
    }
}

/// The bodies of one view.
#[derive(Debug)]
pub(super) struct ReadMessages {
    cache: ReadCache,
    view: u32,
}

impl ReadMessages {
    /// The number of the view.
    pub fn view(&self) -> u32 {
        self.view
    }

    /// The part of another view, which is empty.
    pub fn next(&self) -> Self {
        self.cache.part()
    }

    /// A body that is kept.
    pub fn get(&self, id: MessageId) -> Option<Arc<Message>> {
        self.cache.bodies.get(&(self.view, id))
    }

    /// Keeps a body, as long as it is read more often than others.
    pub fn insert(&self, message: &Arc<Message>) {
        self.cache.bodies.insert((self.view, message.id), message.clone());
    }

    /// Removes a body, which has changed or is deleted.
    pub fn remove(&self, id: MessageId) {
        self.cache.bodies.remove(&(self.view, id));
    }
}

#[derive(Clone, Debug)]
struct MessageWeighter;

impl Weighter<(u32, MessageId), Arc<Message>> for MessageWeighter {
    fn weight(&self, _: &(u32, MessageId), message: &Arc<Message>) -> u64 {
        message_bytes(message) as u64
    }
}
