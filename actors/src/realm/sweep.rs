//! The background look through an organization for what time has made obsolete: messages that have been kept long
//! enough, channels in which nobody wrote for long. It remembers nothing: whatever it did not come to, the next one
//! finds, after a restart too.

use super::actor::RealmActor;
use crate::changes::{DeleteExpired, Home, NoteInactivity, has_become_idle, has_expired};
use crate::error::DomainError;
use crate::handle::RealmHandle;
use actix::prelude::*;
use model::{ChannelId, RecipientId, Timestamp};

/// When to look next.
#[derive(Debug)]
pub(super) struct Sweeps {
    due: Timestamp,
    is_running: bool,
}

impl Sweeps {
    /// The first one is due at once: nobody looked while the server did not run.
    pub fn new(now: Timestamp) -> Self {
        Self { due: now, is_running: false }
    }
}

impl RealmActor {
    /// Looks through the organization, if it is time. The work is done by the actors of its channels and
    /// conversations, in small pieces, while everything else goes on.
    pub(super) fn tick_sweep(&mut self, ctx: &mut Context<Self>) {
        let now = self.realm.clock.now();
        if self.sweeps.is_running || now < self.sweeps.due {
            return;
        }
        self.sweeps = Sweeps { due: Timestamp(now.0 + self.realm.sweep_secs * 1000), is_running: true };
        let realm = RealmHandle(self.realm.clone());
        let ended = async move { sweep(&realm).await }.into_actor(self).map(|outcome, actor, _| {
            actor.sweeps.is_running = false;
            match outcome {
                Ok(()) | Err(DomainError::Stopping) => {}
                Err(error) => tracing::warn!(%error, "old messages were left for the next time"),
            }
        });
        ctx.spawn(ended);
    }
}

async fn sweep(realm: &RealmHandle) -> Result<(), DomainError> {
    let directory = realm.directory();
    let channels: Vec<ChannelId> = directory.channels().map(|channel| channel.id).collect();
    let directs: Vec<(RecipientId, Vec<model::UserId>)> =
        directory.directs().map(|direct| (direct.recipient, direct.users.clone())).collect();
    drop(directory);
    for channel in channels {
        if has_expired(&realm.0, Home::Channel(channel))? {
            while !realm.change_in_channel(channel, DeleteExpired).await? {}
        }
        if has_become_idle(&realm.0, Home::Channel(channel))? {
            realm.change_in_channel(channel, NoteInactivity).await?;
        }
        tokio::task::yield_now().await;
    }
    for (recipient, users) in directs {
        if has_expired(&realm.0, Home::Direct(&users))? {
            while !realm.change_in_direct(recipient, DeleteExpired).await? {}
        }
        tokio::task::yield_now().await;
    }
    Ok(())
}
