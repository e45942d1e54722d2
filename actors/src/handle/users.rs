//! Commands about users and about the organization that take more than one step.

use super::{RealmHandle, mailbox};
use crate::error::DomainError;
use crate::queries::{ReadScope, select_unread};
use crate::realm::{EndAllWebSessions, EndQueue, MuteUser, SetRealmActive};
use model::{Flag, FlagOp, UserId};
use rules::error::{PersonalError, RuleError};
use std::time::Duration;

/// Interval between two notices to the owner of a bot about messages without readers.
const OWNER_ALERT: Duration = Duration::from_secs(5 * 60);

impl RealmHandle {
    /// Deletes all messages that a user has sent. Returns how many there were. If it is interrupted, repeating it continues.
    pub async fn delete_messages_of(&self, user: UserId) -> Result<u64, DomainError> {
        crate::realm::delete_sent_by(&self.shared, &self.actor, user).await
    }

    /// Mutes another user. The messages that they have sent are marked as read when this returns.
    ///
    /// # Errors
    /// `MuteSelf`, `AlreadyMuted`.
    pub async fn mute_user(&self, user: UserId, muted: UserId) -> Result<(), DomainError> {
        if user == muted {
            return Err(RuleError::from(PersonalError::MuteSelf).into());
        }
        self.execute(MuteUser { user, muted }).await?;
        // Messages sent since the decision, and those that did not fit into one frame.
        let rest = self.read(|view| {
            let record = view.directory.user(user)?;
            select_unread(view, record, ReadScope::Sender(muted))
        });
        match rest.unwrap_or_default().messages {
            rest if rest.is_empty() => Ok(()),
            rest => self.change_flags(user, Flag::Read, FlagOp::Add, rest).await,
        }
    }

    /// Deactivates the organization: users receive an event, all queues end, and logging in is refused. The data stays.
    /// `by` is none for the server's operator.
    ///
    /// # Errors
    /// `OwnerRequired`.
    pub async fn deactivate(&self, by: Option<UserId>) -> Result<(), DomainError> {
        self.execute(SetRealmActive { by, is_active: false }).await?;
        // Those that a crash leaves are refused, and expire later.
        while self.execute(EndAllWebSessions).await? > 0 {}
        // Queues that a crash leaves expire later.
        for record in self.queues() {
            let (queue, user) = (record.id.clone(), record.user);
            self.actor.send(EndQueue { queue, user, answer: None }).await.map_err(mailbox)?;
        }
        Ok(())
    }

    /// Whether the owner of a bot may be notified now about a message without readers; if so, starts the next interval.
    /// Not stored: a restart ends the interval.
    pub fn may_alert_owner(&self, bot: UserId) -> bool {
        let now = self.monotonic();
        let mut alerted = self.shared.owner_alerts.lock();
        let is_recent = alerted.get(&bot).is_some_and(|at| now.saturating_sub(*at) < OWNER_ALERT);
        if !is_recent {
            alerted.insert(bot, now);
        }
        !is_recent
    }
}
