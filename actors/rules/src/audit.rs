//! The log of administrative acts: what a decision did, and how it is described to owners.

mod actions;
mod changes;
mod decided;
mod messages;
mod values;
mod words;

pub use actions::actions;
pub use decided::Decided;
pub use words::{client_of, describe, origin_of, who};

#[cfg(test)]
mod tests;
