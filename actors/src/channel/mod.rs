//! A channel's actor: messages to it and changes of its subscriptions are decided here, one after the other.
//!
//! `state` decides and is plain; `actor` is the shell that knows mailboxes, ids and the log.

mod actor;
mod commands;
mod participants;
mod policies;
mod state;
mod subscriptions;
mod unsubscribing;

pub(crate) use actor::load_state;
pub use actor::{ChannelActor, Channels};
pub use commands::{ApplyFacts, IsIdle, SendMessage, Unsubscribe, Unsubscribed};
pub(crate) use participants::participants;
pub(crate) use state::SendContext;
pub use subscriptions::{ChangeSubscription, SetTopicPolicy};
pub(crate) use unsubscribing::{unread_in, unsubscribe_bots};
