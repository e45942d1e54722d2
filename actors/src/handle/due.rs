//! What is due after the clock of a development server was moved, which otherwise happens at the next tick.

use super::{RealmHandle, mailbox};
use crate::error::DomainError;
use crate::notifications::is_any_due;
use crate::realm::ExpireNow;
use std::time::Duration;

/// Interval of looking whether everything that was due has happened.
const CHECK: Duration = Duration::from_millis(10);
/// How often that is checked at most: what cannot be stored stays due.
const CHECKS_MAX: usize = 500;

impl RealmHandle {
    /// Ends idle queues and expired invitations, and waits until due scheduled messages are sent and due e-mails decided; not for
    /// more than five seconds.
    ///
    /// # Errors
    /// `Overloaded`, `Stopping`.
    pub async fn finish_due(&self) -> Result<(), DomainError> {
        self.actor.send(ExpireNow).await.map_err(mailbox)?;
        for _ in 0..CHECKS_MAX {
            if !self.has_due() {
                break;
            }
            tokio::time::sleep(CHECK).await;
        }
        Ok(())
    }

    fn has_due(&self) -> bool {
        let now = self.shared.clock.now();
        let has_scheduled = self.shared.view.read().directory.scheduled_due(now).next().is_some();
        has_scheduled || is_any_due(&self.shared)
    }
}
