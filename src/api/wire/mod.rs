//! Model values → JSON as clients know it, by what a client can handle.
//!
//! Everything here only writes: who may see a value is decided before it comes here.

pub mod bot;
pub mod channel;
pub mod emoji;
pub mod event;
pub mod folder;
pub mod group;
pub mod json;
pub mod list;
pub mod lists;
pub mod message;
pub mod navigation;
pub mod presence;
pub mod profile;
pub mod push;
pub mod realm;
pub mod settings;
pub mod status;
pub mod unread;
pub mod user;

#[cfg(test)]
mod fixture;
