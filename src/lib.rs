//! Millstream, a team chat server: the edge that speaks HTTP, and the command line.
//!
//! Decisions are made by `actors`; this package turns requests into what they understand, and their words
//! back into the wire's.

pub mod api;
pub mod background;
pub mod cli;
pub mod config;
pub mod dev;
pub mod http;
pub mod outside;
pub mod pages;
pub mod passwords;
pub mod server;
pub mod version;
