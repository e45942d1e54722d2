//! Organizations with initial content: an owner, or the users, channels and messages of a sample.
//!
//! The directory of the seed includes facts that are not stored yet: texts are rendered and recipients computed as by a
//! server on which all of it happened.

mod builder;
mod changes;
mod content;
mod create;
mod lists;
mod permissions;
mod received;

pub use content::{
    Seed, SeedChange, SeedChannel, SeedEmoji, SeedField, SeedFile, SeedFolder, SeedGroup, SeedPermission,
    SeedThread, SeedUser, Subscribers,
};
pub use permissions::{seed_directory, seed_holders};
