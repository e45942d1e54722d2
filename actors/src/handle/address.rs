//! Commands about the addresses that people are written to.

use super::RealmHandle;
use crate::error::DomainError;
use crate::realm::{ConfirmAddress, NoteLogin};
use model::UserId;

impl RealmHandle {
    /// Gives a user the address that its owner has confirmed. `old` is the address when that was asked for.
    ///
    /// # Errors
    /// `LinkUsed` when the user has another address by now, or may no longer have one; `EmailInUse`, `UserDeactivated`.
    pub async fn confirm_address(
        &self,
        user: UserId,
        old: String,
        address: String,
    ) -> Result<(), DomainError> {
        self.settle(ConfirmAddress { user, old, address }).await
    }

    /// Writes to somebody that their account was logged in to, if they want that and mail is sent at all.
    ///
    /// # Errors
    /// Those of every command.
    pub async fn note_login(&self, user: UserId, client: String, ip: String) -> Result<(), DomainError> {
        self.settle(NoteLogin { user, client, ip }).await
    }
}
