//! Event queues registered before a restart whose clients return.
//!
//! Registrations are durable, their events are not: what a client missed is read back from the log. The session of such a
//! queue listens at once, so nothing that is published from then on is missed; what was published before, up to exactly
//! that frame, is read on a blocking thread ([`pass`]) and given to the session when it is there. The poll waits for it.
//!
//! All queues of an organization that return while a pass runs share the next one: the log is read once for all of them, and
//! an event that several of them have is one event ([`held`]). Few passes run at once on a server.
//!
//! | bound | value | then |
//! |---|---|---|
//! | passes at once, of a server and of an organization | 2, 1 | the others wait |
//! | queues in a pass | 256 | the others take the next one |
//! | log between what a client has and now | 64 MiB | BAD_EVENT_QUEUE_ID |
//! | events, and bytes of an account | those of any queue | BAD_EVENT_QUEUE_ID |

mod held;
mod pass;

pub(crate) use pass::{Pass, Returning, ReturningQueues};

use held::HeldEvents;
use model::Event;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Semaphore;

/// Passes over the log that may run at once.
pub(crate) const PASSES_MAX: usize = 2;
/// Queues that share one pass.
pub(crate) const QUEUES_MAX: usize = 256;

/// The state that threads share.
pub struct Resumes {
    /// The right to read the log; shared by all organizations.
    pub(crate) turns: Arc<Semaphore>,
    is_stopping: AtomicBool,
    /// Some registered queue is not running: an event of now may be read back for it later.
    is_any_away: AtomicBool,
    held: Mutex<HeldEvents>,
}

impl Default for Resumes {
    fn default() -> Self {
        Self::new(Arc::new(Semaphore::new(PASSES_MAX)))
    }
}

impl Resumes {
    /// For an organization that shares the right to read the log with others.
    pub fn new(turns: Arc<Semaphore>) -> Self {
        Self {
            turns,
            is_stopping: AtomicBool::new(false),
            is_any_away: AtomicBool::new(true),
            held: Mutex::default(),
        }
    }

    /// Remembers an event that was just published, as long as some queue may have to be rebuilt with it.
    pub(crate) fn note(&self, event: &Arc<Event>) {
        if self.is_any_away.load(Ordering::Relaxed) {
            self.held.lock().note(event);
        }
    }

    /// The event that queues hold already, where it is the same; else this one.
    fn shared(&self, event: Arc<Event>) -> Arc<Event> {
        self.held.lock().shared(event)
    }

    /// Says whether any registered queue is not running.
    pub(crate) fn set_any_away(&self, is_any_away: bool) {
        if self.is_any_away.swap(is_any_away, Ordering::Relaxed) && !is_any_away {
            *self.held.lock() = HeldEvents::default();
        }
    }

    /// Lets passes end where they are.
    pub(crate) fn stop(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
    }

    fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::SeqCst)
    }
}
