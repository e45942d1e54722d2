//! What goes to a session, and its requests.

use super::delivered::Delivered;
use super::status::HolderBytes;
use crate::error::DomainError;
use actix::prelude::*;
use model::{QueueId, UserId};
use std::sync::Arc;
use tokio::sync::oneshot;

/// The answer to a poll: all events that are not acknowledged yet.
pub type PollAnswer = Result<Vec<Delivered>, DomainError>;

/// The client acknowledges events and waits for more.
#[derive(Clone, Copy, Debug)]
pub struct Poll {
    /// The newest event that the client has; none to acknowledge nothing.
    pub last_event_id: Option<i64>,
    pub newest: i64,
    /// Answer at once even if there is nothing.
    pub dont_block: bool,
}

/// What a poll gets: events at once, or a wait for some.
#[derive(Debug)]
pub enum Polled {
    Events(Vec<Delivered>),
    Waiting(oneshot::Receiver<PollAnswer>),
}

/// A request of a session to the actor that started it.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub enum SessionRequest {
    /// End the queue: its client fell behind, or did not poll for too long.
    End { queue: QueueId, user: UserId },
    /// Forget the session, which has ended. The registration remains.
    Detach { queue: QueueId, user: UserId },
    /// Shrink the queues of a holder, which hold too many bytes together.
    Limit(Arc<HolderBytes>),
    /// Send a heartbeat to a queue without recent events.
    Heartbeat { queue: QueueId },
}
