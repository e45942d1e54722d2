//! Changes of existing messages: edits, moves, deletions, reactions, submessages of widgets.
//!
//! Each is a [`ChangeCommand`], decided from the durable state in the actor of the message's channel or conversation, when
//! all earlier decisions are durable. The decisions themselves need no actor and no clock; the actors queue and commit.

mod content;
mod decide;
mod delete;
mod edit;
mod move_notices;
mod movement;
mod reactions;
mod request;
mod retention;
mod sent_by;
mod submessages;

#[cfg(test)]
mod tests;

pub use delete::{DeleteMessage, TopicDeletion};
pub use reactions::{ChangeReaction, NamedEmoji, ReactionChange};
pub use request::{EditCommand, Edited, RequestedEdit};
pub use submessages::AddSubmessage;

pub(crate) use decide::DecidesChanges;
pub(crate) use delete::DeleteTopicBatch;
pub(crate) use retention::{DeleteExpired, MarkInactive, has_become_idle, has_expired};
pub(crate) use sent_by::{DeleteSentBy, has_sent};
pub(crate) use submessages::first_submessage;

use crate::ReplySender;
use crate::error::DomainError;
use crate::shard::Sequencer;
use crate::shared::RealmShared;
use actix::prelude::*;
use model::{ChannelId, Fact, Message as ChatMessage, MessageId, Timestamp, User, UserId};
use roaring::RoaringBitmap;
use rules::RuleError;
use std::sync::Arc;
use storage::View;

/// The channel or conversation of a deciding actor.
#[derive(Clone, Copy, Debug)]
pub enum ConversationKey<'a> {
    Channel(ChannelId),
    /// By its users (sorted).
    Direct(&'a [UserId]),
}

impl ConversationKey<'_> {
    /// The ids of its messages; `None` if it has none.
    fn messages<'v>(&self, view: &'v View) -> Option<&'v RoaringBitmap> {
        match self {
            Self::Channel(channel) => view.channel_ids(*channel),
            Self::Direct(users) => {
                let direct = view.directory.direct_by_users(users)?;
                view.messages.directs.get(&direct.recipient)
            }
        }
    }
}

/// The state that a change is decided from. It contains every earlier decision of the deciding actor.
pub struct DecisionContext<'a> {
    /// Bodies of messages.
    pub(crate) realm: &'a Arc<RealmShared>,
    /// Everything else that is durable.
    pub(crate) view: &'a View,
    pub(crate) conversation: ConversationKey<'a>,
    pub(crate) now: Timestamp,
    /// The next ids; they count as used once the facts are committed.
    pub(crate) ids: Sequencer,
    /// The message of a [`MessageCommand`], as its own record.
    pub(crate) target: Option<Arc<ChatMessage>>,
    /// Whether a channel's record has uncommitted changes.
    pub(crate) is_changing: &'a dyn Fn(ChannelId) -> bool,
}

/// A message that is to be changed.
pub struct Target {
    /// With the effect of moves, as readers see it.
    pub message: Arc<ChatMessage>,
    /// Its own record, without the effect of moves.
    pub own: Arc<ChatMessage>,
}

/// The result of deciding a change.
#[derive(Debug)]
pub enum Decision<T> {
    /// The outcome for the caller, once the facts are durable.
    Decided(T, Vec<Fact>),
    /// Another actor decides about the message now, or a record that it depends on is being changed: nothing is
    /// decided, and the caller retries.
    Retry,
}

/// A change of messages, decided by their actor from the durable state.
pub trait ChangeCommand: Send + Sync + 'static {
    type Outcome: Send + 'static;

    /// The outcome, and the facts of one frame. Nothing changes on an error.
    fn decide(&self, context: &mut DecisionContext<'_>) -> Result<Decision<Self::Outcome>, DomainError>;
}

/// A change of one message, which also determines the deciding actor.
pub trait MessageCommand: Send + Sync + 'static {
    type Outcome: Send + 'static;

    fn message(&self) -> MessageId;

    /// The error when the message does not exist (any more).
    fn missing(&self) -> RuleError {
        RuleError::InvalidMessage
    }

    /// As [`ChangeCommand::decide`], with the message.
    fn decide_on(
        &self,
        context: &mut DecisionContext<'_>,
        target: &Target,
    ) -> Result<Decision<Self::Outcome>, DomainError>;
}

impl<C: MessageCommand> ChangeCommand for C {
    type Outcome = <C as MessageCommand>::Outcome;

    fn decide(&self, context: &mut DecisionContext<'_>) -> Result<Decision<Self::Outcome>, DomainError> {
        let (id, view) = (self.message(), context.view);
        let is_here = context.conversation.messages(view).is_some_and(|ids| ids.contains(id.0));
        if !is_here && view.messages.all.contains(id.0) {
            return Ok(Decision::Retry);
        }
        let own = if is_here { context.realm.own_record_in(view, id)? } else { None };
        let own = own.ok_or_else(|| self.missing())?;
        context.target = Some(own.clone());
        self.decide_on(context, &Target { message: view.compose(&own), own })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Routed<T> {
    /// The change is durable.
    Done(T),
    /// Nothing was decided: ask the actor of the channel where the message is now.
    Retry,
}

/// A change, and where its outcome goes.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Change<C: ChangeCommand> {
    /// Shared with the caller, which may have to ask another actor.
    pub command: Arc<C>,
    pub answer: ReplySender<Routed<C::Outcome>>,
}

impl DecisionContext<'_> {
    /// A user whose account is active.
    pub fn user(&self, id: UserId) -> Result<&Arc<User>, DomainError> {
        let user = self.view.directory.user(id).filter(|user| user.is_active);
        user.ok_or(DomainError::UserDeactivated)
    }
}
