//! Event queues that were registered before a restart and are polled again.
//!
//! Registrations are durable, their events are not: missed events are rebuilt from the log. The session of such a queue
//! receives new events at once; the events up to exactly that frame are read on a blocking thread ([`pass`]) and sent to
//! the session. The poll waits for them.
//!
//! All queues of an organization that are polled again during a pass share the next one: the log is read once for all of
//! them, and they share their events ([`live_events`]). The number of concurrent passes of a server is limited.
//!
//! | bound | value | then |
//! |---|---|---|
//! | passes at once, of a server and of an organization | 2, 1 | the others wait |
//! | queues in a pass | 256 | the others take the next one |
//! | log between what a client has and now | 64 MiB | BAD_EVENT_QUEUE_ID |
//! | events, and bytes of an account | as for any queue | BAD_EVENT_QUEUE_ID |

mod access;
mod live_events;
mod pass;

pub(crate) use pass::{Pass, ResumingQueue, ResumingQueues};

use live_events::LiveEvents;
use model::Event;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Semaphore;

/// Maximum number of concurrent passes over the log.
pub(crate) const PASSES_MAX: usize = 2;
/// Maximum number of queues of one pass.
pub(crate) const QUEUES_MAX: usize = 256;

/// The state that threads share.
pub struct ResumeState {
    /// Permits to read the log; shared by all organizations.
    pub(crate) permits: Arc<Semaphore>,
    is_stopping: AtomicBool,
    /// Whether some registered queue is not running: it may need the current events later.
    has_unresumed_queues: AtomicBool,
    live_events: Mutex<LiveEvents>,
}

impl Default for ResumeState {
    fn default() -> Self {
        Self::new(Arc::new(Semaphore::new(PASSES_MAX)))
    }
}

impl ResumeState {
    /// For an organization that shares the permits to read the log with others.
    pub fn new(permits: Arc<Semaphore>) -> Self {
        Self {
            permits,
            is_stopping: AtomicBool::new(false),
            has_unresumed_queues: AtomicBool::new(true),
            live_events: Mutex::default(),
        }
    }

    /// Remembers a published event, as long as some queue may have to be rebuilt with it.
    pub(crate) fn note(&self, event: &Arc<Event>) {
        if self.has_unresumed_queues.load(Ordering::Relaxed) {
            self.live_events.lock().note(event);
        }
    }

    /// An equal event that queues hold already; otherwise this one.
    fn shared(&self, event: Arc<Event>) -> Arc<Event> {
        self.live_events.lock().shared(event)
    }

    /// Sets whether any registered queue is not running.
    pub(crate) fn set_has_unresumed_queues(&self, has_unresumed_queues: bool) {
        if self.has_unresumed_queues.swap(has_unresumed_queues, Ordering::Relaxed) && !has_unresumed_queues {
            *self.live_events.lock() = LiveEvents::default();
        }
    }

    pub(crate) fn stop(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
    }

    fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::SeqCst)
    }
}
