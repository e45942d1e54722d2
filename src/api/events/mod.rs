//! Event queues: registering, polling, closing.

pub mod close;
pub mod poll;
pub mod register;
