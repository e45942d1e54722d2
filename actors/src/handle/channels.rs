//! Commands for the actors of channels, and commands about channels that take several frames.

use super::{RealmHandle, ask, mailbox};
use crate::account::for_current_requester;
use crate::channel::{ChangeSubscription, ChannelActor, SetTopicPolicy, Unsubscribe, Unsubscribed};
use crate::error::DomainError;
use crate::realm::{
    AddSubscriptions, Added, ArchiveChannel, CreateChannel, OpenChannel, Progress, ReadArchived,
};
use crate::shared::SUBSCRIBERS_MAX;
use actix::prelude::*;
use model::{ChannelId, Flag, FlagOp, UserId, VisibilityPolicy};
use rules::subscription_properties::SubscriptionChange;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// Time until a refused part of a larger change is tried again: at first, and at most.
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(60);

impl RealmHandle {
    /// The running actor of a channel, started if need be.
    pub(super) async fn channel(&self, id: ChannelId) -> Result<Arc<Addr<ChannelActor>>, DomainError> {
        let running = self.registry.channels.read().get(&id).filter(|channel| channel.connected()).cloned();
        if let Some(channel) = running {
            return Ok(channel);
        }
        let opened = self.actor.send(OpenChannel(id)).await.map_err(mailbox)?;
        opened.map(Arc::new).ok_or_else(|| rules::RuleError::ChannelIdDoesNotExist { id: id.0.into() }.into())
    }

    /// Creates a channel and returns its id.
    ///
    /// # Errors
    /// Rules of names, of [`rules::new_channels::ChannelOptions::plan`] and of first subscribers; a description that cannot
    /// be rendered.
    pub async fn create_channel(&self, command: CreateChannel) -> Result<ChannelId, DomainError> {
        let progress = self.execute(command).await?;
        let added = self.finish_subscriptions(progress).await?;
        Ok(added.created.first().copied().unwrap_or_default())
    }

    /// Subscribes users.
    ///
    /// # Errors
    /// As [`rules::subscribing::check_subscribe`]; a description that cannot be rendered.
    pub async fn add_subscriptions(&self, command: AddSubscriptions) -> Result<Added, DomainError> {
        let progress = self.execute(command).await?;
        self.finish_subscriptions(progress).await
    }

    async fn finish_subscriptions(&self, mut progress: Progress) -> Result<Added, DomainError> {
        loop {
            match progress {
                Progress::Done(added) => return Ok(added),
                Progress::More(rest) => progress = self.execute(*rest).await?,
            }
        }
    }

    /// Archives a channel (docs/api/channels.md#archive-a-channel). Runs to its end also if the caller stops waiting: its
    /// subscribers' unread messages become read, as when a user unsubscribes (docs/api/message-flags.md#unread-rules).
    ///
    /// # Errors
    /// `InvalidChannelId`, `ChannelNotAdministered`, `ChannelAlreadyArchived`.
    pub async fn archive_channel(&self, by: UserId, channel: i64) -> Result<(), DomainError> {
        let realm = self.clone();
        let archived = actix::spawn(for_current_requester(async move {
            realm.execute(ArchiveChannel { by, channel }).await?;
            realm.read_archived(u32::try_from(channel).map(ChannelId).unwrap_or_default()).await;
            Ok(())
        }));
        archived.await.map_err(|_| DomainError::Stopping)?
    }

    /// Marks the messages of an archived channel as read. What is refused for now is tried again, because no later request does it.
    async fn read_archived(&self, channel: ChannelId) {
        let mut pause = RETRY_MIN;
        loop {
            match self.execute(ReadArchived { channel }).await {
                Ok(true) => pause = RETRY_MIN,
                Ok(false) | Err(DomainError::Stopping) => return,
                Err(error) => {
                    tracing::warn!(%error, %channel, "an archived channel is not marked as read yet");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(RETRY_MAX);
                }
            }
        }
    }

    /// Unsubscribes users, and from a private channel also the bots of those who cannot read it any more
    /// (docs/api/subscriptions.md#unsubscribe).
    ///
    /// # Errors
    /// `InsufficientPermission`.
    pub async fn unsubscribe(
        &self,
        channel: ChannelId,
        users: Vec<UserId>,
        by: UserId,
    ) -> Result<Unsubscribed, DomainError> {
        let channel = self.channel(channel).await?;
        let mut outcome = Unsubscribed::default();
        let asked: HashSet<UserId> = users.iter().copied().collect();
        for users in users.chunks(SUBSCRIBERS_MAX) {
            let mut users = users.to_vec();
            // A frame is bounded, so very scattered unread messages take several.
            while !users.is_empty() {
                let part = ask(&channel, |answer| Unsubscribe { users, by, answer }).await?;
                outcome.removed.extend(part.outcome.removed.iter().filter(|user| asked.contains(user)));
                let not_subscribed = part.outcome.not_subscribed.into_iter();
                outcome.not_subscribed.extend(not_subscribed.filter(|user| asked.contains(user)));
                if let Some((user, messages)) = part.unread {
                    self.change_flags(user, Flag::Read, FlagOp::Add, messages).await?;
                }
                users = part.left;
            }
        }
        Ok(outcome)
    }

    /// Sets one property of a user's subscription. Returns at once, without an event, if it has that value already.
    ///
    /// # Errors
    /// `NotSubscribed`.
    pub async fn change_subscription(
        &self,
        user: UserId,
        channel: ChannelId,
        change: SubscriptionChange,
    ) -> Result<(), DomainError> {
        let channel = self.channel(channel).await?;
        ask(&channel, |answer| ChangeSubscription { user, change, answer }).await
    }

    /// Sets a user's policy for a topic (normalized). Returns at once, without an event, if it is that already.
    ///
    /// # Errors
    /// As [`rules::permissions::channel::access_channel_for_policy`].
    pub async fn set_topic_policy(
        &self,
        user: UserId,
        channel: ChannelId,
        topic: String,
        policy: VisibilityPolicy,
    ) -> Result<(), DomainError> {
        let channel = self.channel(channel).await?;
        ask(&channel, |answer| SetTopicPolicy { user, topic, policy, answer }).await
    }
}
