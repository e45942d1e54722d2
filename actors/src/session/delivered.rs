//! An event as a queue has it.

use model::{Event, Flags};
use std::sync::Arc;

/// An event in one client's queue.
#[derive(Clone, Debug)]
pub struct Delivered {
    pub event: Arc<Event>,
    /// The user's flags of the message, for message events.
    pub flags: Flags,
    /// The id that the client gave to its message.
    pub local_id: Option<Arc<str>>,
}

impl Delivered {
    /// Memory in bytes, if no other queue shares the event.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.event.bytes()
    }
}
