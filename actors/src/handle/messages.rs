//! Commands about messages that exist. They go to the actor of the channel or conversation where the message is;
//! when it has moved away by the time it is that actor's turn, to the next one.

use super::{RealmHandle, ask, mailbox};
use crate::changes::{
    AddSubmessage, Change, ChangeReaction, DeleteMessage, DeleteTopicBatch, EditCommand, Edited,
    MessageCommand, NamedEmoji, ReactionChange, Routed, TopicDeletion,
};
use crate::error::DomainError;
use crate::realm::OpenDirect;
use model::{ChannelId, MessageId, RecipientId, UserId};
use std::sync::Arc;
use storage::view::Location;

/// How often a command follows a message that moves away from it.
const MOVES_FOLLOWED: usize = 16;

impl RealmHandle {
    /// Edits a message, moves messages, or both. Durable when this returns.
    ///
    /// # Errors
    /// The rules of endpoints.md 2; `TooLarge` where what changes does not fit into one frame.
    pub async fn edit_message(&self, command: EditCommand) -> Result<Edited, DomainError> {
        self.change_message(command).await
    }

    /// Deletes a message that the user saw a moment ago.
    ///
    /// # Errors
    /// The rules of endpoints.md 21; `AlreadyDeleted` when somebody was quicker.
    pub async fn delete_message(&self, user: UserId, message: MessageId) -> Result<(), DomainError> {
        self.change_message(DeleteMessage { user, message }).await
    }

    /// Deletes the newest messages of a topic, a hundred at most; with the last one that the user can read go the
    /// policies for the topic.
    ///
    /// # Errors
    /// `AdministratorRequired`, `InvalidChannelId`.
    pub async fn delete_topic_batch(
        &self,
        user: UserId,
        channel: ChannelId,
        topic: &str,
    ) -> Result<TopicDeletion, DomainError> {
        let command = Arc::new(DeleteTopicBatch { user, channel, topic: topic.to_owned() });
        let actor = self.channel(channel).await?;
        match ask(&actor, |answer| Change { command, answer }).await? {
            Routed::Done(deletion) => Ok(deletion),
            Routed::Elsewhere => Err(rules::RuleError::InvalidChannelId.into()),
        }
    }

    /// Reacts to a message, or takes a reaction back.
    ///
    /// # Errors
    /// Those of emoji and reactions (companions.md 4); `InvalidMessage`.
    pub async fn change_reaction(
        &self,
        user: UserId,
        message: MessageId,
        change: ReactionChange,
        emoji: NamedEmoji,
    ) -> Result<(), DomainError> {
        self.change_message(ChangeReaction { user, message, change, emoji }).await
    }

    /// Adds a part to a widget.
    ///
    /// # Errors
    /// Those of endpoints.md 24; `InvalidMessage`.
    pub async fn add_submessage(
        &self,
        user: UserId,
        message: MessageId,
        msg_type: String,
        content: String,
    ) -> Result<(), DomainError> {
        self.change_message(AddSubmessage { user, message, msg_type, content }).await
    }

    async fn change_message<C: MessageCommand>(&self, command: C) -> Result<C::Outcome, DomainError> {
        let command = Arc::new(command);
        for _ in 0..MOVES_FOLLOWED {
            let place = self.read(|view| view.place_of(command.message()));
            let shared = command.clone();
            let routed = match place {
                None => return Err(command.gone().into()),
                Some(Location::Topic(channel, _)) => {
                    let actor = self.channel(channel).await?;
                    ask(&actor, |answer| Change { command: shared, answer }).await?
                }
                Some(Location::Direct(recipient)) => {
                    let actor = self.direct(recipient).await?;
                    ask(&actor, |answer| Change { command: shared, answer }).await?
                }
            };
            if let Routed::Done(outcome) = routed {
                return Ok(outcome);
            }
        }
        Err(DomainError::Overloaded)
    }

    /// The running actor of a conversation, started if need be.
    pub(super) async fn direct(
        &self,
        recipient: RecipientId,
    ) -> Result<actix::Addr<crate::direct::DirectActor>, DomainError> {
        let users = self.read(|view| view.directory.direct(recipient).map(|direct| direct.users.clone()));
        let users = users.ok_or(DomainError::InvalidMessages)?;
        let running = self.0.directs.read().get(&users).filter(|direct| direct.connected()).cloned();
        match running {
            Some(direct) => Ok(direct),
            None => self.actor()?.send(OpenDirect(users)).await.map_err(mailbox),
        }
    }
}
