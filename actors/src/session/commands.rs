//! Messages to a session, and its requests.

use crate::error::DomainError;
use actix::prelude::*;
use model::{Event, Flags, QueueId, UserId};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// An event in one client's queue. Sent to the session to add it.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct Delivered {
    pub event: Arc<Event>,
    /// The user's flags of the message, for message events.
    pub flags: Flags,
    /// The id that the client gave to its message.
    pub local_id: Option<Arc<str>>,
}

/// The answer to a poll: all events that are not acknowledged yet.
pub type PollAnswer = Result<Vec<Delivered>, DomainError>;

/// The client acknowledges events and waits for more.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Poll {
    /// The newest event that the client has; none to acknowledge nothing.
    pub last_event_id: Option<i64>,
    pub newest: i64,
    /// Answer at once even if there is nothing.
    pub dont_block: bool,
    pub answer: oneshot::Sender<PollAnswer>,
}

/// All events that were published together have arrived: the waiting poll is answered.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(super) struct AnswerPoll;

/// Time has passed: checks whether a heartbeat is due, or the queue has expired.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Tick {
    /// Now, in monotonic time.
    pub now: Duration,
}

/// Answers a waiting poll with what there is; its client asks again.
#[cfg(feature = "cluster")]
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Release;

/// Ends the queue; a waiting poll is answered first.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Close;

/// Ends the queue; a waiting poll gets the reason.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Dismiss(pub DomainError);

/// The events since the client's last one, for a queue that was registered before a restart.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Resumed(pub Result<Vec<Delivered>, DomainError>);

/// A request of a session to the actor that started it.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub enum SessionRequest {
    /// End the queue: its client fell behind, or did not poll for too long.
    End { queue: QueueId, user: UserId },
    /// Forget the session, which stops. The registration remains.
    Detach { queue: QueueId, user: UserId },
    /// Shrink the queues of an account, which hold too many bytes together.
    Limit { user: UserId },
    /// Send a heartbeat to a queue without recent events.
    Heartbeat { queue: QueueId },
}
