//! The product from outside: every test starts a server of its own and speaks HTTP to it, as clients do.
//!
//! `support` has the server, the people and their queues; start reading there.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where, and stop")]

mod api;
mod authorization;
mod compat;
mod events;
mod flows;
mod model;
mod outside;
mod recovery;
mod robustness;
mod support;
mod tidy;
