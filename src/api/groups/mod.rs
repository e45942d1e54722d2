//! User groups (docs/api/groups.md).

pub mod create;
pub mod deactivate;
pub mod list;
pub mod members;
pub mod permissions;
pub mod subgroups;
pub mod update;
