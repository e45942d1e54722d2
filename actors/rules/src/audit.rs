//! The log of administrative acts: what a decision did, and how it is described to owners.

mod changes;
mod decided;
mod deeds;
mod messages;
mod values;
mod words;

pub use decided::Decided;
pub use deeds::deeds;
pub use words::{client_of, describe, who};

#[cfg(test)]
mod tests;
