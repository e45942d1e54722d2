//! Who may see and do what. `access_*` hands out a value that is the proof; `check_*` only says yes or why not.
//!
//! Everything is asked of a `Directory` snapshot in a few look-ups, so that it may be asked for each reader of
//! an event. What a missing permission looks like on the wire is the edge's table.

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
pub mod users;

pub use channel::{Archived, ChannelRef, History, PostableChannel, ReadableChannel, VisibleChannel};
pub use users::UserScope;
