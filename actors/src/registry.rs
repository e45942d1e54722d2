//! The running actors of one organization, besides its own.

use crate::channel::Channels;
use crate::direct::Directs;
use crate::session::Queues;

/// Addresses of actors, for every thread. They start on request, and stop after a while without one.
#[derive(Default)]
pub struct Registry {
    pub channels: Channels,
    /// Actors of direct conversations, by everyone in them (sorted).
    pub directs: Directs,
    pub queues: Queues,
}
