//! A channel's actor: messages to it and changes of its subscriptions are decided here, one after the other.
//!
//! `state` decides and is plain; `actor` is the shell that knows mailboxes, ids and the log.

mod actor;
mod messages;
mod participants;
mod policies;
mod state;
mod subscriptions;

pub use actor::ChannelActor;
pub use messages::{IsIdle, SendMessage, Subscribe, Subscribed, Unsubscribe, Unsubscribed};
pub(crate) use participants::participants;
pub use subscriptions::{ChangeSubscription, SetTopicPolicy};
