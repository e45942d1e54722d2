//! The endpoints: one folder per family, one file per endpoint.
//!
//! An endpoint reads its parameters, calls `actors` or reads a snapshot, and responds; `wire` encodes model values as
//! JSON. Rules and ordering are in `actors`.

pub mod account;
pub mod bots;
pub mod calls;
pub mod channels;
pub mod descriptions;
pub mod dev;
pub mod emoji;
pub mod encoded_lists;
pub mod events;
pub mod external;
pub mod folders;
pub mod formulas;
pub mod groups;
pub mod invites;
pub mod messages;
pub mod pictures;
pub mod realm;
pub mod subscriptions;
pub mod texts;
pub mod topics;
pub mod tus;
pub mod uploads;
pub mod users;
pub mod wire;

#[cfg(test)]
pub(crate) mod sample;
