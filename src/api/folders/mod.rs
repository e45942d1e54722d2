//! Channel folders, in which clients group channels.

pub mod create;
pub mod list;
pub mod reorder;
pub mod update;
