//! Narrows: filters of messages (docs/api/narrow.md).
//!
//! JSON → `Term`s → a `Plan` of message sets for a fetch, or an `EventNarrow` that filters an event queue.
//! Finding the messages of a plan is for the storage that holds them.

mod matches;
mod parse;
mod plan;
mod resolve;
mod term;

pub use matches::{EventNarrow, NarrowedMessage};
pub use parse::{NARROW_TERMS_MAX, parse_narrow};
pub use plan::{Content, MessageSet, Plan, PlanTerm, Scope};
pub use resolve::{Conversation, LocatedNarrow, locate_narrow};
pub use term::{Operand, Operator, Term};
