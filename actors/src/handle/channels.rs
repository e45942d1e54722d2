//! Commands for the actors of channels, and commands about channels that take several frames.

use super::{RealmHandle, ask, mailbox};
use crate::account::for_current_requester;
use crate::channel::{ChangeSubscription, ChannelActor, SetTopicPolicy};
use crate::error::DomainError;
use crate::realm::{
    AddSubscriptions, Added, ArchiveChannel, CreateChannel, Leaving, OpenChannel, PendingSubscriptions,
    Progress, ReadArchived, Unsubscribe, Unsubscribed, UnsubscribedPart,
};
use actix::prelude::*;
use model::{ChannelId, UserId, VisibilityPolicy};
use rules::subscription_properties::SubscriptionChange;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// Time until a refused part of a larger change is tried again: at first, and at most.
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// Runs work to its end, also if the caller stops waiting.
async fn to_its_end<T: 'static>(
    work: impl Future<Output = Result<T, DomainError>> + 'static,
) -> Result<T, DomainError> {
    actix::spawn(for_current_requester(work)).await.map_err(|_| DomainError::Stopping)?
}

/// When a part of a larger change that was refused for now is tried again.
struct Retry(Duration);

impl Default for Retry {
    fn default() -> Self {
        Self(RETRY_MIN)
    }
}

impl Retry {
    async fn wait(&mut self, error: &DomainError, what: &str) {
        tracing::warn!(%error, "{what} goes on later");
        tokio::time::sleep(self.0).await;
        self.0 = (self.0 * 2).min(RETRY_MAX);
    }
}

/// The outcomes of unsubscribing, of all frames together. Bots that leave with their owners are not among them.
struct Outcomes {
    asked: HashSet<UserId>,
    list: Vec<Unsubscribed>,
    positions: HashMap<ChannelId, usize>,
}

impl Outcomes {
    fn new(channels: &[ChannelId], users: &[UserId]) -> Self {
        let empty = |channel: &ChannelId| Unsubscribed {
            channel: *channel,
            removed: Vec::new(),
            not_subscribed: Vec::new(),
        };
        Self {
            asked: users.iter().copied().collect(),
            list: channels.iter().map(empty).collect(),
            positions: channels.iter().enumerate().map(|(position, channel)| (*channel, position)).collect(),
        }
    }

    /// Adds those of a frame, and returns what is left.
    fn add(&mut self, part: UnsubscribedPart) -> Vec<Leaving> {
        for Unsubscribed { channel, removed, not_subscribed } in part.outcomes {
            let Some(position) = self.positions.get(&channel) else { continue };
            let asked = |users: Vec<UserId>| users.into_iter().filter(|user| self.asked.contains(user));
            let own = &mut self.list[*position];
            own.removed.extend(asked(removed));
            own.not_subscribed.extend(asked(not_subscribed));
        }
        part.left
    }
}

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
        let realm = self.clone();
        let added = to_its_end(async move {
            let progress = realm.execute(command).await?;
            realm.finish_subscriptions(progress).await
        });
        Ok(added.await?.created.first().copied().unwrap_or_default())
    }

    /// Subscribes users: in one frame, if it is not too large. A larger request that was permitted runs to its end also if the caller
    /// stops waiting, because nothing else finishes it.
    ///
    /// # Errors
    /// As [`rules::subscribing::check_subscribe`]; a description that cannot be rendered. Nothing has changed then, unless it is
    /// `Partly`: the frames after the first need room for channels and names that others have taken meanwhile.
    pub async fn add_subscriptions(&self, command: AddSubscriptions) -> Result<Added, DomainError> {
        let realm = self.clone();
        let added = to_its_end(async move {
            let progress = realm.execute(command).await?;
            realm.finish_subscriptions(progress).await
        });
        added.await
    }

    /// Decides the frames after the first of a request.
    async fn finish_subscriptions(&self, mut progress: Progress) -> Result<Added, DomainError> {
        let mut retry = Retry::default();
        loop {
            let rest = match progress {
                Progress::Done(added) => return Ok(added),
                Progress::More(rest) => rest,
            };
            progress = match self.execute(PendingSubscriptions::clone(&rest)).await {
                Ok(next) => {
                    retry = Retry::default();
                    next
                }
                Err(error) if error.is_temporary() => {
                    retry.wait(&error, "a subscription request").await;
                    Progress::More(rest)
                }
                Err(error) => return Err(rest.refused(error)),
            };
        }
    }

    /// Archives a channel (docs/api/channels.md#archive-a-channel). Runs to its end also if the caller stops waiting: its
    /// subscribers' unread messages become read, as when a user unsubscribes (docs/api/message-flags.md#unread-rules).
    ///
    /// # Errors
    /// `InvalidChannelId`, `ChannelNotAdministered`, `ChannelAlreadyArchived`.
    pub async fn archive_channel(&self, by: UserId, channel: i64) -> Result<(), DomainError> {
        let realm = self.clone();
        let archived = to_its_end(async move {
            realm.execute(ArchiveChannel { by, channel }).await?;
            realm.read_archived(u32::try_from(channel).map(ChannelId).unwrap_or_default()).await;
            Ok(())
        });
        archived.await
    }

    /// Marks the messages of an archived channel as read. What is refused for now is tried again, and what the server does not finish
    /// is done by the next sweep after its start.
    async fn read_archived(&self, channel: ChannelId) {
        let mut retry = Retry::default();
        loop {
            match self.execute(ReadArchived { channel }).await {
                Ok(true) => retry = Retry::default(),
                Ok(false) | Err(DomainError::Stopping) => return,
                Err(error) => retry.wait(&error, "marking an archived channel as read").await,
            }
        }
    }

    /// Unsubscribes users from channels (each named once), and from a private channel also the bots of those who cannot read it any
    /// more (docs/api/subscriptions.md#unsubscribe): in one frame, if it is not too large. A larger request that was permitted runs to
    /// its end also if the caller stops waiting. Outcomes are in the order of the channels.
    ///
    /// # Errors
    /// `InsufficientPermission`; nothing has changed then.
    pub async fn unsubscribe(
        &self,
        channels: Vec<ChannelId>,
        users: Vec<UserId>,
        by: UserId,
    ) -> Result<Vec<Unsubscribed>, DomainError> {
        let actor = self.actor.clone();
        let mut outcomes = Outcomes::new(&channels, &users);
        let leaving = channels.into_iter().map(|channel| Leaving { channel, users: users.clone() });
        let (mut left, mut is_permitted): (Vec<Leaving>, bool) = (leaving.collect(), false);
        let unsubscribed = to_its_end(async move {
            let mut retry = Retry::default();
            while !left.is_empty() {
                let leaving = left.clone();
                match ask(&actor, |answer| Unsubscribe { by, leaving, is_permitted, answer }).await {
                    Ok(part) => (left, is_permitted, retry) = (outcomes.add(part), true, Retry::default()),
                    Err(error) if is_permitted && error.is_temporary() => {
                        retry.wait(&error, "unsubscribing").await;
                    }
                    Err(error) => return Err(error),
                }
            }
            Ok(outcomes.list)
        });
        unsubscribed.await
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
