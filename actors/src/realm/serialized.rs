//! Commands of the organization that are decided from the committed state, one after another: changes of channels,
//! folders, groups and settings. No other decision about the same record is pending meanwhile.

use crate::ReplySender;
use crate::error::DomainError;
use crate::shard::Sequencer;
use crate::shared::RealmShared;
use actix::prelude::*;
use model::{Directory, Fact, RecipientId, Timestamp, UserId};
use std::sync::Arc;

/// The state that a command is decided from: it includes all earlier decisions of the organization's actor.
pub struct DecisionContext<'a> {
    pub(crate) realm: &'a Arc<RealmShared>,
    pub(crate) directory: Directory,
    /// The time of the decision, by the server's clock.
    pub(crate) now: Timestamp,
    /// The next ids; they count as used once the facts are committed.
    pub(crate) ids: Sequencer,
    /// Direct conversations (users sorted) that were created and are not durable yet.
    pub(crate) uncommitted_direct: &'a dyn Fn(&[UserId]) -> Option<RecipientId>,
}

/// A command that is decided from the durable state.
pub trait SerializedCommand: Send + 'static {
    /// The result for the caller, sent when the facts are durable; at once when there are none.
    type Outcome: Send + 'static;

    /// The outcome, and the facts of one frame.
    ///
    /// # Errors
    /// What the command's rules refuse; nothing changes then.
    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(Self::Outcome, Vec<Fact>), DomainError>;
}

/// A command whose only result is its facts.
pub trait SerializedChange: Send + 'static {
    /// The facts of one frame.
    ///
    /// # Errors
    /// What the command's rules refuse; nothing changes then.
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError>;
}

impl<C: SerializedChange> SerializedCommand for C {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        Ok(((), self.facts(context)?))
    }
}

/// A command with the receiver of its outcome.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Serialized<C: SerializedCommand> {
    pub command: C,
    /// Gets the outcome when it is durable.
    pub answer: ReplySender<C::Outcome>,
}
