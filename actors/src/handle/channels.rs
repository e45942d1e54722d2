//! Commands about channels, their subscribers and their folders.

use super::{RealmHandle, ask, mailbox};
use crate::channel::{Subscribe, Subscribed, Unsubscribe, Unsubscribed};
use crate::error::DomainError;
use crate::realm::{CreateChannel, NewChannel, OpenChannel};
use actix::prelude::*;
use model::{ChannelId, UserId};

/// Users whose subscriptions one frame changes.
const SUBSCRIBERS_MAX: usize = 1000;

impl RealmHandle {
    /// The running actor of a channel, started if need be.
    pub(super) async fn channel(
        &self,
        id: ChannelId,
    ) -> Result<Addr<crate::channel::ChannelActor>, DomainError> {
        let running = self.0.channels.read().get(&id).filter(|channel| channel.connected()).cloned();
        if let Some(channel) = running {
            return Ok(channel);
        }
        let opened = self.actor()?.send(OpenChannel(id)).await.map_err(mailbox)?;
        opened.ok_or_else(|| rules::RuleError::ChannelIdDoesNotExist { id: id.0.into() }.into())
    }

    /// Creates a channel with its first subscribers and its first notice.
    ///
    /// # Errors
    /// `ChannelExists`.
    pub async fn create_channel(&self, mut channel: NewChannel) -> Result<ChannelId, DomainError> {
        let by = channel.by;
        let later = channel.subscribers.split_off(channel.subscribers.len().min(SUBSCRIBERS_MAX));
        let id = ask(self.actor()?, |answer| CreateChannel { channel: Box::new(channel), answer }).await?;
        self.subscribe(id, later, by).await?;
        Ok(id)
    }

    /// Subscribes users, each with a colour.
    ///
    /// # Errors
    /// Those of every command. Permissions are the caller's.
    pub async fn subscribe(
        &self,
        channel: ChannelId,
        users: Vec<(UserId, String)>,
        by: UserId,
    ) -> Result<Subscribed, DomainError> {
        let channel = self.channel(channel).await?;
        let mut outcome = Subscribed::default();
        for users in users.chunks(SUBSCRIBERS_MAX) {
            let users = users.to_vec();
            let part = ask(&channel, |answer| Subscribe { users, by, answer }).await?;
            outcome.subscribed.extend(part.subscribed);
            outcome.already.extend(part.already);
        }
        Ok(outcome)
    }

    /// Unsubscribes users.
    ///
    /// # Errors
    /// Those of every command. Permissions are the caller's.
    pub async fn unsubscribe(
        &self,
        channel: ChannelId,
        users: Vec<UserId>,
        by: UserId,
    ) -> Result<Unsubscribed, DomainError> {
        let channel = self.channel(channel).await?;
        let mut outcome = Unsubscribed::default();
        for users in users.chunks(SUBSCRIBERS_MAX) {
            let users = users.to_vec();
            let part = ask(&channel, |answer| Unsubscribe { users, by, answer }).await?;
            outcome.removed.extend(part.removed);
            outcome.not_subscribed.extend(part.not_subscribed);
        }
        Ok(outcome)
    }
}
