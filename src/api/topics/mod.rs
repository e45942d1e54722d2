//! Topics, and the visibility policies of users for them.

pub mod list;
pub mod muted;
pub mod policy;
