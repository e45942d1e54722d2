//! Mirrors `src/api`: one file per endpoint, with every documented answer.

mod account;
mod auth;
pub mod bots;
mod channels;
pub mod edge;
mod folders;
pub mod groups;
pub mod invites;
mod messages;
pub mod pictures;
pub mod realm;
mod subscriptions;
mod topics;
mod users;
