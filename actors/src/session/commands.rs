//! Messages to a session, and its requests.

use crate::error::DomainError;
use actix::prelude::*;
use model::{Event, Flags, QueueId, UserId};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// An event in one client's queue.
#[derive(Clone, Debug)]
pub struct Delivered {
    /// The event, shared.
    pub event: Arc<Event>,
    /// What the message is to this user.
    pub flags: Flags,
    /// The client's own name for its message.
    pub local_id: Option<Arc<str>>,
}

/// The answer to a poll: everything not yet acknowledged.
pub type PollAnswer = Result<Vec<Delivered>, DomainError>;

/// An event for this queue.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Deliver {
    /// The event, shared with other queues.
    pub event: Arc<Event>,
    /// What the message is to this user, for message events.
    pub flags: Flags,
    /// The client's own name for its message.
    pub local_id: Option<Arc<str>>,
}

/// The client acknowledges events and waits for more.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Poll {
    /// The newest event that the client has; none to acknowledge nothing.
    pub last_event_id: Option<i64>,
    /// The organization's newest event.
    pub newest: i64,
    /// Answer at once even if there is nothing.
    pub dont_block: bool,
    /// Where the answer goes.
    pub answer: oneshot::Sender<PollAnswer>,
}

/// Time has passed: checks whether a heartbeat is due, or the queue has expired.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Tick {
    /// Now, in monotonic time.
    pub now: Duration,
}

/// The queue ends; a waiting poll is answered first.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Close;

/// The queue has ended; a waiting poll gets the reason.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Dismiss(pub DomainError);

/// What a queue that was registered before a restart has missed since its client's last event.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Resumed(pub Result<Vec<Delivered>, DomainError>);

/// What a session asks of the actor that started it.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub enum SessionRequest {
    /// End the queue: its client fell behind, or stayed away for too long.
    End { queue: QueueId, user: UserId },
    /// Forget the session, which stops. The registration stays.
    Detach { queue: QueueId, user: UserId },
    /// Shrink the queues of an account that hold too much together.
    Limit { user: UserId },
    /// Send a heartbeat to a queue that was silent for long.
    Heartbeat { queue: QueueId },
}
