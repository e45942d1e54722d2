//! The worker of one organization: claims what is due, sends it, and records failures.

use super::compose::{Composed, compose_due};
use crate::error::DomainError;
use crate::handle::RealmHandle;
use crate::realm::{ClaimDue, Claimed, FailScheduled, scheduled_ended};
use crate::shared::RealmShared;
use model::{ScheduledMessage, UserId};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// How often the wall clock is compared with the due times.
const TICK: Duration = Duration::from_millis(250);
/// How long to wait before what could not be stored is tried again.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Lives on the organization's shard.
pub(crate) struct Worker {
    handle: RealmHandle,
    realm: Arc<RealmShared>,
}

impl Worker {
    /// Starts the worker on this thread.
    pub fn start(handle: &RealmHandle) {
        let worker = Rc::new(Self { handle: handle.clone(), realm: handle.shared.clone() });
        actix::spawn(worker.run());
    }

    async fn run(self: Rc<Self>) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            if self.realm.outbox.is_stopping() {
                return;
            }
            if self.is_any_due() {
                self.begin_due().await;
            }
        }
    }

    fn is_any_due(&self) -> bool {
        if !self.realm.scheduled.has_room() {
            return false;
        }
        let (view, now) = (self.realm.view.read(), self.realm.clock.now());
        view.directory.scheduled_due(now).any(|(user, id)| !self.realm.scheduled.is_claimed(user, id))
    }

    /// Messages of one user are sent one after another, in the order of their times; those of several users at once.
    async fn begin_due(self: &Rc<Self>) {
        let claimed = match self.handle.execute(ClaimDue).await {
            Ok(claimed) => claimed,
            Err(error) => {
                return tracing::debug!(%error, "due scheduled messages could not be sent; they are retried");
            }
        };
        let mut by_user: BTreeMap<UserId, Vec<Claimed>> = BTreeMap::new();
        for due in claimed {
            by_user.entry(due.user).or_default().push(due);
        }
        for due in by_user.into_values() {
            let worker = self.clone();
            actix::spawn(async move {
                for claimed in due {
                    worker.finish(&claimed).await;
                    worker.realm.scheduled.release(claimed.user, claimed.id);
                }
            });
        }
    }

    /// Sends a message, or records why it cannot be sent. What fails for another reason stays due.
    async fn finish(&self, claimed: &Claimed) {
        let Err(error) = self.send(claimed).await else { return };
        let error = match permanent_failure(&error) {
            Some(why) => {
                tracing::info!(user = %claimed.user, id = %claimed.id, why, "a scheduled message was not sent");
                let command = FailScheduled { user: claimed.user, id: claimed.id, why };
                match self.handle.execute(command).await {
                    Ok(()) => return,
                    Err(error) => error,
                }
            }
            None => error,
        };
        tracing::warn!(user = %claimed.user, id = %claimed.id, %error, "a due scheduled message could not be sent; it is retried");
        tokio::time::sleep(RETRY_DELAY).await;
    }

    async fn send(&self, claimed: &Claimed) -> Result<(), DomainError> {
        let (realm, user) = (self.realm.clone(), claimed.user);
        let message: Arc<ScheduledMessage> = claimed.message.clone();
        let composed = tokio::task::spawn_blocking(move || compose_due(&realm, user, &message)).await;
        let ends = Some(scheduled_ended(claimed));
        match composed.map_err(|_| DomainError::Stopping)?? {
            Composed::Channel(draft) => self.handle.send_to_channel_ending(draft, ends).await.map(drop),
            Composed::Direct(draft) => self.handle.send_direct_ending(draft, ends).await.map(drop),
        }
    }
}

/// Why a message can never be sent, as its sender reads it; none: it may be sent later.
fn permanent_failure(error: &DomainError) -> Option<String> {
    match error {
        DomainError::Rule(rule) => Some(rule.to_string()),
        DomainError::UserDeactivated => Some("Account is deactivated".to_owned()),
        DomainError::RealmDeactivated => Some("This organization has been deactivated".to_owned()),
        DomainError::TooLarge => Some("The message is too large".to_owned()),
        DomainError::Overloaded
        | DomainError::Memory(_)
        | DomainError::Storage(_)
        | DomainError::Paused(_)
        | DomainError::WriteBudgetSpent { .. }
        | DomainError::ConversationBudgetSpent { .. }
        | DomainError::Stopping
        | DomainError::SearchNotReady
        | DomainError::SearchTooBroad
        | DomainError::BadEventQueue(_)
        | DomainError::EventsPruned(_)
        | DomainError::EventUnknown(_)
        | DomainError::TooManyQueues
        | DomainError::InvalidMessages
        | DomainError::EmailInUse(_)
        | DomainError::LinkUsed
        | DomainError::WrongPassword
        | DomainError::NotSeeded
        | DomainError::InvalidApiKey => None,
    }
}
