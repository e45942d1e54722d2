//! The audit log: what a decision did, and how it is described to owners.

mod actions;
mod changes;
mod decided;
mod description;
mod messages;
mod values;

pub use actions::actions;
pub use decided::Decided;
pub use description::{client_of, describe, origin_of, who};

#[cfg(test)]
mod tests;
