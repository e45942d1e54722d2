//! A session: one client's event queue. It holds references to shared events until the client has acknowledged them, and answers
//! the poll that waits.

mod commands;
mod delivered;
mod filter;
mod queue;
mod registry;
mod running;
mod status;

pub use commands::{Poll, PollAnswer, Polled, SessionRequest};
pub use delivered::Delivered;
pub(crate) use filter::{accepts, receives_all_public_channels, wants};
pub use queue::Queue;
pub use registry::Queues;
pub use running::{Session, SessionOptions};
pub use status::{HolderBytes, QueueHolder, QueueHolders, QueueStatus};
