//! Commands about existing messages. They are sent to the actor of the channel or conversation where the message is, and
//! again to the next one if the message has moved meanwhile.

use super::{RealmHandle, ask, mailbox};
use crate::changes::{Change, DeleteTopicBatch, MessageCommand, Routed, TopicDeletion};
use crate::direct::DirectActor;
use crate::error::DomainError;
use crate::realm::OpenDirect;
use actix::Addr;
use model::{ChannelId, RecipientId, UserId};
use std::sync::Arc;
use storage::view::Location;

/// How often a command is sent again because its message has moved.
const MOVES_FOLLOWED: usize = 16;

impl RealmHandle {
    /// Deletes the newest messages of a topic, at most 100; with the last one that the user can read also the policies for
    /// the topic.
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
            Routed::Retry => Err(rules::RuleError::InvalidChannelId.into()),
        }
    }

    /// Executes a command about one message in the actor of its channel or conversation. Durable when this returns.
    ///
    /// # Errors
    /// What the command refuses; its `missing` error when the message does not exist (any more); `TooLarge` when the change
    /// does not fit into one frame.
    pub async fn change<C: MessageCommand>(&self, command: C) -> Result<C::Outcome, DomainError> {
        let command = Arc::new(command);
        for _ in 0..MOVES_FOLLOWED {
            let place = self.read(|view| view.place_of(command.message()));
            let shared = command.clone();
            let routed = match place {
                None => return Err(command.missing().into()),
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

    async fn direct(&self, recipient: RecipientId) -> Result<Addr<DirectActor>, DomainError> {
        let users = self.read(|view| view.directory.direct(recipient).map(|direct| direct.users.clone()));
        self.direct_between(&users.ok_or(DomainError::InvalidMessages)?).await
    }

    /// The running actor of the conversation between users (sorted), started if need be.
    pub(super) async fn direct_between(&self, users: &[UserId]) -> Result<Addr<DirectActor>, DomainError> {
        let running = self.registry.directs.read().get(users).filter(|direct| direct.connected()).cloned();
        match running {
            Some(direct) => Ok(direct),
            None => self.actor.send(OpenDirect(users.to_vec())).await.map_err(mailbox),
        }
    }
}
