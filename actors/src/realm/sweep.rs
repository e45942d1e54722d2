//! The background sweep through an organization: it deletes messages whose retention period is over and files
//! that no message names, marks channels as inactive, and messages of archived ones as read. Nothing is lost when it is interrupted: the next sweep finds
//! what this one did not reach, after a restart too.

use super::actor::RealmActor;
use super::attachments::ExpireAttachments;
use super::channels::ReadArchived;
use super::commands::{OpenChannel, OpenDirect};
use super::serialized::Serialized;
use crate::account::{Charged, ask, mailbox};
use crate::changes::{
    Change, ChangeCommand, ConversationKey, DeleteExpired, DeleteSentBy, MarkInactive, Routed,
    has_become_idle, has_expired, has_sent,
};
use crate::channel::ChannelActor;
use crate::direct::DirectActor;
use crate::error::DomainError;
use crate::shared::RealmShared;
use actix::dev::ToEnvelope;
use actix::prelude::*;
use model::{ChannelId, Timestamp, UserId};
use roaring::RoaringBitmap;
use std::sync::Arc;
use std::time::Duration;
use storage::View;

impl RealmActor {
    /// Starts a sweep if one is due. The work is done by the actors of channels and conversations in small batches, between
    /// their other commands.
    pub(super) fn tick_sweep(&mut self, ctx: &mut Context<Self>) {
        let now = self.realm.clock.monotonic();
        if self.is_sweeping || now < self.sweep_due {
            return;
        }
        (self.is_sweeping, self.sweep_due) = (true, now + Duration::from_secs(self.realm.sweep_secs));
        let (realm, own) = (self.realm.clone(), ctx.address());
        let ended = async move { sweep(&realm, &own).await }.into_actor(self).map(|outcome, actor, _| {
            actor.is_sweeping = false;
            match outcome {
                Ok(()) | Err(DomainError::Stopping) => {}
                Err(error) => {
                    tracing::warn!(%error, "the sweep (message retention and others) was interrupted; the next one continues")
                }
            }
        });
        ctx.spawn(ended);
    }
}

async fn sweep(realm: &Arc<RealmShared>, actor: &Addr<RealmActor>) -> Result<(), DomainError> {
    sweep_messages(realm, actor).await?;
    let before = |secs: u64| Timestamp(realm.clock.now().0.saturating_sub(secs.saturating_mul(1000)));
    let command = ExpireAttachments {
        until: before(realm.unclaimed_secs),
        released_until: before(realm.released_secs),
    };
    while command.files(&realm.directory()).next().is_some() {
        if ask(actor, |answer| Serialized { command, answer }).await? {
            break;
        }
    }
    read_archived(realm, actor).await
}

/// Marks the messages of archived channels as read, where the server was stopped before it had.
async fn read_archived(realm: &Arc<RealmShared>, actor: &Addr<RealmActor>) -> Result<(), DomainError> {
    let pending: Vec<ChannelId> = realm.view.read().pending_reads.iter().copied().collect();
    for channel in pending {
        let command = || ReadArchived { channel };
        while ask(actor, |answer| Serialized { command: command(), answer }).await? {}
    }
    Ok(())
}

async fn sweep_messages(realm: &Arc<RealmShared>, actor: &Addr<RealmActor>) -> Result<(), DomainError> {
    let (channels, directs) = conversations(realm);
    for id in channels {
        if has_expired(realm, ConversationKey::Channel(id))? {
            change_all(&open_channel(actor, id).await?, DeleteExpired).await?;
        }
        if has_become_idle(realm, ConversationKey::Channel(id))? {
            change(&open_channel(actor, id).await?, MarkInactive).await?;
        }
        tokio::task::yield_now().await;
    }
    for users in directs {
        if has_expired(realm, ConversationKey::Direct(&users))? {
            change_all(&open_direct(actor, users).await?, DeleteExpired).await?;
        }
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// Deletes all messages that a user has sent, in small batches. Returns how many there were.
pub(crate) async fn delete_sent_by(
    realm: &Arc<RealmShared>,
    actor: &Addr<RealmActor>,
    sender: UserId,
) -> Result<u64, DomainError> {
    let count = |view: &View| view.messages.senders.get(&sender).map_or(0, RoaringBitmap::len);
    let before = count(&realm.view.read());
    let (channels, directs) = conversations(realm);
    let command = DeleteSentBy { sender };
    for id in channels {
        if has_sent(realm, ConversationKey::Channel(id), sender) {
            change_all(&open_channel(actor, id).await?, command).await?;
        }
    }
    for users in directs {
        if has_sent(realm, ConversationKey::Direct(&users), sender) {
            change_all(&open_direct(actor, users).await?, command).await?;
        }
    }
    Ok(before - count(&realm.view.read()))
}

/// The channels of an organization, and the participants of each of its direct conversations.
fn conversations(realm: &RealmShared) -> (Vec<ChannelId>, Vec<Vec<UserId>>) {
    let directory = realm.directory();
    let channels = directory.channels().map(|channel| channel.id).collect();
    let directs = directory.directs().map(|direct| direct.users.clone()).collect();
    (channels, directs)
}

async fn open_channel(actor: &Addr<RealmActor>, id: ChannelId) -> Result<Addr<ChannelActor>, DomainError> {
    actor.send(OpenChannel(id)).await.map_err(mailbox)?.ok_or(DomainError::Stopping)
}

async fn open_direct(actor: &Addr<RealmActor>, users: Vec<UserId>) -> Result<Addr<DirectActor>, DomainError> {
    actor.send(OpenDirect(users)).await.map_err(mailbox)
}

/// Lets the actor of a channel or conversation change all of its messages that a command is about, batch by batch.
async fn change_all<A, C>(actor: &Addr<A>, command: C) -> Result<(), DomainError>
where
    C: ChangeCommand<Outcome = bool> + Copy,
    A: Actor + Handler<Charged<Change<C>>>,
    A::Context: ToEnvelope<A, Charged<Change<C>>>,
{
    while !change(actor, command).await? {}
    Ok(())
}

/// Lets the actor of a channel or conversation change messages of its own; those cannot have moved away.
async fn change<A, C>(actor: &Addr<A>, command: C) -> Result<C::Outcome, DomainError>
where
    C: ChangeCommand,
    A: Actor + Handler<Charged<Change<C>>>,
    A::Context: ToEnvelope<A, Charged<Change<C>>>,
{
    let command = Arc::new(command);
    match ask(actor, |answer| Change { command, answer }).await? {
        Routed::Done(outcome) => Ok(outcome),
        Routed::Retry => Err(DomainError::InvalidMessages),
    }
}
