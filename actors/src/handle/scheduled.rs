//! What the edge does with messages before they are scheduled.

use super::RealmHandle;
use crate::error::DomainError;
use model::{ScheduledMessage, User};
use std::sync::Arc;

impl RealmHandle {
    /// Checks a message that is to be sent later as if it was sent now, and sets its HTML. Both are done again when it
    /// is sent.
    ///
    /// # Errors
    /// Those of sending (docs/api/messages.md#send-a-message).
    pub fn check_scheduled(
        &self,
        sender: &Arc<User>,
        message: &mut ScheduledMessage,
    ) -> Result<(), DomainError> {
        crate::scheduled::check_and_render(&self.shared, sender, message)
    }
}
