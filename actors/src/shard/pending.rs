//! Decisions that wait for the disk.

use crate::error::DomainError;
use crate::shared::RealmShared;
use model::{Audience, Event, Frame};
use std::sync::Arc;
use storage::log::Ticket;

/// Called once on the shard's thread: after the frame was published, or when it never will be.
pub type CommitCallback = Box<dyn FnOnce(Result<(), DomainError>)>;

/// What waits, and becomes known when the log is durable up to it.
pub enum PendingKind {
    /// A frame that was appended to the log.
    Frame(Frame),
    /// Frames of which the first creates the organization again: nothing is announced.
    Reset(Vec<Frame>),
    /// An event that is not stored (typing, presence); it waits for the frames decided before it.
    Ephemeral(Box<Event>, Audience),
    /// Only a callback, when all earlier decisions are published.
    Barrier,
}

/// A decision that waits, with the callback for the one who asked for it.
pub struct Pending {
    /// Published once the log is durable up to here.
    pub ticket: Ticket,
    pub realm: Arc<RealmShared>,
    pub kind: PendingKind,
    pub done: Option<CommitCallback>,
}

/// Tells the callers that nothing of these will be published.
pub fn refuse(pending: impl IntoIterator<Item = Pending>) {
    for done in pending.into_iter().filter_map(|pending| pending.done) {
        done(Err(DomainError::Stopping));
    }
}
