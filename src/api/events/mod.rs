//! Event queues: registering, polling, ending.

pub mod close;
pub mod poll;
pub mod register;
