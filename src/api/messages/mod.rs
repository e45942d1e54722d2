//! Messages: sending, reading, flags, rendering.
//!
//! Several endpoints share `recipients`, `range` (the requested messages) and `page` (loading them).

pub mod access;
pub mod delete;
pub mod delete_topic;
pub mod edit;
pub mod fetch;
pub mod fetch_one;
pub mod flags;
pub mod flags_narrow;
pub mod history;
pub mod mark_read;
pub mod matches_narrow;
pub(crate) mod page;
mod range;
pub mod reactions;
pub mod read_receipts;
pub(in crate::api) mod recipients;
pub mod render;
pub mod report;
pub mod send;
pub mod submessage;
mod text_search;
pub mod typing;
