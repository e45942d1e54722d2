//! Channels and their topics.

pub mod create;
pub mod get;
pub mod get_id;
pub mod list;
pub mod members;
pub mod new_channel;
pub mod notices;
pub mod options;
