//! Mirrors `src/api`: one file per endpoint, with every documented answer.

mod account;
mod auth;
mod channels;
pub mod edge;
mod folders;
pub mod groups;
mod messages;
pub mod realm;
mod subscriptions;
mod topics;
mod users;
