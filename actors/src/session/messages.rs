//! What a session can be told and asked.

use super::queue::Delivered;
use crate::error::DomainError;
use actix::prelude::*;
use model::{Event, Flags, Timestamp};
use std::sync::Arc;
use tokio::sync::oneshot;

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

/// Time has passed: is a heartbeat due, or was nobody here for too long?
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Tick {
    /// Now.
    pub now: Timestamp,
}

/// The queue ends; a waiting poll is answered first.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Close;

/// The queue is over because its owner's account is out of use; a waiting poll is told so.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Dismiss;
