//! Subscriptions to channels.

pub mod add;
pub mod adding;
pub mod include_subscribers;
pub mod list;
pub mod principals;
pub mod properties;
pub mod property;
pub mod remove;
pub mod status;
pub mod subscribers;
pub mod update;

#[cfg(test)]
mod tests;
