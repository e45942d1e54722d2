//! Narrows: filters of messages (docs/api/narrow.md).
//!
//! JSON is parsed to `Term`s, and these are resolved to a `Plan` of message sets for a fetch. An `EventNarrow` filters an
//! event queue. The queries of `actors` find the messages of a plan.

mod matches;
mod parse;
mod plan;
mod resolve;
mod term;

pub use matches::{EventNarrow, NarrowedMessage, Shown};
pub use parse::{NARROW_TERMS_MAX, parse_narrow};
pub use plan::{Content, MessageSet, Plan, PlanTerm, Scope};
pub use resolve::{Conversation, LocatedNarrow, SEARCH_CHARS_MAX, locate_narrow, search_text};
pub use term::{Operand, Operator, Term};
