//! A session: the actor that owns one client's event queue. It keeps references to shared events until
//! the client has acknowledged them, and answers the poll that waits.

mod actor;
mod messages;
mod queue;

pub use actor::{SessionActor, SessionOptions};
pub(crate) use actor::{accepts, wants};
pub use messages::{Close, Deliver, Dismiss, Poll, PollAnswer, Tick};
pub use queue::{Delivered, Queue};
