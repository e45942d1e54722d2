//! A session: the actor that owns one client's event queue. It holds references to shared events until
//! the client has acknowledged them, and answers the waiting poll.

mod actor;
mod commands;
mod queue;
mod registry;
mod status;

pub use actor::{SessionActor, SessionOptions};
pub(crate) use actor::{accepts, hears_all_public_channels, wants};
#[cfg(feature = "cluster")]
pub use commands::Release;
pub use commands::{Close, Delivered, Dismiss, Poll, PollAnswer, Resumed, SessionRequest, Tick};
pub use queue::Queue;
pub use registry::{Queues, RunningQueue};
pub use status::{AccountBytes, QueueStatus};
