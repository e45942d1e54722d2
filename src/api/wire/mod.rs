//! Model values → JSON as clients know it, by what a client can handle.
//!
//! Everything here only writes: who may see a value is decided before it comes here.

pub mod channel;
pub mod group;
pub mod user;
