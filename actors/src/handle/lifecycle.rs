//! Deactivating an organization.

use super::{RealmHandle, mailbox};
use crate::error::DomainError;
use crate::realm::{EndQueue, SetRealmActive};
use model::UserId;

impl RealmHandle {
    /// Closes the organization: its people are told, their queues end, and nobody gets in any more. All that is in
    /// it stays. `by` is none for whoever runs the server.
    ///
    /// # Errors
    /// Only owners may.
    pub async fn deactivate(&self, by: Option<UserId>) -> Result<(), DomainError> {
        self.execute(SetRealmActive { by, is_active: false }).await?;
        // What a crash leaves of them ends as time passes.
        for record in self.queues() {
            let (queue, user) = (record.id.clone(), record.user);
            self.actor.send(EndQueue { queue, user, answer: None }).await.map_err(mailbox)?;
        }
        Ok(())
    }
}
