//! Folders in which clients show channels together.

pub mod create;
pub mod list;
pub mod reorder;
pub mod update;
