//! Commands about channels, their subscribers and their folders.

use super::{RealmHandle, SUBSCRIBERS_MAX, ask, mailbox};
use crate::changes::{Change, ChangeCommand, Routed};
use crate::channel::{Subscribe, Subscribed, Unsubscribe, Unsubscribed};
use crate::error::DomainError;
use crate::realm::{
    ArchiveChannel, CreateChannel, CreateFolder, FolderDescription, NewChannel, OpenChannel, ReadArchived,
    ReorderFolders, SetDefaultChannel, UpdateChannel, UpdateFolder,
};
use actix::prelude::*;
use model::{ChannelId, FolderId, RecipientId, UserId};
use rules::permissions::channel_update::ChannelUpdate;
use std::sync::Arc;

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

    /// Changes what a channel is (endpoints.md 6). What is permitted before the first refusal stays changed;
    /// `description_html` is for a new description.
    ///
    /// # Errors
    /// The first refusal, in the order of the specification.
    pub async fn update_channel(
        &self,
        by: UserId,
        channel: i64,
        update: ChannelUpdate,
        description_html: Option<String>,
    ) -> Result<(), DomainError> {
        let command = UpdateChannel { by, channel, update: Box::new(update), description_html };
        match self.settle(command).await? {
            Some(refusal) => Err(refusal.into()),
            None => Ok(()),
        }
    }

    /// Takes a channel out of use (companions.md 6).
    ///
    /// # Errors
    /// `InvalidChannelId`, `ChannelNotAdministered`, `ChannelAlreadyArchived`.
    pub async fn archive_channel(&self, by: UserId, channel: i64) -> Result<(), DomainError> {
        self.settle(ArchiveChannel { by, channel }).await?;
        // What its people had not read yet, as of a channel that somebody leaves (endpoints.md 22).
        let channel = u32::try_from(channel).map(ChannelId).unwrap_or_default();
        while self.settle(ReadArchived { channel }).await? {}
        Ok(())
    }

    /// Subscribes new people to a channel from now on, or no longer (companions.md 6).
    ///
    /// # Errors
    /// `AdministratorRequired`, `InvalidChannelId`, `PrivateChannelDefault`.
    pub async fn set_default_channel(
        &self,
        by: UserId,
        channel: i64,
        is_default: bool,
    ) -> Result<(), DomainError> {
        self.settle(SetDefaultChannel { by, channel, is_default }).await
    }

    /// Makes a folder of channels.
    ///
    /// # Errors
    /// `AdministratorRequired`, and what `rules::folders::check_folder_name` says.
    pub async fn create_folder(
        &self,
        by: UserId,
        name: String,
        description: FolderDescription,
    ) -> Result<FolderId, DomainError> {
        self.settle(CreateFolder { by, name, description }).await
    }

    /// Changes a folder of channels; what is not given stays.
    ///
    /// # Errors
    /// `AdministratorRequired`, `InvalidFolderId`, what `rules::folders` says of names, `FolderInUse`.
    pub async fn update_folder(
        &self,
        by: UserId,
        folder: FolderId,
        name: Option<String>,
        description: Option<FolderDescription>,
        is_archived: Option<bool>,
    ) -> Result<(), DomainError> {
        self.settle(UpdateFolder { by, folder, name, description, is_archived }).await
    }

    /// Puts all folders, archived ones included, into an order.
    ///
    /// # Errors
    /// `AdministratorRequired`, `FolderOrderInvalid`.
    pub async fn reorder_folders(&self, by: UserId, order: Vec<i64>) -> Result<(), DomainError> {
        self.settle(ReorderFolders { by, order }).await
    }

    /// Lets a channel's actor change messages of its own.
    pub(crate) async fn change_in_channel<C: ChangeCommand>(
        &self,
        channel: ChannelId,
        command: C,
    ) -> Result<C::Outcome, DomainError> {
        let actor = self.channel(channel).await?;
        let command = Arc::new(command);
        here(ask(&actor, |answer| Change { command, answer }).await?)
    }

    /// Lets a conversation's actor change messages of its own.
    pub(crate) async fn change_in_direct<C: ChangeCommand>(
        &self,
        direct: RecipientId,
        command: C,
    ) -> Result<C::Outcome, DomainError> {
        let actor = self.direct(direct).await?;
        let command = Arc::new(command);
        here(ask(&actor, |answer| Change { command, answer }).await?)
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

/// What is asked of one place cannot have moved to another.
fn here<T>(routed: Routed<T>) -> Result<T, DomainError> {
    match routed {
        Routed::Done(outcome) => Ok(outcome),
        Routed::Elsewhere => Err(DomainError::InvalidMessages),
    }
}
