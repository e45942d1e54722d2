//! A channel's actor: messages to it and changes of its subscriptions are decided here, one after the other.
//!
//! `state` decides and is plain; `actor` is the shell that knows mailboxes, ids and the log.

mod actor;
mod commands;
mod participants;
mod policies;
mod state;
mod subscriptions;

pub use actor::{ChannelActor, Channels};
pub(crate) use actor::{load_state, unsubscribe_facts};
pub use commands::{ApplyFacts, IsIdle, SendMessage, Unsubscribe, Unsubscribed};
pub(crate) use participants::participants;
pub(crate) use state::SendContext;
pub use subscriptions::{ChangeSubscription, SetTopicPolicy};
