//! Closing an organization, and opening it again.

use super::{RealmHandle, mailbox};
use crate::error::DomainError;
use crate::realm::{EndQueue, SetRealmActive};
use model::{QueueId, UserId};

impl RealmHandle {
    /// Closes the organization: its people are told, their queues end, and nobody gets in any more. All that is in
    /// it stays. `by` is none for whoever runs the server.
    ///
    /// # Errors
    /// Only owners may.
    pub async fn deactivate(&self, by: Option<UserId>) -> Result<(), DomainError> {
        self.settle(SetRealmActive { by, is_active: false }).await?;
        // What a crash leaves of them ends as time passes.
        let queues: Vec<(QueueId, UserId)> =
            self.read(|view| view.queues.values().map(|queue| (queue.id.clone(), queue.user)).collect());
        for (queue, user) in queues {
            self.actor()?.send(EndQueue { queue, user, answer: None }).await.map_err(mailbox)?;
        }
        Ok(())
    }

    /// Opens a closed organization again, for whoever runs the server.
    ///
    /// # Errors
    /// Those of every command.
    pub async fn reactivate(&self) -> Result<(), DomainError> {
        self.settle(SetRealmActive { by: None, is_active: true }).await
    }
}
