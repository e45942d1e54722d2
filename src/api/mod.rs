//! The endpoints: one folder per family, one file per endpoint.
//!
//! Each reads its parameters, asks `actors` or a snapshot, and answers; `wire` turns model values into the JSON that
//! clients know. Rules and order of work are not here.

pub mod account;
pub mod bots;
pub mod channels;
pub mod descriptions;
pub mod emoji;
pub mod events;
pub mod folders;
pub mod groups;
pub mod invites;
pub mod messages;
pub mod pictures;
pub mod realm;
pub mod shared;
pub mod subscriptions;
pub mod topics;
pub mod users;
pub mod wire;

#[cfg(test)]
pub(crate) mod sample;
