//! Messages: sending, reading, flags, rendering.
//!
//! `recipients`, `range` and `page` are what several endpoints share: whom a message goes to, which messages are asked
//! for, and loading them.

pub mod fetch;
pub mod fetch_one;
pub mod flags;
pub mod flags_narrow;
pub mod mark_read;
pub mod matches_narrow;
mod page;
mod range;
mod recipients;
pub mod render;
pub mod send;
