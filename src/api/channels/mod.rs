//! Channels and their topics.

pub mod archive;
pub mod create;
pub mod default_groups;
pub mod defaults;
pub mod email_address;
pub mod get;
pub mod get_id;
pub mod list;
pub mod members;
pub mod options;
pub mod update;
