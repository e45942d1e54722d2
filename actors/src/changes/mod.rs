//! Changes of messages that exist: edits, moves, deletions, reactions, parts of widgets.
//!
//! Each is a [`ChangeCommand`] that decides from the whole durable state, in the actor of the message's channel
//! or conversation when its turn has come. What is decided here needs no actor and no clock; the actors queue,
//! commit and tell each other.

mod content;
mod delete;
mod edit;
mod movement;
mod notices;
mod reactions;
mod retention;
mod submessages;
mod turns;

#[cfg(test)]
mod tests;

pub use delete::TopicDeletion;
pub use edit::{EditCommand, Edited, RequestedEdit};
pub use reactions::{NamedEmoji, ReactionChange};

pub(crate) use delete::{DeleteMessage, DeleteTopicBatch};
pub(crate) use reactions::ChangeReaction;
pub(crate) use retention::{DeleteExpired, NoteInactivity, has_become_idle, has_expired};
pub(crate) use submessages::{AddSubmessage, first_submessage};
pub(crate) use turns::{TakeTurn, TakesTurns};

use crate::Answer;
use crate::error::DomainError;
use crate::shard::Sequencer;
use crate::shared::RealmShared;
use actix::prelude::*;
use model::{ChannelId, Fact, Message as ChatMessage, MessageId, Timestamp, User, UserId};
use rules::RuleError;
use std::sync::Arc;
use storage::View;

/// What an actor decides for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Home<'a> {
    /// A channel.
    Channel(ChannelId),
    /// A direct conversation, by everybody in it (sorted).
    Direct(&'a [UserId]),
}

/// What a change is decided from: nothing that the deciding actor decided before is missing in it.
pub(crate) struct Moment<'a> {
    /// Bodies of messages.
    pub realm: &'a Arc<RealmShared>,
    /// Everything else that is durable.
    pub view: &'a View,
    /// Who decides.
    pub home: Home<'a>,
    /// Now.
    pub now: Timestamp,
    /// The next ids; those taken count once the facts are committed.
    pub ids: Sequencer,
    /// Whether a channel's record was changed and the view does not show it yet.
    pub is_changing: &'a dyn Fn(ChannelId) -> bool,
}

/// A message that is to be changed.
pub(crate) struct Target {
    /// As readers see it now.
    pub message: Arc<ChatMessage>,
    /// Its own record, without the effect of moves.
    pub own: Arc<ChatMessage>,
}

/// Where a message is looked for.
pub(crate) enum Found {
    /// Where it was expected.
    Here(Target),
    /// It has moved to another channel.
    Elsewhere,
    /// It does not exist, or no longer.
    Gone,
}

/// What becomes of a change.
#[derive(Debug)]
pub(crate) enum Verdict<T> {
    /// What the caller is told once the facts are durable.
    Decided(T, Vec<Fact>),
    /// The message is another actor's by now, or something it depends on is just changing: nothing is decided, and
    /// whoever asked asks again.
    Elsewhere,
}

/// A change of messages that its actor decides from what is durable.
pub(crate) trait ChangeCommand: Send + Sync + 'static {
    /// What the caller is told.
    type Outcome: Send + 'static;

    /// The outcome, and the facts of one frame.
    ///
    /// # Errors
    /// Whatever the rules refuse; nothing changes then.
    fn decide(&self, moment: &mut Moment<'_>) -> Result<Verdict<Self::Outcome>, DomainError>;
}

/// A change that finds its actor by the message it is about.
pub(crate) trait MessageCommand: ChangeCommand {
    /// The message.
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
    Elsewhere,
}

/// A change, and where its outcome goes.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Change<C: ChangeCommand> {
    /// What to decide; shared with the caller, who may have to ask another actor.
    pub command: Arc<C>,
    /// Gets the outcome when it is durable.
    pub answer: Answer<Routed<C::Outcome>>,
}

impl Moment<'_> {
    /// The message that a command is about.
    ///
    /// # Errors
    /// `Storage`.
    pub fn find(&self, id: MessageId) -> Result<Found, DomainError> {
        let here = match self.home {
            Home::Channel(channel) => self.view.channel_ids(channel),
            Home::Direct(users) => {
                let direct = self.view.directory.direct_by_users(users);
                direct.and_then(|direct| self.view.messages.directs.get(&direct.recipient))
            }
        };
        if !here.is_some_and(|ids| ids.contains(id.0)) {
            let exists = self.view.messages.all.contains(id.0);
            return Ok(if exists { Found::Elsewhere } else { Found::Gone });
        }
        let (Some(message), Some(own)) = (self.realm.message(id)?, self.realm.own_record(id)?) else {
            return Ok(Found::Gone);
        };
        Ok(Found::Here(Target { message, own }))
    }

    /// Somebody with an account that is still in use.
    ///
    /// # Errors
    /// `UserDeactivated`.
    pub fn user(&self, id: UserId) -> Result<&Arc<User>, DomainError> {
        let user = self.view.directory.user(id).filter(|user| user.is_active);
        user.ok_or(DomainError::UserDeactivated)
    }
}
