//! JSON of model values as clients know it, depending on their capabilities.
//!
//! This module only encodes: the callers check who may see a value.

pub mod attachment;
pub mod bot;
pub mod channel;
pub mod draft;
pub mod emoji;
pub mod encoded_cache;
pub mod event;
pub mod export;
pub mod folder;
pub mod group;
pub mod json;
pub mod list;
pub mod lists;
pub mod message;
pub mod navigation;
pub mod onboarding;
pub mod presence;
pub mod profile;
pub mod push;
pub mod realm;
pub mod recipients;
pub mod scheduled;
pub mod settings;
pub mod snippet;
pub mod status;
pub mod unread;
pub mod user;

#[cfg(test)]
pub(crate) mod fixture;
