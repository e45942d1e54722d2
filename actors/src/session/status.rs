//! The status of a queue outside its lock: when its client polled last, and how many bytes it holds.

use super::delivered::Delivered;
use crate::shared::QueueLimits;
use model::{Event, UserId};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Memory of an event's entry in a queue.
const ENTRY_BYTES: usize = size_of::<Delivered>();

/// The bots of an owner together may have as many queues, and bytes in them, as this many accounts.
const BOTS_SHARES: usize = 4;

/// The state of one running queue that is read without its lock. Written only by its session.
#[derive(Debug, Default)]
pub struct QueueStatus {
    last_seen_millis: AtomicU64,
    is_polled: AtomicBool,
    bytes: AtomicUsize,
}

impl QueueStatus {
    /// The monotonic time at which a poll last began or ended.
    pub fn last_seen(&self) -> Duration {
        Duration::from_millis(self.last_seen_millis.load(Ordering::Relaxed))
    }

    pub(super) fn set_last_seen(&self, at: Duration) {
        let millis = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
        self.last_seen_millis.store(millis, Ordering::Relaxed);
    }

    /// Whether a poll waits now.
    pub fn is_polled(&self) -> bool {
        self.is_polled.load(Ordering::Relaxed)
    }

    pub(super) fn set_polled(&self, is_polled: bool) {
        self.is_polled.store(is_polled, Ordering::Relaxed);
    }

    /// The bytes that the queue holds.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn set_bytes(&self, bytes: usize) {
        self.bytes.store(bytes, Ordering::Relaxed);
    }
}

/// Whose queues share a bound of their number, and of their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueHolder {
    /// One account, a person or a bot.
    Account(UserId),
    /// All bots of an owner together: otherwise bots would give their owner many times the queues and bytes of one account.
    BotsOf(UserId),
}

impl fmt::Display for QueueHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account(user) => write!(f, "account {}", user.0),
            Self::BotsOf(owner) => write!(f, "bots of account {}", owner.0),
        }
    }
}

impl QueueHolder {
    /// How many queues it may have.
    pub fn queues_max(self, limits: &QueueLimits) -> usize {
        match self {
            Self::Account(_) => limits.queues_per_user_max,
            Self::BotsOf(_) => limits.queues_per_user_max.saturating_mul(BOTS_SHARES),
        }
    }

    /// The bytes that its queues may hold together.
    pub fn bytes_max(self, limits: &QueueLimits) -> usize {
        match self {
            Self::Account(_) => limits.bytes_per_user_max,
            Self::BotsOf(_) => limits.bytes_per_user_max.saturating_mul(BOTS_SHARES),
        }
    }
}

/// The bytes that the queues of one holder hold. An event in several of them counts once, each entry separately.
#[derive(Debug)]
pub struct HolderBytes {
    holder: QueueHolder,
    held: AtomicUsize,
    /// The number of queues with each event, by its address, which is stable while a queue holds it.
    events: Mutex<HashMap<usize, u32>>,
    is_limiting: AtomicBool,
}

/// The bytes of all holders that a queue counts for, within the queue: each waiting poll has one.
#[derive(Clone, Debug)]
pub struct QueueHolders {
    /// Those of its account.
    pub account: Arc<HolderBytes>,
    /// For the queue of a bot, those of all bots of its owner.
    pub bots: Option<Arc<HolderBytes>>,
}

impl QueueHolders {
    /// The bytes of each holder.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<HolderBytes>> {
        std::iter::once(&self.account).chain(&self.bots)
    }
}

impl HolderBytes {
    /// The bytes of a holder without events.
    pub fn new(holder: QueueHolder) -> Self {
        Self {
            holder,
            held: AtomicUsize::default(),
            events: Mutex::default(),
            is_limiting: AtomicBool::default(),
        }
    }

    /// Whose bytes these are.
    pub fn holder(&self) -> QueueHolder {
        self.holder
    }

    /// Whether the queues hold more than they may.
    pub fn is_over(&self, limits: &QueueLimits) -> bool {
        self.get() > self.holder.bytes_max(limits)
    }

    /// The bytes that all queues of the holder hold together.
    pub fn get(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Whether the caller must request that the queues shrink: true once, until [`Self::end_limiting`].
    pub(super) fn begin_limiting(&self) -> bool {
        !self.is_limiting.swap(true, Ordering::Relaxed)
    }

    /// Must be called once the queues were checked against the limit.
    pub fn end_limiting(&self) {
        self.is_limiting.store(false, Ordering::Relaxed);
    }

    pub(super) fn add(&self, event: &Arc<Event>) {
        let mut events = self.events.lock();
        let count = events.entry(address(event)).or_insert(0);
        *count += 1;
        let bytes = if *count == 1 { ENTRY_BYTES + event.bytes() } else { ENTRY_BYTES };
        self.held.fetch_add(bytes, Ordering::Relaxed);
    }

    /// A queue has dropped an event.
    pub(super) fn remove(&self, event: &Arc<Event>) {
        let mut events = self.events.lock();
        let Some(count) = events.get_mut(&address(event)) else { return };
        *count -= 1;
        let mut bytes = ENTRY_BYTES;
        if *count == 0 {
            bytes += event.bytes();
            events.remove(&address(event));
        }
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }
}

fn address(event: &Arc<Event>) -> usize {
    Arc::as_ptr(event).addr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{EventBody, EventNumber};

    #[test]
    fn event_in_several_queues_is_charged_once() {
        let account = HolderBytes::new(QueueHolder::Account(UserId(1)));
        let event = |number| Arc::new(Event::new(EventNumber(number), EventBody::Heartbeat));
        let (one, other) = (event(1), event(2));
        account.add(&one);
        let alone = account.get();
        account.add(&one);
        assert_eq!(account.get(), alone + ENTRY_BYTES);
        account.add(&other);
        account.remove(&one);
        assert_eq!(account.get(), 2 * alone);
        account.remove(&one);
        account.remove(&other);
        assert_eq!((account.get(), account.events.lock().len()), (0, 0));
    }

    #[test]
    fn bots_of_an_owner_share_a_bound() {
        let limits = QueueLimits { bytes_per_user_max: 100, ..QueueLimits::default() };
        let (person, bot) = (QueueHolder::Account(UserId(1)), QueueHolder::BotsOf(UserId(1)));
        assert_eq!((person.bytes_max(&limits), bot.bytes_max(&limits)), (100, 400));
        let event = Arc::new(Event::new(EventNumber(1), EventBody::Heartbeat));
        let bytes = HolderBytes::new(bot);
        let each = ENTRY_BYTES + event.bytes();
        let limits = QueueLimits { bytes_per_user_max: each / BOTS_SHARES, ..limits };
        bytes.add(&event);
        bytes.add(&event);
        assert!(bytes.is_over(&limits), "{} bytes of {each}", bytes.get());
        bytes.remove(&event);
        assert!(bytes.get() == each && !bytes.is_over(&QueueLimits { bytes_per_user_max: each, ..limits }));
    }
}
