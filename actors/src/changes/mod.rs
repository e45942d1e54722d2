//! Changes of messages that exist: edits, moves, deletions, reactions, parts of widgets.
//!
//! Each is a [`ChangeCommand`] that decides from the whole durable state, in the actor of the message's channel
//! or conversation when everything before it is durable. What is decided here needs no actor and no clock; the actors queue
//! and commit.

mod content;
mod decide;
mod delete;
mod edit;
mod move_notices;
mod movement;
mod reactions;
mod request;
mod retention;
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
pub(crate) use submessages::first_submessage;

use crate::ReplySender;
use crate::error::DomainError;
use crate::shard::Sequencer;
use crate::shared::RealmShared;
use actix::prelude::*;
use model::{ChannelId, Fact, Message as ChatMessage, MessageId, Timestamp, User, UserId};
use rules::RuleError;
use std::cell::RefCell;
use std::sync::Arc;
use storage::View;

/// What an actor decides for.
#[derive(Clone, Copy, Debug)]
pub enum ConversationKey<'a> {
    /// A channel, by id.
    Channel(ChannelId),
    /// A direct conversation, by its users (sorted).
    Direct(&'a [UserId]),
}

/// What a change is decided from: nothing that the deciding actor decided before is missing in it.
pub struct DecisionContext<'a> {
    /// Bodies of messages.
    pub(crate) realm: &'a Arc<RealmShared>,
    /// Everything else that is durable.
    pub(crate) view: &'a View,
    /// The channel or conversation of the deciding actor.
    pub(crate) conversation: ConversationKey<'a>,
    /// The time of the decision, by the server's clock.
    pub(crate) now: Timestamp,
    /// The next ids; they count as used once the facts are committed.
    pub(crate) ids: Sequencer,
    /// The message that `find` found, as its own record.
    pub(crate) target: RefCell<Option<Arc<ChatMessage>>>,
    /// Whether a channel's record was changed and the view does not show it yet.
    pub(crate) is_changing: &'a dyn Fn(ChannelId) -> bool,
}

/// A message that is to be changed.
pub struct Target {
    /// As readers see it now.
    pub message: Arc<ChatMessage>,
    /// Its own record, without the effect of moves.
    pub own: Arc<ChatMessage>,
}

/// The result of looking a message up.
pub enum Lookup {
    /// Where it was expected.
    Here(Target),
    /// It has moved to another channel.
    Moved,
    /// It does not exist, or no longer.
    Gone,
}

/// What becomes of a change.
#[derive(Debug)]
pub enum Decision<T> {
    /// The outcome for the caller, once the facts are durable.
    Decided(T, Vec<Fact>),
    /// The message is another actor's by now, or something it depends on is just changing: nothing is decided, and
    /// the caller retries.
    Retry,
}

/// A change of messages that its actor decides from what is durable.
pub trait ChangeCommand: Send + Sync + 'static {
    /// The outcome for the caller.
    type Outcome: Send + 'static;

    /// The outcome, and the facts of one frame.
    ///
    /// # Errors
    /// Whatever the rules refuse; nothing changes then.
    fn decide(&self, context: &mut DecisionContext<'_>) -> Result<Decision<Self::Outcome>, DomainError>;
}

/// A change that finds its actor by the message it is about.
pub trait MessageCommand: ChangeCommand {
    /// The id of the message that the command is about.
    fn message(&self) -> MessageId;

    /// What is answered when there is no such message.
    fn gone(&self) -> RuleError {
        RuleError::InvalidMessage
    }
}

/// What an actor answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Routed<T> {
    /// The change is durable.
    Done(T),
    /// Ask again, the actor of the channel where the message is now.
    Retry,
}

/// A change, and where its outcome goes.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Change<C: ChangeCommand> {
    /// What to decide; shared with the caller, who may have to ask another actor.
    pub command: Arc<C>,
    /// Gets the outcome when it is durable.
    pub answer: ReplySender<Routed<C::Outcome>>,
}

impl DecisionContext<'_> {
    /// The message that a command is about.
    ///
    /// # Errors
    /// `Storage`.
    pub fn find(&self, id: MessageId) -> Result<Lookup, DomainError> {
        let here = match self.conversation {
            ConversationKey::Channel(channel) => self.view.channel_ids(channel),
            ConversationKey::Direct(users) => {
                let direct = self.view.directory.direct_by_users(users);
                direct.and_then(|direct| self.view.messages.directs.get(&direct.recipient))
            }
        };
        if !here.is_some_and(|ids| ids.contains(id.0)) {
            let exists = self.view.messages.all.contains(id.0);
            return Ok(if exists { Lookup::Moved } else { Lookup::Gone });
        }
        let Some(own) = self.realm.own_record_in(self.view, id)? else { return Ok(Lookup::Gone) };
        self.target.replace(Some(own.clone()));
        Ok(Lookup::Here(Target { message: self.view.compose(&own), own }))
    }

    /// A user whose account is active.
    ///
    /// # Errors
    /// `UserDeactivated`.
    pub fn user(&self, id: UserId) -> Result<&Arc<User>, DomainError> {
        let user = self.view.directory.user(id).filter(|user| user.is_active);
        user.ok_or(DomainError::UserDeactivated)
    }
}
