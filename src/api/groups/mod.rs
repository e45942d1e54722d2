//! User groups (companions.md 7).

pub mod create;
pub mod deactivate;
pub mod list;
pub mod members;
pub mod permissions;
pub mod subgroups;
pub mod update;
