//! Topics: the list of them, and what the caller wants to see of each.

pub mod list;
pub mod muted;
pub mod policy;
