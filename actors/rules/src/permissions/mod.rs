//! Permissions. `access_*` finds a record that the user has access to; `check_*` returns only whether an action is
//! permitted, or the error.
//!
//! A check takes a few lookups in a `Directory` snapshot, so it can be done for each reader of an event. The HTTP layer
//! has the responses of errors.

pub mod channel;
pub mod channel_update;
pub mod channel_visibility;
pub mod create;
pub mod delete;
pub mod direct;
pub mod edit;
pub mod group_setting;
pub mod group_setting_change;
pub mod message;
pub mod roles;
pub mod spectators;
pub mod users;

pub use channel::{Archived, ChannelRef, History, ReadableChannel};
pub use users::UserScope;
