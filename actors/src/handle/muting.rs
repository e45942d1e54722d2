//! Muting users.

use super::RealmHandle;
use crate::error::DomainError;
use crate::queries::{ReadScope, select_unread};
use crate::realm::MuteUser;
use model::{Flag, FlagOp, UserId};
use rules::error::{PersonalError, RuleError};

impl RealmHandle {
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
}
