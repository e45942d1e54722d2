//! Commands of the organization that are decided from the durable state, one after another: changes of channels,
//! folders, groups and settings. No other decision about the same record is pending meanwhile.

use crate::ReplySender;
use crate::error::DomainError;
use crate::shard::Sequencer;
use crate::shared::RealmShared;
use actix::prelude::*;
use model::{Directory, Fact, RecipientId, Timestamp, UserId};
use std::sync::Arc;

/// What a command decides from: nothing that the organization's actor decided before is missing in it.
pub struct DecisionContext<'a> {
    /// The organization that is decided about.
    pub(crate) realm: &'a Arc<RealmShared>,
    /// Everything but the messages, as of now.
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
    /// What the caller gets when the facts are durable; at once when there are none.
    type Outcome: Send + 'static;

    /// The outcome, and the facts of one frame.
    ///
    /// # Errors
    /// Whatever the command's rules refuse; nothing changes then.
    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(Self::Outcome, Vec<Fact>), DomainError>;
}

/// A command, and where its outcome goes.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Serialized<C: SerializedCommand> {
    /// The command to decide.
    pub command: C,
    /// Gets the outcome when it is durable.
    pub answer: ReplySender<C::Outcome>,
}
